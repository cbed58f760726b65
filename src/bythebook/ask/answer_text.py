"""Verified sentences set as one text."""

from collections.abc import Sequence

from bythebook.domain.answers import Sentence


def answer_text(sentences: Sequence[Sentence]) -> str:
    """Join sentences as prose; items, rows, code and formulas stand on lines of their own."""
    text = ""
    before = "sentence"
    for sentence in sentences:
        prose = sentence.kind == before == "sentence"
        text += ("" if not text else " " if prose else "\n") + sentence.text
        before = sentence.kind
    return text
