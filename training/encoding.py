"""Examples -> the tokens that the judge reads: the text, then headings and passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from bythebook.adapters.models.judge_model import MOST_TOKENS, NO_UNIT, Ints, encode_pair
from training.examples import Example


@dataclass(frozen=True, slots=True)
class Encoded:
    """One example as tokens, each with the unit it belongs to."""

    example: Example
    ids: Ints
    types: Ints
    units: Ints  # per token; NO_UNIT outside the passage
    evidence: tuple[int, ...]
    span: tuple[int, int] | None  # first and last token of the answer


def encode(examples: Sequence[Example], tokenizer_file: Path) -> list[Encoded]:
    """Encode examples; a passage too long is cut to whole units around its evidence."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return [one for example in examples if (one := _encode(example, tokenizer)) is not None]


def _encode(example: Example, tokenizer: Tokenizer) -> Encoded | None:
    begins = [start for start, _ in example.units]
    pair = encode_pair(tokenizer, example.text, example.head, example.passage, begins)
    ids, types, units = pair.ids, pair.types, pair.units
    span = None
    if example.span is not None:
        first, last = example.span
        touched = np.flatnonzero((units != NO_UNIT) & (pair.starts < last) & (pair.ends > first))
        span = (int(touched[0]), int(touched[-1])) if len(touched) else None
    if len(ids) > MOST_TOKENS:
        kept = _window(units, example.evidence)
        if kept is None:
            return None
        ids, types, units = ids[kept], types[kept], units[kept]
        if span is not None:
            moved = np.flatnonzero(np.isin(kept, span))
            span = (
                (int(moved[0]), int(moved[-1]))
                if len(moved) and span[0] in kept and span[1] in kept
                else None
            )
    return Encoded(example, ids, types, units, example.evidence, span)


def _window(units: Ints, evidence: Sequence[int]) -> Ints | None:
    """Keep the head, the evidence and as many units beside it as fit; none where it does not fit."""
    sizes = np.bincount(units[units != NO_UNIT])
    room = MOST_TOKENS - int((units == NO_UNIT).sum())
    low = evidence[0] if evidence else 0
    high = evidence[-1] if evidence else 0
    used = int(sizes[low : high + 1].sum())
    if used > room:
        return None
    while True:
        before = used + int(sizes[low - 1]) if low > 0 else room + 1
        after = used + int(sizes[high + 1]) if high + 1 < len(sizes) else room + 1
        if after <= room:
            high, used = high + 1, after
        elif before <= room:
            low, used = low - 1, before
        else:
            break
    keep = (units == NO_UNIT) | ((units >= low) & (units <= high))
    return np.flatnonzero(keep)
