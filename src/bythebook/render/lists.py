"""Lists: the lines of a block as items, inside each other as the author nested them."""

from collections.abc import Iterator, Sequence

from bythebook.domain.books import Block
from bythebook.domain.marks import Item, Mark
from bythebook.render.inline import InlineRenderer


def write_list(text: str, block: Block, marks: Sequence[Mark], inline: InlineRenderer) -> str:
    """Write a list; lines that begin no item continue the one before, if items are marked."""
    items = {mark.start: mark for mark in marks if isinstance(mark, Item)}
    others = [mark for mark in marks if not isinstance(mark, Item)]
    writer = _ListWriter(block)
    for start, end in split_range(text, block.start, block.end, "\n"):
        inside = [mark for mark in others if mark.start < end and start < max(mark.end, start + 1)]
        html = inline.write(start, end, [mark for mark in inside if mark.start >= start])
        if items and start not in items:
            writer.add_line(html)
        else:
            writer.add_item(items.get(start, Item(start, end, 0, -1)), html)
    return writer.finish()


def split_range(text: str, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
    """Split a range of a text at a separator."""
    for piece in text[start:end].split(separator):
        yield start, start + len(piece)
        start += len(piece) + len(separator)


class _ListWriter:
    def __init__(self, block: Block) -> None:
        self._default = "ol" if block.ordered else "ul"
        self._parts: list[str] = []
        self._open: list[tuple[int, str]] = []  # depth and tag of the lists around the next item

    def add_item(self, item: Item, html: str) -> None:
        """Begin an item, and the lists that it needs."""
        while self._open and self._open[-1][0] > item.depth:
            self._close()
        if self._open and self._open[-1][0] == item.depth:
            self._parts.append("</li>")
        else:
            tag = self._choose_tag(item)
            start = f' start="{item.number}"' if tag == "ol" and item.number not in {-1, 1} else ""
            self._parts.append(f'<{tag}{start} dir="auto">')
            self._open.append((item.depth, tag))
        self._parts.append(f"<li>{html}")

    def add_line(self, html: str) -> None:
        """Continue the last item; the rest of one that another block interrupted stands alone."""
        if self._open:
            self._parts.append(f'<div class="more">{html}</div>')
        else:
            self._parts.append(f'<p class="more" dir="auto">{html}</p>')

    def finish(self) -> str:
        """Close all lists."""
        while self._open:
            self._close()
        return "".join(self._parts)

    def _choose_tag(self, item: Item) -> str:
        if item.number >= 0:
            return "ol"
        return self._default if not item.depth else "ul"

    def _close(self) -> None:
        self._parts.append(f"</li></{self._open.pop()[1]}>")
