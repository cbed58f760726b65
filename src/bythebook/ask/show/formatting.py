"""Verified sentences -> how the book marks them: numbered steps, languages of code, heads of tables."""

from dataclasses import replace

from bythebook.domain.answers import HEAD_ROW, Sentence
from bythebook.domain.books import Block, BlockKind, Document
from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.ports import Library

_BLOCKS: dict[str, BlockKind] = {"item": "list", "row": "table", "code": "code"}


def needs_mark(sentence: Sentence) -> bool:
    """Return True if a sentence is in a block that the book formats in a special way."""
    cited = sentence.citations[:1]
    return sentence.kind in _BLOCKS and not any(one.passage.is_selection for one in cited)


def with_mark(sentence: Sentence, library: Library) -> Sentence:
    """Add a sentence's mark from its page; none if the page has changed since."""
    cited = sentence.citations[0]
    chunk = cited.passage.chunk
    try:
        page = library.document(chunk.book_id, chunk.document_id)
    except (UnknownBook, UnknownDocument):
        return sentence
    if page.text[cited.char_start : cited.char_end] != cited.quote:
        return sentence
    for block in page.blocks:
        if block.kind == _BLOCKS[sentence.kind] and block.start <= cited.char_start < block.end:
            return replace(sentence, mark=_mark(page, block, cited.char_start))
    return sentence


def _mark(page: Document, block: Block, at: int) -> str:
    if block.kind == "list":
        before = page.text[block.start : at].split("\n")[:-1]
        number = 1 + sum(bool(line.strip()) for line in before)
        return f"{number})" if block.ordered else ""  # not "1.", which reads as a sentence's end
    if block.kind == "table":
        return HEAD_ROW if at == block.start else ""
    return block.language
