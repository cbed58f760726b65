"""What searching and writing a Qdrant Edge shard share: its vectors, its words, its failures."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge as edge

from bythebook.errors import ByTheBookError, StoreFailed

DENSE = "dense"
WORDS = "words"
# A term counts nearly as much once as often, and length hardly at all: chunks are of one size.
_SATURATION, _LENGTH, _AVERAGE_TERMS = 0.3, 0.3, 100.0
# Stored with each shard: a shard of another revision is built again, not updated.
INDEX_REVISION = f"2 {_SATURATION} {_LENGTH} {_AVERAGE_TERMS}"
# Rarity granted to what a question leaves unsaid: "how old are you" has but one term.
_UNHEARD = 3.0


@contextmanager
def as_store_failed(what: str, help_message: str) -> Iterator[None]:
    """Say in our words what Qdrant Edge says by bare exceptions and by panics."""
    try:
        yield
    except (ByTheBookError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise StoreFailed(what, help_message) from error


def make_bm25() -> edge.Bm25:
    """Make what turns words into sparse vectors, for chunks and questions alike."""
    config = edge.Bm25Config(language="english", k=_SATURATION, b=_LENGTH, avg_len=_AVERAGE_TERMS)
    return edge.Bm25(config)


class TermCounts:
    """In how many chunks of a generation each term stands: what makes BM25 comparable across questions."""

    FILE = "term_counts.json"

    def __init__(self, chunks: int = 0, counts: dict[int, int] | None = None) -> None:
        self.chunks = chunks
        self.counts: Counter[int] = Counter(counts or {})

    def add(self, terms: Sequence[int]) -> None:
        """Count the terms of a chunk."""
        self.chunks += 1
        self.counts.update(terms)

    def subtract(self, terms: Sequence[int]) -> None:
        """Take a chunk's terms out again."""
        self.chunks -= 1
        self.counts.subtract(terms)

    def save(self, folder: Path) -> None:
        """Keep the counts with the shard."""
        values = {"chunks": self.chunks, "counts": self.counts}
        (folder / self.FILE).write_text(json.dumps(values), "ascii")

    @classmethod
    def load(cls, folder: Path) -> "TermCounts":
        """Read the counts of a shard."""
        return cls.parse((folder / cls.FILE).read_bytes())

    @classmethod
    def parse(cls, content: bytes) -> "TermCounts":
        """Read counts as they were written."""
        values = json.loads(content)
        return cls(values["chunks"], {int(term): count for term, count in values["counts"].items()})

    def weigh(self, terms: Sequence[int]) -> edge.SparseVector:
        """Weigh a question's terms so that a chunk with all of them, often, comes near 1."""
        rarity = [self._rarity(term) for term in terms]
        most = (sum(rarity) + _UNHEARD) * (_SATURATION + 1)
        return edge.SparseVector(list(terms), [value / most for value in rarity])

    def _rarity(self, term: int) -> float:
        count = self.counts.get(term, 0)
        return math.log(1 + (self.chunks - count + 0.5) / (count + 0.5))


def shard_config(dimension: int) -> edge.EdgeConfig:
    """Give a shard a dense vector and a vector of words per chunk."""
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
        sparse_vectors={WORDS: edge.EdgeSparseVectorParams()},
        max_search_threads=2,
        wal_enabled=False,  # an unfinished generation is thrown away, a finished one is flushed
    )
