"""Text with marks, as readers build it: every edit of the text moves the marks along.

A reader that knows markup passes `RichText` to `PlainText.add` where it would pass a string:

    builder = RichBuilder()
    builder.add("See ")
    builder.open()
    builder.add("the chapter")
    builder.close(LinkMark(0, 0, url="https://site.example"))
    plain.add("paragraph", builder.finish())

Marks over whole blocks are added when the last of them is:

    start = plain.next_start
    ...  # add the blocks
    plain.mark_blocks(Admonition(start, 0, "note"))
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bythebook.domain.marks import EMPTY_MARKS, CodeLines, Mark

_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class RichText:
    """A text with marks over ranges of it."""

    text: str
    marks: tuple[Mark, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text) or bool(self.marks)

    def strip(self, characters: str | None = None) -> "RichText":
        """Remove white space, or other characters, from both ends."""
        if not self.marks:
            return RichText(self.text.strip(characters))
        start = len(self.text) - len(self.text.lstrip(characters))
        return self.cut(start, max(len(self.text.rstrip(characters)), start))

    def cut(self, start: int, end: int | None = None) -> "RichText":
        """Return the part between two offsets."""
        end = len(self.text) if end is None else end
        return RichText(
            self.text[start:end],
            _keep(self.marks, lambda at: min(max(at, start), end) - start),
        )

    def edit(
        self, pattern: re.Pattern[str], new: str | Callable[[re.Match[str]], str]
    ) -> "RichText":
        """Replace matches in the text."""
        if not self.marks:
            return RichText(pattern.sub(new, self.text))
        ends, shifts, parts, at = [0], [(0, 0)], [], 0
        for found in pattern.finditer(self.text):
            words = new if isinstance(new, str) else new(found)
            parts += [self.text[at : found.start()], words]
            at = found.end()
            length = found.end() - found.start()
            ends.append(found.start() + min(length, len(words)))
            shifts.append((at, shifts[-1][1] + len(words) - length))
        parts.append(self.text[at:])

        def move(offset: int) -> int:
            place = bisect_right(ends, offset) - 1
            end, shift = shifts[place]
            return max(offset, end) + shift

        return RichText("".join(parts), _keep(self.marks, move))

    def collapse(self) -> "RichText":
        """Put the text on one line, with single spaces."""
        if not self.marks:
            return RichText(" ".join(self.text.split()))
        return self.edit(_SPACES, " ").strip()

    def mark(self, mark: Mark) -> "RichText":
        """Add a mark over the whole text."""
        return RichText(self.text, (mark.move(0, len(self.text)), *self.marks))


def join_rich(separator: str, parts: Iterable[RichText]) -> RichText:
    """Join texts as `str.join` does."""
    texts: list[str] = []
    marks: list[Mark] = []
    at = 0
    for part in parts:
        at += len(separator) if texts else 0
        texts.append(part.text)
        marks += (mark.move(mark.start + at, mark.end + at) for mark in part.marks)
        at += len(part.text)
    return RichText(separator.join(texts), tuple(marks))


@dataclass(slots=True)
class RichBuilder:
    """Collects the text of inline markup in order."""

    parts: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    length: int = 0
    starts: list[int] = field(default_factory=list)  # of marks still open

    def add(self, text: str, mark: Mark | None = None) -> None:
        """Append words, with a mark over them if one is given."""
        if mark is not None:
            self.marks.append(mark.move(self.length, self.length + len(text)))
        self.parts.append(text)
        self.length += len(text)

    def add_rich(self, rich: RichText) -> None:
        """Append a text with its marks."""
        at = self.length
        self.marks += (mark.move(mark.start + at, mark.end + at) for mark in rich.marks)
        self.add(rich.text)

    def open(self) -> None:
        """Begin the range of a mark."""
        self.starts.append(self.length)

    def close(self, mark: Mark | None) -> None:
        """End the range that was begun last, and mark it."""
        if self.starts:
            start = self.starts.pop()
            if mark is not None and start < self.length:
                self.marks.append(mark.move(start, self.length))

    def finish(self) -> RichText:
        """Return the text."""
        return RichText("".join(self.parts), tuple(self.marks))


def _keep(marks: Sequence[Mark], move: Callable[[int], int]) -> tuple[Mark, ...]:
    moved = (mark.move(move(mark.start), move(mark.end)) for mark in marks)
    return tuple(mark for mark in moved if mark.start < mark.end or isinstance(mark, EMPTY_MARKS))


def mark_lines(code: str, given: str) -> RichText:
    """Mark the lines of code that an author highlights, given as "1,3-5"."""
    code = code.strip("\n")
    wanted: set[int] = set()
    for first, last in re.findall(r"(\d{1,5})(?:-(\d{1,5}))?", given)[:100]:
        wanted.update(range(int(first), min(int(last or first), 10_000) + 1))
    marks = []
    at = 0
    for number, line in enumerate(code.split("\n") if wanted else (), 1):
        if number in wanted:
            marks.append(CodeLines(at, at + len(line)))
        at += len(line) + 1
    return RichText(code, tuple(mark for mark in marks if mark.start < mark.end))
