"""Quotes at the terminal, styled as their author set them."""

from rich.text import Text

from bythebook.domain.answers import Citation
from bythebook.domain.marks import Formula, Mark, Style
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.ports import Library

_STYLES = {
    "emphasis": "italic",
    "strong": "bold",
    "code": "cyan",
    "keyboard": "cyan",
    "deleted": "strike",
}


def style_quote(citation: Citation, library: Library) -> Text:
    """Return a quote with plain styling; without any if its page has changed."""
    text = Text(citation.quote, style="dim")
    chunk = citation.passage.chunk
    try:
        page = library.document(chunk.book_id, chunk.document_id)
    except (UnknownBook, UnknownDocument):
        return text
    if page.text[citation.char_start : citation.char_end] == citation.quote:
        for mark in page.marks:
            if mark.start < citation.char_end and citation.char_start < mark.end:
                text.stylize(
                    _find_style(mark),
                    max(mark.start - citation.char_start, 0),
                    mark.end - citation.char_start,
                )
    return text


def _find_style(mark: Mark) -> str:
    if isinstance(mark, Formula):
        return "cyan"
    return _STYLES.get(mark.kind, "") if isinstance(mark, Style) else ""
