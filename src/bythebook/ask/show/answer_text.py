"""Verified sentences -> one text in plain Markdown."""

import re
from collections.abc import Iterator, Sequence

from bythebook.domain.answers import HEAD_ROW, Citation, Sentence

_FENCE = "```"
_ENDED = re.compile(r"[.!?:;…。！？][\"'”’)\]»*_]*$|[,$]$")  # a caption or title has no end


def answer_text(sentences: Sequence[Sentence]) -> str:
    """Join sentences as prose, in the book's paragraphs; items, rows, code and formulas stand on lines of their own.

    The text of the first few sentences is a prefix of the whole text, so that it can be streamed.
    """
    return "".join(between + text for between, text in split_answer(sentences))


def split_answer(sentences: Sequence[Sentence]) -> Iterator[tuple[str, str]]:
    """Yield for each sentence what stands before it and its own formatted text."""
    before: Sentence | None = None
    for sentence in sentences:
        yield "" if before is None else _between(before, sentence), set_off(sentence)
        before = sentence


def key_citations(sentences: Sequence[Sentence]) -> list[Citation]:
    """Return the quotes to list under an answer: those of the sentences that answer."""
    return [citation for sentence in sentences if sentence.key for citation in sentence.citations]


def set_off(sentence: Sentence) -> str:
    """Format one sentence: an item with its number or a dash, code in a fence, a head row over a rule."""
    if sentence.kind == "item":
        return f"{sentence.mark or '-'} {sentence.text}"
    if sentence.kind == "code":
        fence = _FENCE
        while fence in sentence.text:
            fence += "`"
        return f"{fence}{sentence.mark}\n{sentence.text}\n{fence}"
    if sentence.kind == "row" and sentence.mark == HEAD_ROW:
        columns = sentence.text.count(" | ") + 1
        return f"{sentence.text}\n{' | '.join(['---'] * columns)}"
    return sentence.text


def _between(before: Sentence, sentence: Sentence) -> str:
    """Return the separator of two sentences: a space in prose, a line break between entries, else a blank line."""
    if before.kind != sentence.kind or sentence.mark == HEAD_ROW or _is_apart(before, sentence):
        return "\n\n"  # otherwise a list would absorb what follows it
    if sentence.kind == "sentence" and _ENDED.search(before.text):
        return " "
    return "\n" if sentence.kind in {"item", "row"} else "\n\n"


def _is_apart(before: Sentence, sentence: Sentence) -> bool:
    """Return True if two sentences are the book's own and from different paragraphs or passages."""
    if not (_is_verbatim(before) and _is_verbatim(sentence)):
        return False
    left, right = before.citations[-1], sentence.citations[0]
    chunk = left.passage.chunk
    if chunk.chunk_id != right.passage.chunk.chunk_id:
        return True
    between = chunk.text[left.char_end - chunk.char_start : right.char_start - chunk.char_start]
    return sentence.kind == "sentence" and "\n" in between


def _is_verbatim(sentence: Sentence) -> bool:
    return bool(sentence.citations) and all(
        one.quote in sentence.text for one in sentence.citations
    )
