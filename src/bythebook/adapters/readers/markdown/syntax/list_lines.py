"""The lines of a list, with the nesting of its items."""

from itertools import pairwise

from markdown_it.token import Token

from bythebook.adapters.readers.rich_text import RichText, join_rich
from bythebook.domain.marks import Item

_OPENINGS = frozenset({"bullet_list_open", "ordered_list_open", "dl_open"})
_CLOSINGS = frozenset({"bullet_list_close", "ordered_list_close", "dl_close"})


class ListLines:
    """Collects lines; each item's first line is marked by its depth and number."""

    def __init__(self, token: Token) -> None:
        self.lines: list[RichText] = []
        self.numbers: list[int] = []  # of the next item of each open list; -1 without numbers
        self.is_new = False  # whether the next line begins an item
        self._open(token)

    def follow(self, token: Token) -> bool:
        """Follow the nesting of lists; return False for tokens that hold text."""
        if token.type in _OPENINGS:
            self._open(token)
        elif token.type in _CLOSINGS:
            self.numbers.pop()
        elif token.type in {"list_item_open", "dt_open"}:
            self.is_new = True
        else:
            return False
        return True

    def add(self, text: RichText) -> None:
        """Add a line."""
        if text.text.strip() and self.is_new and self.numbers:
            number = self.numbers[-1]
            text = text.mark(Item(0, 0, len(self.numbers) - 1, number))
            self.numbers[-1] += number >= 0
            self.is_new = False
        if text:
            self.lines.append(text)

    def finish(self) -> RichText:
        """Return all lines as one text, and start again; pictures without words join a line."""
        lines, self.lines = self.lines, []
        starts = [number for number, line in enumerate(lines) if line.text.strip()][1:]
        return join_rich(
            "\n", (join_rich("", lines[a:b]) for a, b in pairwise([0, *starts, len(lines)]))
        )

    def _open(self, token: Token) -> None:
        is_ordered = token.type == "ordered_list_open"
        self.numbers.append(int(token.attrs.get("start", 1)) if is_ordered else -1)
