"""A document as HTML, made from its plain text: every character of it is escaped, none is lost.

What is shown besides (page numbers, links of headings) is written by the style sheet, so that a
reader who selects text selects the book's own words only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from bythebook.domain.books import Block, Document, PageMark

QUOTE = "quote"  # the id that links to a marked place lead to


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of a quote in a document's text."""

    start: int
    end: int


def anchors_of(document: Document, mark: Mark | None = None) -> Mapping[int, str]:
    """Give each section an id by its start: the book's own where it is free, else one of ours."""
    taken = {QUOTE} if mark else set()
    anchors: dict[int, str] = {}
    for section in document.sections:
        own = section.anchor
        anchors[section.start] = own if own and own not in taken else f"_at-{section.start}"
        taken.add(anchors[section.start])
    return anchors


def document_html(document: Document, mark: Mark | None) -> str:
    """Write the body of a reader page, with the quote marked."""
    page = _Page(document, mark)
    return "\n".join(page.blocks())


def opens_with_title(document: Document) -> bool:
    """Say whether a page begins with a heading of its own that names it."""
    first = document.blocks[:1]
    return bool(first) and first[0].kind == "heading" and first[0].level <= 1


class _Page:
    """One rendering; the first piece of the mark carries the id that links scroll to."""

    def __init__(self, document: Document, mark: Mark | None) -> None:
        self._document = document
        self._mark = mark
        self._marked = False
        self._anchors = anchors_of(document, mark)
        self._level = 0 if opens_with_title(document) else 1  # of the last heading shown

    def blocks(self) -> Iterator[str]:
        pages = list(reversed(self._document.pages))
        for block in self._document.blocks:
            while pages and pages[-1].start < block.end:
                yield self._page_mark(pages.pop())
            yield self._block(block)

    def _block(self, block: Block) -> str:
        text = self._text
        match block.kind:
            case "heading":
                return self._heading(block)
            case "list":
                tag = "ol" if block.ordered else "ul"
                items = "".join(f"<li>{item}</li>" for item in self._lines(block))
                return f'<{tag} dir="auto">{items}</{tag}>'
            case "table":
                return self._table(block)
            case "code":
                return f'<pre tabindex="0"><code>{text(block.start, block.end)}</code></pre>'
            case "formula":
                return f'<pre tabindex="0" class="formula">{text(block.start, block.end)}</pre>'
            case "caption":
                return f'<p class="caption" dir="auto">{text(block.start, block.end)}</p>'
            case "paragraph":
                return f'<p dir="auto">{text(block.start, block.end)}</p>'

    def _page_mark(self, page: PageMark) -> str:
        label = f"page {escape(page.label or str(page.number))}"
        return (
            f'<div class="page" id="page-{page.number}" role="doc-pagebreak" '
            f'aria-label="{label}" data-label="{label}"></div>'
        )

    def _heading(self, block: Block) -> str:
        """Set a heading; levels that the book skips are closed up, or no ear could follow them."""
        self._level = min(block.level, self._level + 1, 6)
        tag = f"h{max(self._level, 1)}"
        text = self._text(block.start, block.end)
        anchor = escape(self._anchors.get(block.start, ""))
        if not anchor:
            return f'<{tag} dir="auto">{text}</{tag}>'
        link = f'<a class="here" href="#{anchor}" aria-label="Link to this section"></a>'
        return f'<{tag} dir="auto" id="{anchor}">{text}{link}</{tag}>'

    def _lines(self, block: Block) -> Iterator[str]:
        for start, end in self._spans(block.start, block.end, "\n"):
            yield self._text(start, end)

    def _table(self, block: Block) -> str:
        head, *body = (
            list(self._spans(start, end, " | "))
            for start, end in self._spans(block.start, block.end, "\n")
        )
        columns = "".join(f'<th scope="col">{self._text(*cell)}</th>' for cell in head)
        rows = "".join(
            f"<tr>{''.join(f'<td>{self._text(*cell)}</td>' for cell in row)}</tr>" for row in body
        )
        return (
            '<div class="table" role="group" aria-label="Table" tabindex="0"><table dir="auto">'
            f"<thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table></div>"
        )

    def _spans(self, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
        for piece in self._document.text[start:end].split(separator):
            yield start, start + len(piece)
            start += len(piece) + len(separator)

    def _text(self, start: int, end: int) -> str:
        text = self._document.text
        if self._mark is None or self._mark.end <= start or end <= self._mark.start:
            return escape(text[start:end])
        begin, stop = max(start, self._mark.start), min(end, self._mark.end)
        name = "" if self._marked else f' id="{QUOTE}"'
        self._marked = True
        return (
            escape(text[start:begin])
            + f"<mark{name}>{escape(text[begin:stop])}</mark>"
            + escape(text[stop:end])
        )
