"""A document's blocks as its template shows them: every character of the text, with a quote marked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bythebook.domain.books import Block, BlockKind, Document, PageMark

QUOTE = "quote"  # the id that links to a marked place lead to


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of a quote in a document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A piece of text with a part of the quote in it."""

    before: str
    quote: str
    after: str
    id: str  # of the first part; empty for others


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A block with the pages that begin at it."""

    kind: BlockKind
    lines: Sequence[Sequence[str | QuotedText]]  # items of a list, rows of a table with cells
    pages: Sequence[PageMark]
    level: int  # of a heading
    anchor: str  # of a heading; empty where it has none
    is_ordered: bool

    @property
    def text(self) -> str | QuotedText:
        """The text of a block that is neither a list nor a table."""
        return self.lines[0][0]


def name_anchors(document: Document, mark: Mark | None = None) -> Mapping[int, str]:
    """Give each section an id by its start: the book's own where it is free, else one of ours."""
    taken = {QUOTE} if mark else set()
    anchors: dict[int, str] = {}
    for section in document.sections:
        own = section.anchor
        anchors[section.start] = own if own and own not in taken else f"_at-{section.start}"
        taken.add(anchors[section.start])
    return anchors


def opens_with_title(document: Document) -> bool:
    """Return True if a document begins with a heading that names it."""
    first = document.blocks[:1]
    return bool(first) and first[0].kind == "heading" and first[0].level <= 1


def show_blocks(document: Document, mark: Mark | None) -> Iterator[ShownBlock]:
    """Prepare the blocks of a document in their order."""
    anchors = name_anchors(document, mark)
    cutter = _Cutter(document.text, mark)
    pages = list(reversed(document.pages))
    level = 0 if opens_with_title(document) else 1  # of the last heading shown
    for block in document.blocks:
        begun = []
        while pages and pages[-1].start < block.end:
            begun.append(pages.pop())
        if block.kind == "heading":  # levels that the book skips are closed up for screen readers
            level = min(block.level, level + 1, 6)
        yield ShownBlock(
            block.kind,
            cutter.cut_lines(block),
            begun,
            max(level, 1),
            anchors.get(block.start, ""),
            block.ordered,
        )


class _Cutter:
    """Cuts a text from start to end; the first part of the quote has the id that links lead to."""

    def __init__(self, text: str, mark: Mark | None) -> None:
        self._text = text
        self._mark = mark or Mark(0, 0)
        self._next_id = QUOTE

    def cut_lines(self, block: Block) -> list[list[str | QuotedText]]:
        has_lines = block.kind in {"list", "table"}
        lines = self._split(block.start, block.end, "\n" if has_lines else "")
        between = " | " if block.kind == "table" else ""
        return [[self._cut(*cell) for cell in self._split(*line, between)] for line in lines]

    def _split(self, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
        text = self._text[start:end]
        for piece in text.split(separator) if separator else [text]:
            yield start, start + len(piece)
            start += len(piece) + len(separator)

    def _cut(self, start: int, end: int) -> str | QuotedText:
        text, mark = self._text, self._mark
        if mark.end <= start or end <= mark.start:
            return text[start:end]
        begin, stop = max(start, mark.start), min(end, mark.end)
        first, self._next_id = self._next_id, ""
        return QuotedText(text[start:begin], text[begin:stop], text[stop:end], first)
