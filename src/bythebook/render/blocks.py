"""A document, or a range of it -> HTML: every character of its text, with what its author marked.

Page numbers, links of headings and labels of code have no text of their own: the style sheet writes
it, so that readers who select text select the book's words only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Generic, Protocol, TypeVar

from bythebook.domain.books import Block, BlockKind, Document, PageMark
from bythebook.domain.marks import (
    Admonition,
    Anchor,
    CodeLines,
    Mark,
    Note,
    Picture,
    Quotation,
    Style,
)
from bythebook.render.code import place_words
from bythebook.render.inline import InlineRenderer
from bythebook.render.lists import write_list
from bythebook.render.places import (
    QUOTE,
    Addresses,
    Highlight,
    name_anchors,
    opens_with_title,
)
from bythebook.render.tables import write_table

_CONTAINERS = (Admonition, Quotation, Note)


def render_document(
    document: Document, addresses: Addresses, highlight: Highlight | None = None
) -> str:
    """Write a whole document, with a quote highlighted."""
    return _DocumentRenderer(document, addresses, (highlight,) if highlight else ()).write()


def render_fragment(
    document: Document,
    addresses: Addresses,
    start: int,
    end: int,
    highlights: Sequence[Highlight] = (),
) -> str:
    """Write a range of a document: whole blocks cut at its ends, without ids."""
    return _DocumentRenderer(document, addresses, highlights, (start, end)).write()


class _Placed(Protocol):
    """Something at a place in a text."""

    @property
    def start(self) -> int: ...


T = TypeVar("T", bound=_Placed)


class _InOrder(Generic[T]):
    """Things sorted by start, taken as a pass over the text reaches them."""

    def __init__(self, things: Sequence[T]) -> None:
        self._things = things
        self._at = 0

    def take(self, before: int) -> list[T]:
        """Return those that start before a place and were not taken yet."""
        first = self._at
        while self._at < len(self._things) and self._things[self._at].start < before:
            self._at += 1
        return list(self._things[first : self._at])


class _DocumentRenderer:
    """One pass over the blocks of a document."""

    def __init__(
        self,
        document: Document,
        addresses: Addresses,
        highlights: Sequence[Highlight],
        limits: tuple[int, int] | None = None,
    ) -> None:
        self._document = document
        self._limits = limits or (0, len(document.text))
        self._is_whole = limits is None
        self._highlights = highlights
        self._inline = InlineRenderer(document.text, addresses, highlights, has_ids=self._is_whole)
        self._anchors = name_anchors(document, highlights[0] if highlights else None)
        self._taken = {*self._anchors.values(), QUOTE}
        self._level = 0 if opens_with_title(document) else 1  # of the last heading
        self._marks = _InOrder([mark for mark in document.marks if _is_inside_block(mark)])
        self._containers = _InOrder([m for m in document.marks if isinstance(m, _CONTAINERS)])
        self._before = _InOrder([mark for mark in document.marks if _stands_before(mark)])
        self._pages = _InOrder(document.pages)
        self._starts = frozenset(block.start for block in document.blocks)
        self._open: list[Mark] = []
        self._writers: Mapping[BlockKind, Callable[[Block, list[Mark]], str]] = {
            "heading": self._write_heading,
            "list": self._write_list,
            "table": self._write_table,
            "code": self._write_code,
            "formula": self._write_formula,
            "caption": self._write_caption,
            "paragraph": self._write_paragraph,
        }

    def write(self) -> str:
        """Write all blocks."""
        first, last = self._limits
        parts: list[str] = []
        for block in self._document.blocks:
            marks = self._marks.take(block.end + 1)
            if block.end <= first or last <= block.start:
                continue
            parts += self._close_until(block.start)
            if self._is_whole:
                parts += self._write_places(block.start, block.end)
            parts += self._open_at(block)
            parts.append(self._writers[block.kind](self._cut(block), marks))
        parts += self._close_until(len(self._document.text) + 1)
        if self._is_whole:
            parts += self._write_places(len(self._document.text) + 2, len(self._document.text) + 3)
        return "\n".join(parts)

    def _cut(self, block: Block) -> Block:
        first, last = self._limits
        if first <= block.start and block.end <= last:
            return block
        start, end = max(block.start, first), min(block.end, last)
        return Block(block.kind, start, end, block.level, block.ordered, block.language)

    def _write_places(self, start: int, end: int) -> Iterator[str]:
        """Write what stands before a block: page numbers, link targets, pictures without words."""
        for page in self._pages.take(end):
            yield _write_page(page)
        for mark in self._before.take(start + 1):
            if isinstance(mark, Picture):
                yield f'<figure class="picture">{self._inline.write_picture(mark)}</figure>'
            elif isinstance(mark, Anchor) and mark.name not in self._taken:
                self._taken.add(mark.name)
                yield f'<span class="place-mark" id="{escape(mark.name)}"></span>'

    def _close_until(self, start: int) -> Iterator[str]:
        while self._open and self._open[-1].end <= start:
            yield _CLOSING[type(self._open.pop())]

    def _open_at(self, block: Block) -> Iterator[str]:
        """Open the containers that a block begins; a range may begin inside one."""
        for mark in self._containers.take(block.start + 1):
            limit = self._open[-1].end if self._open else mark.end
            if block.start < mark.end <= limit:
                self._open.append(mark)
                yield self._write_opening(mark)

    def _write_opening(self, mark: Mark) -> str:
        match mark:
            case Admonition():
                return f'<aside class="admonition {mark.kind}">'
            case Note():
                name = f' id="_note-{escape(mark.label)}"' if self._is_whole else ""
                return f'<div class="note" role="doc-footnote"{name}>'
        return "<blockquote>"

    def _write_heading(self, block: Block, marks: list[Mark]) -> str:
        # Levels that the book skips are closed up for screen readers.
        self._level = max(min(block.level, self._level + 1, 6), 1)
        html = self._inline.write(block.start, block.end, marks)
        if not self._is_whole:
            return f'<p class="heading" dir="auto">{html}</p>'
        anchor = escape(self._anchors.get(block.start, ""))
        name = f' id="{anchor}"' if anchor else ""
        label = 'aria-label="Link to this section"'
        here = f'<a class="here" href="#{anchor}" {label}></a>' if anchor else ""
        return f'<h{self._level} dir="auto"{name}>{html}{here}</h{self._level}>'

    def _write_paragraph(self, block: Block, marks: list[Mark]) -> str:
        container = self._open[-1] if self._open else None
        is_title = isinstance(container, Admonition) and container.start == block.start
        name = ' class="admonition-title"' if is_title else ""
        return f'<p{name} dir="auto">{self._inline.write(block.start, block.end, marks)}</p>'

    def _write_caption(self, block: Block, marks: list[Mark]) -> str:
        picture = next((mark for mark in marks if isinstance(mark, Picture)), None)
        if picture and (picture.start, picture.end) == (block.start, block.end):
            return self._write_figure(picture)
        titles = any(isinstance(mark, Style) and mark.kind == "code title" for mark in marks)
        name = "caption code-title" if titles else "caption"
        html = self._inline.write(block.start, block.end, marks)
        return f'<p class="{name}" dir="auto">{html}</p>'

    def _write_figure(self, picture: Picture) -> str:
        """Write a picture; its description unfolds, and is open where it is quoted."""
        start, end = picture.start, picture.end
        is_quoted = any(max(lit.start, start) < min(lit.end, end) for lit in self._highlights)
        words = self._inline.write(picture.start, picture.end, ())
        return (
            f'<figure class="picture">{self._inline.write_picture(picture)}'
            f'<details class="alt"{" open" if is_quoted else ""}>'
            f'<summary aria-label="Description of the picture"></summary>'
            f'<p dir="auto">{words}</p></details></figure>'
        )

    def _write_list(self, block: Block, marks: list[Mark]) -> str:
        return write_list(self._document.text, block, marks, self._inline)

    def _write_table(self, block: Block, marks: list[Mark]) -> str:
        has_head = block.start in self._starts
        return write_table(self._document.text, block, marks, self._inline, has_head=has_head)

    def _write_code(self, block: Block, marks: list[Mark]) -> str:
        lines = [mark for mark in marks if isinstance(mark, CodeLines)]
        words = place_words(self._document.text, block)
        both = sorted([*lines, *words], key=lambda mark: (mark.start, -mark.end))
        html = self._inline.write(block.start, block.end, both if lines else words)
        label = f' data-language="{escape(block.language)}"' if block.language else ""
        return f'<div class="code"{label}><pre tabindex="0"><code>{html}</code></pre></div>'

    def _write_formula(self, block: Block, marks: list[Mark]) -> str:
        html = self._inline.write(block.start, block.end, marks)
        if "<math" in html:
            return f'<div class="formula" tabindex="0">{html}</div>'
        return f'<pre tabindex="0" class="formula">{html}</pre>'


_CLOSING: Mapping[type[Mark], str] = {
    Admonition: "</aside>",
    Note: "</div>",
    Quotation: "</blockquote>",
}


def _is_inside_block(mark: Mark) -> bool:
    return not isinstance(mark, _CONTAINERS) and not _stands_before(mark)


def _stands_before(mark: Mark) -> bool:
    if isinstance(mark, Anchor):
        return True
    return isinstance(mark, Picture) and mark.start == mark.end and mark.display


def _write_page(page: PageMark) -> str:
    label = escape(f"page {page.label or page.number}")
    return (
        f'<div class="page" id="page-{page.number}" role="doc-pagebreak" '
        f'aria-label="{label}" data-label="{label}"></div>'
    )
