"""Passages -> confidence in them, on the scale of contract C."""

import math
from collections.abc import Sequence

import numpy as np

from bythebook.ask.read.verdict import CLEAR_FROM, SURE_FROM
from bythebook.ask.retrieve.relevance import CHAT_BOUNDARY, on_scale
from bythebook.domain.answers import (
    Answered,
    ConfidenceLevel,
    ConfidenceMetrics,
    Judgement,
    Outcome,
    Passage,
)
from bythebook.ports import ChunkIndex, Vectors

DIGITS = 4  # of a score: thresholds and levels use the rounded value that is shown
SUFFICIENT_FROM, SUFFICIENT_CHUNKS = 0.75, 3


def similarities(passages: Sequence[Passage]) -> list[float]:
    """Return the scores of passages on contract C's scale, as they are shown and compared."""
    return [
        min(round(on_scale(passage.relevance, CHAT_BOUNDARY), DIGITS), 1.0) for passage in passages
    ]


def has_sufficient_context(passages: Sequence[Passage]) -> bool:
    """Return True if enough passages are similar enough, whatever the judge says."""
    scores = similarities(passages)
    return len(scores) >= SUFFICIENT_CHUNKS and sum(scores) / len(scores) >= SUFFICIENT_FROM


def merge_duplicates(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Keep the best of passages with the same text, at the place of the first."""
    best: dict[str, Passage] = {}
    for passage in passages:
        known = best.setdefault(passage.chunk.content_hash, passage)
        if passage.relevance > known.relevance:
            best[passage.chunk.content_hash] = passage
    return tuple(best.values())


def keep_near(passages: Sequence[Passage], least: float | None) -> tuple[Passage, ...]:
    """Keep the passages with at least the requested similarity; a selection always has it."""
    if least is None:
        return tuple(passages)
    scored = zip(passages, similarities(passages), strict=True)
    return tuple(passage for passage, score in scored if score >= least or passage.is_selection)


async def measure_confidence(outcome: Outcome, index: ChunkIndex) -> ConfidenceMetrics:
    """Compute an outcome's metrics, reading the vectors they need; a selection needs none."""
    chunks = [passage.chunk for passage in outcome.passages if not passage.is_selection]
    return confidence_metrics(outcome, await index.vectors(chunks) if len(chunks) > 1 else None)


def confidence_metrics(outcome: Outcome, vectors: Vectors | None) -> ConfidenceMetrics:
    """Measure an outcome; `vectors` are those of its passages' chunks, in their order.

    All passages of the outcome count, one for each text: as many as were asked for, near or not,
    since a mean over the near ones alone would be high by construction. What is listed as a
    source is fewer.
    """
    passages = merge_duplicates(outcome.passages)
    scores = similarities(passages)
    answered = isinstance(outcome, Answered)
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    rows = [outcome.passages.index(passage) for passage in passages]
    return ConfidenceMetrics(
        average_similarity=_mean(scores),
        min_similarity=least,
        max_similarity=most,
        num_chunks=len(scores),
        chunk_diversity=0.0 if vectors is None else diversity(vectors[rows]),
        confidence_level=answer_level(outcome.judgement) if answered else "insufficient",
        should_answer=answered,
    )


def answer_level(judgement: Judgement) -> ConfidenceLevel:
    """Name how likely an answer is right, by the judge's chance: the same for every contract."""
    if judgement.answerable >= CLEAR_FROM:
        return "high"
    return "medium" if judgement.answerable >= SURE_FROM else "low"


def diversity(vectors: Vectors) -> float:
    """Return 1 minus the mean cosine of all pairs; rows of zeros are ignored."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    known = vectors[lengths > 0] / lengths[lengths > 0, None]
    if len(known) < 2:
        return 0.0
    pairs = (known @ known.T)[np.triu_indices(len(known), 1)]
    return float(np.clip(1.0 - pairs.mean(), 0.0, 1.0))


def _mean(scores: Sequence[float]) -> float:
    """Return the mean in the digits shown; rounding cannot leave the range of the scores."""
    return round(math.fsum(scores) / len(scores), DIGITS) if scores else 0.0
