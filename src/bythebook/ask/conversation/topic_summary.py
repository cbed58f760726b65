"""Questions -> a line that says what a conversation is about."""

from collections.abc import Sequence

from bythebook.ask.verify.sentences import ELLIPSIS

MOST_CHARACTERS = 200
_LONGEST = 80  # characters of one question
_MARKS = " ?!.,;:…¿¡？！。、؟।"


def topic_summary(questions: Sequence[str]) -> str:
    """List the questions, given oldest first: the latest first, each once, as many as fit."""
    asked = [line for question in reversed(questions) if (line := " ".join(question.split()))]
    summary = ""
    for line in dict.fromkeys(_shorten(line.strip(_MARKS) or line) for line in asked):
        longer = f"{summary}; {line}" if summary else line
        if len(longer) > MOST_CHARACTERS:
            break
        summary = longer
    return summary


def _shorten(text: str) -> str:
    """Cut a text at the end of a word and say so."""
    if len(text) <= _LONGEST:
        return text
    words = text[:_LONGEST].rpartition(" ")[0].rstrip(" ,;:-")
    return (words or text[: _LONGEST - 1]) + ELLIPSIS
