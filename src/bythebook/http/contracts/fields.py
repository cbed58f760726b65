"""What several contracts share: kinds of text, nearest sections, the text of an answer."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field

from bythebook.ask.show import answer_text
from bythebook.domain.answers import Answered, NearestSection


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain NUL characters")
    return text


def _no_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text.strip()


NO_NUL = AfterValidator(_no_nul)
# These trim, so length limits come before them and count what was sent.
PLAIN = (NO_NUL, AfterValidator(_no_blank), Field(json_schema_extra={"pattern": r"\S"}))
BookId = Annotated[str, Field(max_length=64), *PLAIN]


FALLBACK = "True if the language model failed and the book's own excerpt answers, as configured."


class NearestSectionModel(BaseModel):
    """Where to read on."""

    chapter: str = Field(description="Its chapter.")
    section: str = Field(description="Its title.")
    url: str = Field(description="Opens the book there.")


def to_nearest(sections: Sequence[NearestSection]) -> list[NearestSectionModel]:
    """Write where to read on."""
    return [
        NearestSectionModel(chapter=near.chapter, section=near.section, url=near.url)
        for near in sections
    ]


def write_full_answer(outcome: Answered) -> str:
    """Write an answer as one text that starts with its disclaimer, if there is one."""
    text = answer_text(outcome.sentences)
    return f"{outcome.disclaimer} {text}" if outcome.disclaimer else text
