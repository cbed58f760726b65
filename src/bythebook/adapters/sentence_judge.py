"""The first judge: a small linear model over measures of sentences, fitted by training/fit_judge.py."""

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.adapters.judge_features import Measures
from bythebook.adapters.minilm import MiniLm
from bythebook.domain.answers import Evidence, Judgement, Passage

WEIGHTS = Path(__file__).resolve().parents[1] / "models" / "judge" / "weights.json"


class SentenceJudge:
    """Judges with the bundled encoder alone: no index, no configured embedder."""

    # The SHA-256 of the weights begins so; a test compares it, a start does not.
    model_id = "bythebook-linear@ce625634"

    def __init__(self, encoder: MiniLm, weights: Path = WEIGHTS) -> None:
        self._encoder = encoder
        self._weights: dict[str, Any] = json.loads(weights.read_text("ascii"))

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        """Judge passages of the book or a selection; needs no index and no embedder."""
        return await asyncio.to_thread(self._judge, question, passages)

    async def support(self, claim: str, passages: Sequence[Passage]) -> float:
        """Say how near a sentence in other words is to the nearest unit of its passages, at most 1."""
        units = [text for passage in passages for text in passage.chunk.unit_texts()]
        if not units:
            return 0.0
        vectors = await asyncio.to_thread(self._encoder.encode, [claim, *units])
        return float(np.clip(max(vectors[1:] @ vectors[0]), 0.0, 1.0))

    def _judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        weights = self._weights["selection" if passages[0].is_selection else "book"]
        measures = Measures(self._encoder, question, passages)
        candidates = measures.candidates()
        if not candidates:
            return Judgement(0.0, tuple(0.0 for _ in passages), ())
        scores = [float(np.dot(c.measures, weights["unit"])) for c in candidates]
        *slopes, constant = weights["answer"]
        answerable = _chance(float(np.dot(measures.answer(candidates, scores), slopes)) + constant)
        evidence = sorted(
            (
                Evidence(passages[candidate.passage], candidate.unit, share)
                for candidate, share in zip(candidates, _shares(scores), strict=True)
            ),
            key=lambda found: -found.support,
        )
        return Judgement(answerable, _supports(passages, evidence), tuple(evidence))


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
