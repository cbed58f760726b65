"""Verified sentences -> one text in plain Markdown."""

import re
from collections.abc import Sequence

from bythebook.domain.answers import HEAD_ROW, Sentence

_FENCE = "```"
_ENDED = re.compile(r"[.!?:;…。！？][\"'”’)\]»*_]*$|[,$]$")  # a caption or title has no end


def answer_text(sentences: Sequence[Sentence]) -> str:
    """Join sentences as prose; items, rows, code and formulas stand on lines of their own.

    The text of the first few sentences is a prefix of the whole text, so that it can be streamed.
    """
    text = ""
    before: Sentence | None = None
    for sentence in sentences:
        text += ("" if before is None else _between(before, sentence)) + set_off(sentence)
        before = sentence
    return text


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
    if before.kind != sentence.kind or sentence.mark == HEAD_ROW:
        return "\n\n"  # otherwise a list would absorb what follows it
    if sentence.kind == "sentence" and _ENDED.search(before.text):
        return " "
    return "\n" if sentence.kind in {"item", "row"} else "\n\n"
