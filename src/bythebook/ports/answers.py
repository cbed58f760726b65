"""What making answers needs."""

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage


class Judge(Protocol):
    """Reads question and passages, and says whether and where they answer."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        """Judge passages of the book or a selection; needs no index and no embedder."""
        ...


class Support(Protocol):
    """Says whether passages bear out a sentence that is not in their own words."""

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        """Give the probability that these passages support all that a sentence claims."""
        ...


class Generator(Protocol):
    """Proposes sentences; none of them is shown before it was verified."""

    def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Give sentences in order, each with the quotes it rests on, and what they took.

        Closing it stops the work.
        """
        ...
