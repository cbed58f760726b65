"""What a reader asks."""

from dataclasses import dataclass
from typing import Literal

from bythebook.domain.books import Chunk
from bythebook.domain.conversations import Turn

Mode = Literal["standard_rag", "selected_text_only"]


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """A section of a book, by its offsets in the plain text of its document."""

    book_id: str
    document_id: str
    char_start: int
    char_end: int

    def holds(self, chunk: Chunk) -> bool:
        """Return True if a chunk lies wholly in it."""
        return (
            (chunk.book_id, chunk.document_id) == (self.book_id, self.document_id)
            and self.char_start <= chunk.char_start
            and chunk.char_end <= self.char_end
        )


@dataclass(frozen=True, slots=True)
class Scope:
    """Where the answer may come from: one book or all, or only a section or a selection."""

    book_id: str | None = None
    selected_text: str | None = None
    readable: tuple[str, ...] | None = None  # books that the caller may read; None: all
    section: SectionSpan | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question as asked, with the limits on its answer."""

    text: str
    scope: Scope = Scope()
    top_k: int = 5
    most_sentences: int | None = None  # in the answer; None: no limit
    least_similarity: float | None = None  # of a passage, on contract C's scale; None: any
    model: str | None = None  # that the reader names; None: the configured one
    turns: tuple[Turn, ...] = ()  # of the conversation so far, oldest first


@dataclass(frozen=True, slots=True)
class QuestionPart:
    """One of the things that a question asks."""

    question: str
    words: str  # as it was asked
    before: str = ""  # the part that it refers to


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question will be answered."""

    mode: Mode
    question: str  # as asked, or as a model rewrote it to stand alone
    top_k: int
    book_id: str | None
    selected_text: str | None
    most_sentences: int | None = None
    readable: tuple[str, ...] | None = None
    overview: bool = False  # "Explain this passage": asks for the selection or section itself
    section: SectionSpan | None = None
    least_similarity: float | None = None
    parts: tuple[
        QuestionPart, ...
    ] = ()  # of a question that asks several things; empty if it asks one
    turns: tuple[Turn, ...] = ()  # that the question may lean on, oldest first
    model: str | None = None  # that the reader names
