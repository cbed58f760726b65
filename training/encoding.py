"""Examples -> the tokens that the judge reads: the text, then headings and passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.examples import Example

MOST_TOKENS = 256
NO_UNIT = -1
Ints = NDArray[np.int64]


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
    lead = f"{example.head}. " if example.head else ""
    found = tokenizer.encode(example.text, lead + example.passage)
    ids = np.array(found.ids)
    types = np.array(found.type_ids)
    units = np.full(len(ids), NO_UNIT)
    offsets = np.array(found.offsets) - len(lead)
    inside = (types == 1) & (offsets[:, 1] > offsets[:, 0]) & (offsets[:, 0] >= 0)
    starts = np.array([start for start, _ in example.units])
    units[inside] = np.searchsorted(starts, offsets[inside, 0], side="right") - 1
    span = None
    if example.span is not None:
        touched = np.flatnonzero(
            inside & (offsets[:, 0] < example.span[1]) & (offsets[:, 1] > example.span[0])
        )
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
