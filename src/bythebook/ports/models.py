"""What a language model may be asked besides writing answers."""

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
class Reading:
    """How a model understands a question: standing alone, and the things it asks if they are several."""

    question: str
    parts: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Opinion:
    """Whether a model holds that passages answer a question."""

    answers: bool
    usage: Usage = field(default_factory=Usage)


class Planner(Protocol):
    """Understands a question in the light of what was said before."""

    async def read(self, question: str, turns: Sequence[Turn], model: str | None = None) -> Reading:
        """Say what a follow-up asks, standing alone, and what its parts are."""
        ...


class Validator(Protocol):
    """A second opinion beside the judge."""

    async def review(
        self, question: str, passages: Sequence[Passage], model: str | None = None
    ) -> Opinion:
        """Say whether the passages answer the question."""
        ...


class Journey(Protocol):
    """A search in several steps that is under way, and the writing that follows it."""

    async def found(self) -> tuple[Reading, tuple[Passage, ...]]:
        """Give how the question was understood, what was found and what it took, once the search is over."""
        ...

    def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Give sentences, as a Generator does, from what was judged to answer."""
        ...


class Searcher(Protocol):
    """Looks for what one search does not find."""

    def begin(
        self, plan: Plan, turns: Sequence[Turn], first: Sequence[Passage], search: Search
    ) -> AbstractAsyncContextManager[Journey]:
        """Set out from what the first search found; leaving the context ends the journey."""
        ...
