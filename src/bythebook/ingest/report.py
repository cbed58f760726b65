"""Makes the report of a run: what was read, what is indexed, and what is not and why."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bythebook.domain.books import Chunk, Document, LeftOutReason
from bythebook.domain.reports import BrokenLink, DocumentReport, LostPicture

Stage = Literal["reading", "embedding", "publishing", "calibrating", "suggesting", "copying"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run; reading and embedding run at the same time."""

    stage: Stage
    done: int
    total: int  # known so far
    tokens: int = 0
    reader: str = ""  # set when the reader is chosen


OnProgress = Callable[[Progress], None]


def report_document(
    document: Document,
    indexed: Sequence[Chunk],
    left_out: Sequence[tuple[Chunk, LeftOutReason]],
    *,
    seconds: float,
    kept: bool,
) -> DocumentReport:
    """Account for every visible character of a document."""
    missing = Counter[str]()
    for part in document.left_out:
        missing[part.reason] += count_visible(part.text)
    for chunk, reason in left_out:
        missing[reason] += count_visible(chunk.text)
    chunked = sum(count_visible(chunk.text) for chunk in indexed)
    twice = [chunk for chunk, reason in left_out if reason == "duplicate"]
    headings = _count_headings(document, indexed, twice)
    chunked += headings.pop(None, 0)
    for why, count in headings.items():
        missing[str(why)] += count
    return DocumentReport(
        document_id=document.document_id,
        title=document.title,
        characters=count_visible(document.text)
        + sum(count_visible(part.text) for part in document.left_out),
        chunked=chunked,
        left_out=dict(missing),
        chunks=len(indexed),
        seconds=seconds,
        kept=kept,
    )


def count_visible(text: str) -> int:
    """Count the visible characters of a text."""
    return len(text) - sum(map(text.count, " \n\t\u00a0"))


def find_broken_links(documents: Sequence[Document]) -> tuple[BrokenLink, ...]:
    """Find the links that lead to no document of the book, or to no place in it."""
    places = {document.document_id: _collect_anchors(document) for document in documents}
    return tuple(
        BrokenLink(document.document_id, link.target)
        for document in documents
        for link in document.links
        if link.document_id not in places
        or (link.anchor and link.anchor not in places[link.document_id])
    )


def find_lost_pictures(documents: Sequence[Document]) -> tuple[LostPicture, ...]:
    """Find the pictures that pages name and do not show."""
    return tuple(
        LostPicture(document.document_id, missing.target, missing.reason)
        for document in documents
        for missing in document.missing_pictures
    )


def _count_headings(
    document: Document, indexed: Sequence[Chunk], twice: Sequence[Chunk]
) -> Counter[LeftOutReason | None]:
    """Count the characters of headings by the reason they are not indexed; None if a chunk has them."""
    carried = {title for chunk in indexed for title in chunk.heading_path}
    said_again = {title for chunk in twice for title in chunk.heading_path}
    counts: Counter[LeftOutReason | None] = Counter()
    for block in document.blocks:
        if block.kind == "heading":
            title = document.text[block.start : block.end]
            reason: LeftOutReason = "duplicate" if title in said_again else "heading without text"
            counts[None if title in carried else reason] += count_visible(title)
    return counts


def _collect_anchors(document: Document) -> frozenset[str]:
    return frozenset((*document.anchors, *(section.anchor for section in document.sections)))
