"""What the core needs of the world, as Protocols in our own types."""

from bythebook.ports.answers import Generator, Judge, Support
from bythebook.ports.books import (
    BookFiles,
    BookReader,
    Calibrations,
    ChunkIndex,
    Embedder,
    GenerationDraft,
    IndexWriter,
    Library,
    Lookup,
    Vector,
    VectorCache,
    Vectors,
)
from bythebook.ports.models import (
    ModelOpinion,
    OngoingSearch,
    Planner,
    Rewrite,
    Search,
    Searcher,
    Validator,
)
from bythebook.ports.operators import Alarm, Limiter, Metrics
from bythebook.ports.records import FeedbackStore, Housekeeping, KeyStore, QueryLog, Threads

__all__ = [
    "Alarm",
    "BookFiles",
    "BookReader",
    "Calibrations",
    "ChunkIndex",
    "Embedder",
    "FeedbackStore",
    "GenerationDraft",
    "Generator",
    "Housekeeping",
    "IndexWriter",
    "Judge",
    "KeyStore",
    "Library",
    "Limiter",
    "Lookup",
    "Metrics",
    "ModelOpinion",
    "OngoingSearch",
    "Planner",
    "QueryLog",
    "Rewrite",
    "Search",
    "Searcher",
    "Support",
    "Threads",
    "Validator",
    "Vector",
    "VectorCache",
    "Vectors",
]
