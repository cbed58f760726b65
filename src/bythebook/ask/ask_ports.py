"""The parts that the answer path uses."""

from collections.abc import Callable
from dataclasses import dataclass

from bythebook.ask.compose.extractive import EXTRACTIVE
from bythebook.ports import (
    Calibrations,
    ChunkIndex,
    Embedder,
    Generator,
    Judge,
    Library,
    Planner,
    Searcher,
    Support,
    Validator,
)


@dataclass(frozen=True, slots=True)
class AskPorts:
    """The parts an answer needs; planner, searcher and validator only where a model plays them."""

    library: Library
    embedder: Embedder
    index: ChunkIndex
    calibrations: Calibrations
    judge: Judge
    support: Support
    generator: Generator
    reader_url: str
    model: str = EXTRACTIVE  # name of the generator, unless a reader names another
    model_named: Callable[[str], str] | None = None  # a reader's name for it -> what answers
    planner: Planner | None = None
    searcher: Searcher | None = None
    validator: Validator | None = None
    own_words: bool = False  # True: show a model's wording; False: the book's sentences behind it
    fallback: bool = False  # True: where a model fails, the book's own excerpt answers

    def name_model(self, named: str | None) -> str:
        """Return the name of what answers; a reader may have named a model."""
        return self.model_named(named) if self.model_named and named else self.model

    @property
    def uses_model(self) -> bool:
        """True if a language model writes the answer."""
        return self.model != EXTRACTIVE
