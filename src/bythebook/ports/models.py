"""The roles of a language model other than writing answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage

Search = Callable[[str], Awaitable[Sequence[Passage]]]  # of the book that the question is about


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How a model understands a question: standing alone, and the things it asks if they are several."""

    question: str
    parts: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ModelOpinion:
    """Whether a model thinks that passages answer a question."""

    answers: bool
    usage: Usage = field(default_factory=Usage)


class Planner(Protocol):
    """Reads a question in the context of the turns before it."""

    async def read(self, question: str, turns: Sequence[Turn], model: str | None = None) -> Rewrite:
        """Rewrite a follow-up as a standalone question, with its parts."""
        ...


class Validator(Protocol):
    """A second opinion, in addition to the judge."""

    async def review(
        self, question: str, passages: Sequence[Passage], model: str | None = None
    ) -> ModelOpinion:
        """Return True if the passages answer the question."""
        ...


class OngoingSearch(Protocol):
    """A search in several steps that is under way, and the writing that follows it."""

    async def finish_search(self) -> tuple[Rewrite, tuple[Passage, ...]]:
        """Wait for the end of the search; return the rewrite with its usage, and the passages."""
        ...

    def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Yield sentences, as a Generator does, from the passages judged to answer."""
        ...


class Searcher(Protocol):
    """Searches in several steps for what one search does not find."""

    def begin(
        self, plan: Plan, turns: Sequence[Turn], first: Sequence[Passage], search: Search
    ) -> AbstractAsyncContextManager[OngoingSearch]:
        """Search on from what the first search found; leaving the context stops the search."""
        ...
