"""Quotes at the terminal, styled as their author set them; formulas on one line where people read."""

from rich.text import Text

from bythebook.cli.terminal import out
from bythebook.domain.answers import Citation
from bythebook.domain.books import Document
from bythebook.domain.marks import Formula, Style
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.ports import Library
from bythebook.render import write_formula_text

_STYLES = {
    "emphasis": "italic",
    "strong": "bold",
    "code": "cyan",
    "keyboard": "cyan",
    "deleted": "strike",
}


def style_quote(citation: Citation, library: Library, style: str = "dim") -> Text:
    """Return a quote with plain styling; without any if its page has changed."""
    page = _find_page(citation, library)
    if page is None:
        return Text(citation.quote, style=style)
    text = Text(style=style)
    start, end = citation.char_start, citation.char_end
    for formula in page.marks:
        if isinstance(formula, Formula) and start <= formula.start and formula.end <= end:
            text.append_text(_style_range(page, start, formula.start))
            text.append(_write_formula(page, formula), "cyan")
            start = formula.end
    return text.append_text(_style_range(page, start, end))


def style_sentence(set_off: str, citation: Citation, library: Library, style: str) -> Text:
    """Return a sentence as it is set off, with its quote styled."""
    before, quote, after = set_off.partition(citation.quote)
    if not quote:
        return Text(set_off, style=style)
    return Text.assemble(before, style_quote(citation, library, ""), after, style=style)


def _style_range(page: Document, start: int, end: int) -> Text:
    text = Text(page.text[start:end])
    for mark in page.marks:
        if isinstance(mark, Style) and mark.start < end and start < mark.end:
            text.stylize(_STYLES.get(mark.kind, ""), max(mark.start - start, 0), mark.end - start)
    return text


def _write_formula(page: Document, formula: Formula) -> str:
    """Write a formula as people read it; what is not read by people gets its source."""
    source = page.text[formula.start : formula.end]
    return (write_formula_text(formula.mathml) or source) if out.is_terminal else source


def _find_page(citation: Citation, library: Library) -> Document | None:
    chunk = citation.passage.chunk
    try:
        page = library.document(chunk.book_id, chunk.document_id)
    except (UnknownBook, UnknownDocument):
        return None
    return page if page.text[citation.char_start : citation.char_end] == citation.quote else None
