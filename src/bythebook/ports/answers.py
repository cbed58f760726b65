"""What the answer path needs."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage


@dataclass(frozen=True, slots=True)
class PairReading:
    """What a model makes of one question or claim with one passage, as log odds or differences of them."""

    answerable: float
    support: float
    units: tuple[float, ...]  # how far each unit of the passage stands out against "none of them"
    span: float  # how far the best answer stands out against "no answer"
    words: tuple[int, int] | None  # where that answer stands in the passage's text


class PairReader(Protocol):
    """Reads a question or a claim together with each passage."""

    def read(self, text: str, passages: Sequence[Passage]) -> list[PairReading]:
        """Read text and passages, pair by pair; blocks while it does."""
        ...


class TextEncoder(Protocol):
    """Turns texts into unit vectors whose dot product is their likeness in meaning."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text."""
        ...

    def recall(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors of a book's texts, which many questions find again."""
        ...

    def vocabulary_rank(self, word: str) -> int | None:
        """Return a word's place in the vocabulary, common to rare, or None if it has none."""
        ...


class Judge(Protocol):
    """Reads question and passages, and says whether and where they answer."""

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        """Judge passages of the book or a selection; needs no index and no embedder."""
        ...


class Support(Protocol):
    """Estimates whether passages support a sentence in other words."""

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        """Return the probability that these passages support everything a sentence claims."""
        ...


class Generator(Protocol):
    """Proposes sentences; none is shown before it is verified."""

    def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Yield sentences in order, each with the quotes it rests on, and their usage.

        Closing it stops the work.
        """
        ...
