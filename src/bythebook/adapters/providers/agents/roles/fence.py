"""Delimits text that a model must read but not obey, by a mark that the text cannot contain."""

import re
import secrets
from collections.abc import Callable, Sequence

from bythebook.domain.answers import Passage

# Some servers read these as the start of another turn, wherever they are.
_TURN_MARKS = re.compile(r"<(?=\||/?s>|<SYS|</SYS)|\[(?=/?INST\])", re.IGNORECASE)


def leave_unchanged(text: str, _question: str = "", /) -> str:
    """Return the text unchanged."""
    return text


class Fence:
    """Delimits the texts of one request by a new random mark, so that no text can end the fence."""

    def __init__(self, draw: Callable[[], str] = lambda: secrets.token_hex(4)) -> None:
        self._draw = draw

    def enclose(self, texts: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Return the mark, and the named texts between lines with the mark."""
        mark = self._draw()
        while any(mark in text for _, text in texts):
            mark = self._draw()
        return mark, fence_texts(mark, texts)


def fence_texts(mark: str, texts: Sequence[tuple[str, str]]) -> str:
    """Put named texts between lines with a mark; the mark is removed from the texts."""
    plain = ((name, _break_turn_marks(text.replace(mark, ""))) for name, text in texts)
    return "\n".join(f"<{mark} {name}>\n{text}\n<{mark} end>" for name, text in plain)


def number_passages(
    passages: Sequence[Passage],
    question: str = "",
    neutralize: Callable[[str, str], str] = leave_unchanged,
) -> list[tuple[str, str]]:
    """Number passages from 1, each under its heading; `neutralize` removes instructions."""
    return [
        (
            f"passage {number}",
            "\n".join(
                filter(None, (format_heading(passage), neutralize(_format_text(passage), question)))
            ),
        )
        for number, passage in enumerate(passages, 1)
    ]


def format_heading(passage: Passage) -> str:
    """Write the place of a passage; empty without headings."""
    path = " > ".join(passage.chunk.heading_path)
    return f"(from: {' '.join(path.split())})" if path else ""


def _format_text(passage: Passage) -> str:
    return "\n".join(filter(None, (passage.chunk.header, passage.chunk.text)))


def _break_turn_marks(text: str) -> str:
    """Break up marks that could end the current turn."""
    return _TURN_MARKS.sub(lambda match: f"{match[0]} ", text.replace("\x00", " "))
