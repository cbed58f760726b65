"""The judge's cross-encoder: reads a question or a claim together with a passage."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bythebook.adapters.models.inference import Crew, make_readable, open_session
from bythebook.domain.answers import Passage
from bythebook.ports.answers import PairReading

MODELS = Path(__file__).resolve().parents[2] / "models"
MOST_TOKENS = 256  # at once; a longer passage is read in several windows of whole units
LONGEST_ANSWER = 30  # tokens
MOST_QUESTION = 96  # tokens of a question or claim; one cut there has said what it is about
NO_UNIT = -1
WEIGHTS = MODELS / "judge" / "weights.json"
_START, _END, _EVIDENCE = 0, 1, 2  # the token values, in the order of training
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair as tokens; each knows its unit and its place in the passage's text."""

    ids: Ints
    types: Ints
    units: Ints
    starts: Ints
    ends: Ints


class JudgeModel:
    """The bundled weights, for use by several threads at once."""

    # The SHA-256 of model and weights begins so; a test compares it, a start does not.
    model_id = "bythebook-judge-int8@f7718ef4"

    def __init__(self, crew: Crew, model: Path = MODELS / "judge" / "model.onnx") -> None:
        self._session = open_session(model)
        self._tokenizer = Tokenizer.from_file(str(MODELS / "embedder" / "tokenizer.json"))
        self._crew = crew

    def read(self, text: str, passages: Sequence[Passage]) -> list[PairReading]:
        """Read a question or claim with each passage."""
        pairs = [
            (number, part) for number, p in enumerate(passages) for part in self._parts(text, p)
        ]
        read = self._crew.each(
            lambda pair: self._run(pair[1]), pairs, lambda pair: len(pair[1].ids)
        )
        readings: list[list[PairReading]] = [[] for _ in passages]
        for (number, part), values in zip(pairs, read, strict=True):
            readings[number].append(_reading(part, *values, len(passages[number].chunk.units)))
        return [_combine_windows(found) for found in readings]

    def _parts(self, text: str, passage: Passage) -> Iterator[Pair]:
        chunk = passage.chunk
        begins = [unit.start for unit in chunk.units]
        whole = encode_pair(
            self._tokenizer, text, " > ".join(chunk.heading_path), chunk.text, begins
        )
        if len(whole.ids) <= MOST_TOKENS:
            yield whole
            return
        for first, last in _windows(whole.units):
            kept = (whole.units == NO_UNIT) | ((first <= whole.units) & (whole.units <= last))
            places = np.flatnonzero(kept)[:MOST_TOKENS]  # one unit may be longer than a window
            yield Pair(
                whole.ids[places],
                whole.types[places],
                whole.units[places],
                whole.starts[places],
                whole.ends[places],
            )

    def _run(self, pair: Pair) -> tuple[Floats, Floats]:
        ids = pair.ids[None, :]
        feed = {
            "input_ids": ids,
            "token_type_ids": pair.types[None, :],
            "attention_mask": np.ones_like(ids),
        }
        tokens, values = self._crew.run(self._session, feed)
        return tokens[0].astype(np.float64), values[0].astype(np.float64)


def encode_pair(
    tokenizer: Tokenizer, text: str, head: str, body: str, begins: Sequence[int]
) -> Pair:
    """Write a question or claim, then headings and passage, as tokens; the same for training and for use."""
    lead = f"{head}. " if head else ""
    asked = tokenizer.encode(make_readable(text), add_special_tokens=False)
    cut = text if len(asked.ids) <= MOST_QUESTION else text[: asked.offsets[MOST_QUESTION][0]]
    found = tokenizer.encode(make_readable(cut), make_readable(lead + body))
    types = np.array(found.type_ids)
    offsets = np.array(found.offsets) - len(lead)
    inside = (types == 1) & (offsets[:, 1] > offsets[:, 0]) & (offsets[:, 0] >= 0)
    units = np.full(len(types), NO_UNIT)
    if len(begins):
        units[inside] = np.searchsorted(np.array(begins), offsets[inside, 0], side="right") - 1
    return Pair(np.array(found.ids), types, units, offsets[:, 0], offsets[:, 1])


def _windows(units: Ints) -> Iterator[tuple[int, int]]:
    """Yield runs of units that fit next to the question and headings, each unit once."""
    sizes = np.bincount(units[units != NO_UNIT])
    room = MOST_TOKENS - int((units == NO_UNIT).sum())
    first, used = 0, 0
    for unit, size in enumerate(sizes):
        if used and used + size > room:
            yield first, unit - 1
            first, used = unit, 0
        used += size
    yield first, len(sizes) - 1


def _reading(pair: Pair, tokens: Floats, values: Floats, count: int) -> PairReading:
    inside = np.flatnonzero(pair.units != NO_UNIT)
    standing = np.full(count, -np.inf)
    for unit in np.unique(pair.units[inside]):
        standing[unit] = tokens[pair.units == unit, _EVIDENCE].mean() - tokens[0, _EVIDENCE]
    span, words = _best_span(pair, tokens, inside)
    return PairReading(float(values[0]), float(values[1]), tuple(standing.tolist()), span, words)


def _best_span(pair: Pair, tokens: Floats, inside: Ints) -> tuple[float, tuple[int, int] | None]:
    if not len(inside):
        return -np.inf, None
    starts, ends = tokens[inside, _START], tokens[inside, _END]
    sums = starts[:, None] + ends[None, :]
    order = np.arange(len(inside))
    length = order[None, :] - order[:, None]
    sums[(length < 0) | (length >= LONGEST_ANSWER)] = -np.inf
    first, last = np.unravel_index(int(sums.argmax()), sums.shape)
    best = float(sums[first, last] - tokens[0, _START] - tokens[0, _END])
    return best, (int(pair.starts[inside[first]]), int(pair.ends[inside[last]]))


def _combine_windows(parts: Sequence[PairReading]) -> PairReading:
    """Take the best of each of several windows on one passage."""
    best = max(parts, key=lambda part: part.span)
    return PairReading(
        max(part.answerable for part in parts),
        max(part.support for part in parts),
        tuple(max(values) for values in zip(*(part.units for part in parts), strict=True)),
        best.span,
        best.words,
    )


def load_weights(path: Path = WEIGHTS) -> dict[str, Any]:
    """Load the weights by which the judge puts its readings together."""
    weights: dict[str, Any] = json.loads(path.read_text("ascii"))
    return weights
