"""Quotes and lines of the book as pages show them: as its author set them, if they are still there."""

from markupsafe import Markup, escape

from bythebook.domain.answers import Citation, Sentence
from bythebook.domain.books import Document
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.ports import Library
from bythebook.render import Addresses, render_cells, render_fragment, render_line

_LONGEST_LINE = 300  # characters


def render_quote(citation: Citation, library: Library) -> Markup:
    """Show a quote as blocks; as plain text if its page has changed, or it is a reader's selection."""
    document = _find_document(citation, library)
    if document is None:
        return Markup("<p dir='auto'>{}</p>").format(citation.quote)
    places = Addresses(citation.passage.chunk.book_id)
    html = render_fragment(document, places, citation.char_start, citation.char_end)
    return Markup(html)  # noqa: S704 - the renderer escapes


def render_sentence(sentence: Sentence, library: Library) -> list[Markup]:
    """Show a sentence, its verbatim words as the author set them; a row of a table by its cells."""
    first, last = sentence.citations[0], sentence.citations[-1]
    document = _find_document(first, library)
    quote = "" if document is None else document.text[first.char_start : last.char_end]
    if document is None or not quote or quote not in sentence.text:
        is_row = sentence.kind == "row"
        return [escape(one) for one in (sentence.text.split(" | ") if is_row else [sentence.text])]
    before, _, after = sentence.text.partition(quote)
    places = Addresses(first.passage.chunk.book_id)
    cells = render_cells(document, places, first.char_start, last.char_end)
    shown = [Markup(cell) for cell in cells]  # noqa: S704 - the renderer escapes
    shown[0] = escape(before) + shown[0]
    shown[-1] += escape(after)
    return shown


def render_excerpt(citation: Citation, library: Library) -> Markup:
    """Show the beginning of a quote on one line."""
    document = _find_document(citation, library)
    if document is None:
        return Markup("{}").format(citation.quote[:_LONGEST_LINE])
    end = min(citation.char_end, citation.char_start + _LONGEST_LINE)
    places = Addresses(citation.passage.chunk.book_id)
    return Markup(render_line(document, places, citation.char_start, end))  # noqa: S704


def _find_document(citation: Citation, library: Library) -> Document | None:
    chunk = citation.passage.chunk
    if citation.passage.is_selection:
        return None
    try:
        document = library.document(chunk.book_id, chunk.document_id)
    except (UnknownBook, UnknownDocument):
        return None
    is_there = document.text[citation.char_start : citation.char_end] == citation.quote
    return document if is_there else None
