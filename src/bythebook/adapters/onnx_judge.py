"""The bundled judge: a trained cross-encoder, and a few fitted weights that put its readings together."""

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.adapters.judge_features import Measures
from bythebook.adapters.judge_model import MODELS, JudgeModel, Reading
from bythebook.adapters.minilm import MiniLm
from bythebook.domain.answers import Evidence, Judgement, Passage
from bythebook.domain.books import Unit

WEIGHTS = MODELS / "judge" / "weights.json"


class OnnxJudge:
    """Judges by reading question and passages together, with bundled models only: no index, no network."""

    def __init__(self, model: JudgeModel, encoder: MiniLm, weights: Path = WEIGHTS) -> None:
        self._model = model
        self._encoder = encoder
        self._weights: dict[str, Any] = json.loads(weights.read_text("ascii"))

    @property
    def model_id(self) -> str:
        """Name of the model, kept with what is fitted to its scores."""
        return self._model.model_id

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        """Judge passages of the book or a selection."""
        return await asyncio.to_thread(self._judge, question, passages)

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        """Give the probability that these passages support all that a sentence claims."""
        return await asyncio.to_thread(self._support, claim, passages)

    def _support(self, claim: str, passages: Sequence[Passage]) -> float:
        if not passages:
            return 0.0
        readings = self._model.read(claim, passages)
        measures = Measures(claim, passages, readings, self._encoder)
        *slopes, constant = self._weights["support"]
        return _chance(float(np.dot(measures.support(), slopes)) + constant)

    def _judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        weights = self._weights["selection" if passages[0].is_selection else "book"]
        readings = self._model.read(question, passages)
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


def _answer(unit: Unit, reading: Reading) -> tuple[int, int] | None:
    """Give where the answer's words stand, if they are in this unit and more likely than none."""
    if reading.words is None or reading.span <= 0:
        return None
    start, end = reading.words
    return (start, end) if unit.start <= start and end <= unit.end else None


def _supports(passages: Sequence[Passage], evidence: Sequence[Evidence]) -> tuple[float, ...]:
    """Give each passage the support of its best unit."""
    best = dict.fromkeys(range(len(passages)), 0.0)
    places = {id(passage): number for number, passage in enumerate(passages)}
    for found in evidence:
        number = places[id(found.passage)]
        best[number] = max(best[number], found.support)
    return tuple(best.values())


def _shares(scores: Sequence[float]) -> list[float]:
    """Share one among units by how well each would answer."""
    raised = [math.exp(score - max(scores)) for score in scores]
    return [value / sum(raised) for value in raised]


def _chance(score: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, score))))
