"""A document as HTML, made from its plain text: every character of it is escaped, none is lost."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from bythebook.domain.books import Block, Document, PageMark


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of a quote in a document's text."""

    start: int
    end: int


def document_html(document: Document, mark: Mark | None) -> str:
    """Write the body of a reader page, with the quote marked."""
    page = _Page(document, mark)
    return "\n".join(page.blocks())


class _Page:
    """One rendering; the first piece of the mark carries the id that links scroll to."""

    def __init__(self, document: Document, mark: Mark | None) -> None:
        self._document = document
        self._mark = mark
        self._marked = False
        self._anchors = {section.start: section.anchor for section in document.sections}

    def blocks(self) -> Iterator[str]:
        pages = list(reversed(self._document.pages))
        for block in self._document.blocks:
            while pages and pages[-1].start < block.end:
                yield self._page_mark(pages.pop())
            match block.kind:
                case "heading":
                    yield self._heading(block)
                case "list":
                    tag = "ol" if block.ordered else "ul"
                    yield f"<{tag}>{''.join(f'<li>{item}</li>' for item in self._lines(block))}</{tag}>"
                case "table":
                    yield self._table(block)
                case "code":
                    yield f"<pre><code>{self._text(block.start, block.end)}</code></pre>"
                case "formula":
                    yield f'<pre class="formula">{self._text(block.start, block.end)}</pre>'
                case "caption":
                    yield f'<p class="caption">{self._text(block.start, block.end)}</p>'
                case "paragraph":
                    yield f"<p>{self._text(block.start, block.end)}</p>"

    def _page_mark(self, page: PageMark) -> str:
        return f'<p class="page" id="page-{page.number}">page {escape(page.label or str(page.number))}</p>'

    def _heading(self, block: Block) -> str:
        anchor = self._anchors.get(block.start, "")
        name = f' id="{escape(anchor)}"' if anchor else ""
        level = min(block.level, 6)
        return f"<h{level}{name}>{self._text(block.start, block.end)}</h{level}>"

    def _lines(self, block: Block) -> Iterator[str]:
        for start, end in self._spans(block.start, block.end, "\n"):
            yield self._text(start, end)

    def _table(self, block: Block) -> str:
        rows = []
        for number, (start, end) in enumerate(self._spans(block.start, block.end, "\n")):
            tag = "th" if number == 0 else "td"
            cells = (self._text(*span) for span in self._spans(start, end, " | "))
            rows.append(f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"

    def _spans(self, start: int, end: int, separator: str) -> Iterator[tuple[int, int]]:
        for piece in self._document.text[start:end].split(separator):
            yield start, start + len(piece)
            start += len(piece) + len(separator)

    def _text(self, start: int, end: int) -> str:
        text = self._document.text
        if self._mark is None or self._mark.end <= start or end <= self._mark.start:
            return escape(text[start:end])
        begin, stop = max(start, self._mark.start), min(end, self._mark.end)
        name = "" if self._marked else ' id="quote"'
        self._marked = True
        return (
            escape(text[start:begin])
            + f"<mark{name}>{escape(text[begin:stop])}</mark>"
            + escape(text[stop:end])
        )
