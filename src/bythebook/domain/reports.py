"""What an ingest run did, or would do."""

from collections.abc import Mapping
from dataclasses import dataclass

from bythebook.domain.books import Skipped


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """The report of one document; characters are counted without white space."""

    document_id: str
    title: str
    characters: int  # that a person sees in the source
    chunked: int  # of them in the index: in a chunk, or in the heading path of one
    left_out: Mapping[str, int]  # the others, by reason
    chunks: int
    seconds: float  # reading, cutting and its share of embedding
    kept: bool  # reused from the live generation without reading it

    @property
    def coverage(self) -> float:
        """The share of its visible text that is in the index, here or at its first place."""
        covered = self.chunked + self.left_out.get("duplicate", 0)
        return covered / self.characters if self.characters else 1.0


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link that leads nowhere in the book."""

    document_id: str
    target: str


@dataclass(frozen=True, slots=True)
class LostPicture:
    """A picture that the book names and its pages do not show, and why."""

    document_id: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class CitationSurvival:
    """What becomes of the citations that readers were shown of late."""

    recent: int
    standing: int
    moved: int  # their words stand, in other surroundings
    edited: int
    gone: int

    def __str__(self) -> str:
        return (
            f"{self.recent:,}, of which {self.standing + self.moved:,} open, "
            f"{self.edited:,} open as edited, {self.gone:,} are gone"
        )


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The report of a run."""

    book_id: str
    title: str
    reader: str
    source: str
    chunks: int
    added: int  # chunks that the live generation does not have
    kept: int
    removed: int
    embedded: int  # chunks whose vector had to be computed
    tokens: int  # that the embedder reads of them
    cost_usd: float  # of embedding them; 0 for an embedder that runs here
    seconds: float
    published: bool
    documents: tuple[DocumentReport, ...]
    skipped: tuple[Skipped, ...] = ()
    broken_links: tuple[BrokenLink, ...] = ()
    warnings: tuple[str, ...] = ()
    lost_pictures: tuple[LostPicture, ...] = ()
    citations: CitationSurvival | None = None  # None: none is recorded

    @property
    def characters(self) -> int:
        """The visible characters of the whole book."""
        return sum(document.characters for document in self.documents)

    @property
    def left_out(self) -> Mapping[str, int]:
        """What is not in the index, by reason, most first."""
        totals: dict[str, int] = {}
        for document in self.documents:
            for reason, count in document.left_out.items():
                totals[reason] = totals.get(reason, 0) + count
        return dict(sorted(totals.items(), key=lambda entry: -entry[1]))

    @property
    def coverage(self) -> float:
        """The share of the book's visible text that is in the index."""
        covered = sum(document.coverage * document.characters for document in self.documents)
        return covered / self.characters if self.characters else 1.0

    def totals(self) -> Mapping[str, object]:
        """Return the totals over all documents, for the report as JSON."""
        return {
            "characters": self.characters,
            "coverage": round(self.coverage, 6),
            "left_out": self.left_out,
        }

    def slowest(self, most: int = 5) -> list[DocumentReport]:
        """Return the slowest documents."""
        return sorted(self.documents, key=lambda document: -document.seconds)[:most]
