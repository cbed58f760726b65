"""Text that is read and never obeyed: delimited by a mark that it cannot know."""

import re
import secrets
from collections.abc import Callable, Sequence

from bythebook.domain.answers import Passage

# What some servers read as the beginning of another speaker's turn, wherever it stands.
_TURN_MARKS = re.compile(r"<(?=\||/?s>|<SYS|</SYS)|\[(?=/?INST\])", re.IGNORECASE)


def as_is(text: str, _question: str = "", /) -> str:
    """Change nothing."""
    return text


class Fence:
    """Delimits texts of one request; a new mark for each, so that no text can close it."""

    def __init__(self, draw: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        self._draw = draw

    def around(self, texts: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Give the mark, and named texts each between lines that bear it."""
        mark = self._draw()
        while any(mark in text for _, text in texts):
            mark = self._draw()
        return mark, fenced(mark, texts)


def fenced(mark: str, texts: Sequence[tuple[str, str]]) -> str:
    """Put named texts between lines that bear a mark, which is taken out of the texts themselves."""
    plain = ((name, _without_turns(text.replace(mark, ""))) for name, text in texts)
    return "\n".join(f"[{mark} {name}]\n{text}\n[{mark} end]" for name, text in plain)


def numbered(
    passages: Sequence[Passage], question: str = "", neutral: Callable[[str, str], str] = as_is
) -> list[tuple[str, str]]:
    """Number passages from 1, each under its heading; `neutral` takes out what is no book text."""
    return [
        (
            f"passage {number}",
            "\n".join(filter(None, (_heading(passage), neutral(_text(passage), question)))),
        )
        for number, passage in enumerate(passages, 1)
    ]


def _heading(passage: Passage) -> str:
    path = " > ".join(passage.chunk.heading_path)
    return f"(from: {' '.join(path.split())})" if path else ""


def _text(passage: Passage) -> str:
    return "\n".join(filter(None, (passage.chunk.header, passage.chunk.text)))


def _without_turns(text: str) -> str:
    """Break what would end the turn of who is speaking."""
    return _TURN_MARKS.sub(lambda match: f"{match[0]} ", text.replace("\x00", " "))
