"""What the core needs of the world, as Protocols in our own types."""

from bythebook.ports.answers import Generator, Judge, Support
from bythebook.ports.books import (
    BookReader,
    Calibrations,
    ChunkIndex,
    Edition,
    Embedder,
    Library,
    Lookup,
    Press,
    Vector,
    VectorCache,
    Vectors,
)
from bythebook.ports.models import (
    Journey,
    Opinion,
    Planner,
    Reading,
    Search,
    Searcher,
    Validator,
)
from bythebook.ports.operators import Alarm, Limiter, Metrics
from bythebook.ports.records import FeedbackStore, Housekeeping, KeyStore, QueryLog, Threads

__all__ = [
    "Alarm",
    "BookReader",
    "Calibrations",
    "ChunkIndex",
    "Edition",
    "Embedder",
    "FeedbackStore",
    "Generator",
    "Housekeeping",
    "Journey",
    "Judge",
    "KeyStore",
    "Library",
    "Limiter",
    "Lookup",
    "Metrics",
    "Opinion",
    "Planner",
    "Press",
    "QueryLog",
    "Reading",
    "Search",
    "Searcher",
    "Support",
    "Threads",
    "Validator",
    "Vector",
    "VectorCache",
    "Vectors",
]
