"""Elements of a page: each is a group of lines of one kind."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from bythebook.adapters.readers.pdf.page.rows import Line
from bythebook.adapters.readers.pdf.page.words import Vocabulary, clean
from bythebook.domain.books import BlockKind

_KINDS_WITH_LINES = frozenset({"table", "code"})


@dataclass(slots=True)
class Element:
    """Lines that belong together; in a list, `starts` are the lines that start an item."""

    kind: BlockKind
    lines: list[Line]
    level: int = 0  # of a heading
    title: str = ""  # of a heading named in the outline
    starts: frozenset[int] = field(default_factory=frozenset)
    ordered: bool = False
    page: int = 0  # of a heading without lines
    flow: int = 0  # number of the column it is in, counted over the book

    @property
    def first_page(self) -> int:
        """The page where it starts."""
        return self.lines[0].page if self.lines else self.page

    @property
    def size(self) -> float:
        """The font size of its first line."""
        return self.lines[0].size if self.lines else 0.0

    def join_lines(self) -> str:
        """Return its lines as one text."""
        return " ".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class ElementText:
    """The text of an element, and where pages start in it."""

    text: str
    pages: tuple[tuple[int, int], ...]  # offset, page counted from 0


def write_element(element: Element, vocabulary: Vocabulary) -> ElementText:
    """Write an element's lines as one text."""
    if element.kind == "heading" and element.title:
        return ElementText(element.title, ((0, element.first_page),))
    parts: list[str] = []
    length = 0
    pages: list[tuple[int, int]] = []
    for number, (line, words) in enumerate(_clean_lines(element)):
        if not words and not (element.kind == "code" and parts):
            continue
        between = "\n"
        if parts and element.kind not in _KINDS_WITH_LINES and number not in element.starts:
            dropped, between = vocabulary.find_seam(parts[-1], words)
            parts[-1] = parts[-1][: len(parts[-1]) - dropped]
            length -= dropped
        if parts:
            parts.append(between)
            length += len(between)
        if not pages or pages[-1][1] != line.page:
            pages.append((length, line.page))
        parts.append(words)
        length += len(words)
    return ElementText("".join(parts), tuple(pages))


def _clean_lines(element: Element) -> Iterator[tuple[Line, str]]:
    for line in element.lines:
        words = clean(line.text)
        yield line, words.rstrip() if element.kind == "code" else words.strip()
