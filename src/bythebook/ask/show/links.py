"""Links that open the book at a quote, and quotes as readers see them."""

import re
import zlib
from collections.abc import Sequence
from urllib.parse import quote as percent

from bythebook.cite import CitationId, make_citation_id
from bythebook.domain.answers import SELECTED_TEXT, Citation, Sentence
from bythebook.domain.books import Chunk
from bythebook.domain.records import MessageCitation

_SHORT = 100  # characters that a text fragment spells out; beyond, its ends suffice
_END_WORDS = 5
_FORMULA = re.compile(r"[$\\{}_^]")  # a page renders formulas, so their source is not on it


def cite_for_good(citation: Citation) -> CitationId:
    """Return the id by which a citation is found for as long as its words stand in the book."""
    chunk = citation.passage.chunk
    span = citation.char_start - chunk.char_start, citation.char_end - chunk.char_start
    return make_citation_id(chunk.book_id, chunk.document_id, chunk.text, span, chunk.char_start)


def permalink(citation: Citation, reader_url: str) -> str | None:
    """Return the link to a citation that outlasts edits of the book; None for a selection."""
    if citation.passage.is_selection:
        return None
    return f"{reader_url}/c/{cite_for_good(citation)}"


def section_url(chunk: Chunk, reader_url: str) -> str:
    """Return the address of a chunk's section: on the book's site, or on our reader page."""
    return chunk.source_url or _reader_page(chunk, reader_url) + (
        f"#{chunk.anchor}" if chunk.anchor else ""
    )


def quote_link(citation: Citation, reader_url: str) -> str:
    """Return the link that opens the page at the quote, marked."""
    chunk = citation.passage.chunk
    fragment = f":~:text={text_fragment(citation.quote)}"
    if chunk.source_url:
        address, _, anchor = chunk.source_url.partition("#")
        # PDF viewers go by pages; a quote may be pages below its section's heading.
        anchor = f"page={citation.page.number}" if citation.page else anchor
        return f"{address}#{anchor}{fragment}"
    mark = f"{citation.char_start}-{citation.char_end}-{quote_check(citation.quote)}"
    return f"{_reader_page(chunk, reader_url)}?mark={mark}#quote{fragment}"


def quote_check(quote: str) -> str:
    """Return a short checksum that shows whether a place still has the quote."""
    return f"{zlib.crc32(quote.encode()):08x}"


def text_fragment(quote: str) -> str:
    """Spell a quote as a URL text directive: whole if short, else by its first and last words."""
    cells = [cell.strip() for cell in re.split(r"\n| \| ", quote) if cell.strip()]
    plain = [cell for cell in cells if not _FORMULA.search(cell)] or cells
    if len(plain) == 1 and len(plain[0]) <= _SHORT and not _FORMULA.search(plain[0]):
        return _escape(plain[0])
    opening, closing = _plain_words(plain[0]), _plain_words(plain[-1])
    if len(plain) == 1 and len(opening) <= 2 * _END_WORDS:
        return _escape(" ".join(opening))  # the two ends of a range must not overlap
    first, last = " ".join(opening[:_END_WORDS]), " ".join(closing[-_END_WORDS:])
    return _escape(first) if first == last else f"{_escape(first)},{_escape(last)}"


def _plain_words(text: str) -> list[str]:
    """Return the longest run of words that a page shows just as they are written."""
    runs = [run.split() for run in re.split(r"\$[^$]*\$|\S*[$\\{}^]\S*", text)]
    return max(runs, key=len) if any(runs) else text.split()


def _escape(text: str) -> str:
    return percent(text, safe="").replace("-", "%2D")


def _reader_page(chunk: Chunk, reader_url: str) -> str:
    return f"{reader_url}/read/{chunk.book_id}/{percent(chunk.document_id)}"


def message_citations(
    sentences: Sequence[Sentence], reader_url: str, first: int = 0
) -> tuple[MessageCitation, ...]:
    """Write the citations of sentences, which are numbered from `first`, as readers see them."""
    return tuple(
        _message_citation(number, sentence, citation, reader_url)
        for number, sentence in enumerate(sentences, first)
        for citation in sentence.citations
    )


def _message_citation(
    number: int, sentence: Sentence, citation: Citation, reader_url: str
) -> MessageCitation:
    chunk = citation.passage.chunk
    selected = citation.passage.is_selection
    return MessageCitation(
        sentence=number,
        chunk_id=SELECTED_TEXT if selected else chunk.chunk_id,
        char_start=citation.char_start,
        char_end=citation.char_end,
        chapter=None if selected else chunk.chapter,
        section=chunk.section,
        source_url=None if selected else section_url(chunk, reader_url),
        referenced_text=citation.quote,
        document_id=None if selected else chunk.document_id,
        link=None if selected else quote_link(citation, reader_url),
        key=sentence.key,
        permalink=permalink(citation, reader_url),
    )
