"""Verified sentences set as one text."""

from collections.abc import Sequence

from bythebook.domain.answers import Sentence


def answer_text(sentences: Sequence[Sentence]) -> str:
    """Join sentences as prose; items, rows and code stand on lines of their own."""
    text = ""
    for sentence in sentences:
        prose = sentence.text[-1:] in '.!?…:)”"' and "\n" not in sentence.text
        separator = "" if not text else " " if prose and text[-1] in '.!?…)”"' else "\n"
        text += separator + sentence.text
    return text
