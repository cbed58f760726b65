"""The judge: combines readings of question and passages by a few fitted weights."""

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bythebook.ask.read.features import Measures
from bythebook.domain.answers import Evidence, Judgement, Passage
from bythebook.domain.books import Unit
from bythebook.ports.answers import PairReader, PairReading, TextEncoder

Weights = Mapping[str, Any]  # as training fitted them, by name


class ReadingJudge:
    """Judges by reading question and passages together: no index, no network."""

    def __init__(self, reader: PairReader, encoder: TextEncoder, weights: Weights) -> None:
        self._reader = reader
        self._encoder = encoder
        self._weights = weights

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        """Judge passages of the book or a selection."""
        return await asyncio.to_thread(self._judge, question, passages)

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        """Return the probability that these passages support everything a sentence claims."""
        return await asyncio.to_thread(self._support, claim, passages)

    def _support(self, claim: str, passages: Sequence[Passage]) -> float:
        if not passages:
            return 0.0
        readings = self._reader.read(claim, passages)
        measures = Measures(claim, passages, readings, self._encoder)
        *slopes, constant = self._weights["support"]
        return _chance(float(np.dot(measures.support(), slopes)) + constant)

    def _judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        weights = self._weights["selection" if passages[0].is_selection else "book"]
        readings = self._reader.read(question, passages)
        measures = Measures(question, passages, readings, self._encoder)
        candidates = measures.candidates()
        if not candidates:
            return Judgement(0.0, tuple(0.0 for _ in passages), ())
        scores = [float(np.dot(c.measures, weights["unit"])) for c in candidates]
        *slopes, constant = weights["answer"]
        answerable = _chance(float(np.dot(measures.answer(candidates, scores), slopes)) + constant)
        evidence = sorted(
            (
                Evidence(
                    passages[candidate.passage],
                    candidate.unit,
                    share,
                    _answer(candidate.unit, readings[candidate.passage]),
                )
                for candidate, share in zip(candidates, _shares(scores), strict=True)
            ),
            key=lambda found: -found.support,
        )
        return Judgement(answerable, _supports(passages, evidence), tuple(evidence))


def _answer(unit: Unit, reading: PairReading) -> tuple[int, int] | None:
    """Return the place of the answer's words, if they are in this unit and more likely than no answer."""
    if reading.words is None or reading.span <= 0:
        return None
    start, end = reading.words
    return (start, end) if unit.start <= start and end <= unit.end else None


def _supports(passages: Sequence[Passage], evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """Return the support of each passage, that of its best unit."""
    best = dict.fromkeys(range(len(passages)), 0.0)
    places = {id(passage): number for number, passage in enumerate(passages)}
    for found in evidence:
        number = places[id(found.passage)]
        best[number] = max(best[number], found.support)
    return tuple(best.values())


def _shares(scores: Sequence[float]) -> list[float]:
    """Return shares of the units, which add up to one, by how well each would answer."""
    raised = [math.exp(score - max(scores)) for score in scores]
    return [value / sum(raised) for value in raised]


def _chance(score: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, score))))
