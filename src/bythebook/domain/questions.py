"""What a reader asks."""

from dataclasses import dataclass
from typing import Literal

Mode = Literal["standard_rag", "selected_text_only"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the answer may come from: one book or all, or only a selection."""

    book_id: str | None = None
    selected_text: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question as asked, and the limits on looking for its answer."""

    text: str
    scope: Scope = Scope()
    top_k: int = 5
    most_sentences: int | None = None  # in the answer; none: as many as it takes


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question will be answered."""

    mode: Mode
    question: str
    top_k: int
    book_id: str | None
    selected_text: str | None
    most_sentences: int | None = None
    overview: bool = False  # "Explain this passage": asks for the selection itself
