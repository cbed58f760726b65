"""What an ingest run did, or would do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Stage = Literal["reading", "embedding", "publishing"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    stage: Stage
    done: int
    total: int
    tokens: int = 0


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The sum of a run."""

    book_id: str
    title: str
    reader: str
    documents: int
    characters: int
    chunks: int
    added: int  # chunks that the live generation does not have
    kept: int
    removed: int
    embedded: int  # chunks whose vector had to be computed
    tokens: int  # in the chunks to be embedded
    seconds: float
    published: bool
    warnings: tuple[str, ...] = ()
