"""What an embedder sent -> vectors that can be stored, or an error: never something in between."""

from collections.abc import Mapping, Sequence

import numpy as np

from bythebook.errors import EmbedderFailed
from bythebook.ports import Vector, Vectors

_SHORTEST = 1e-9  # length of a vector that still points somewhere
_CLEARLY = 0.03  # difference of cosines


def checked_vectors(
    name: str, rows: Sequence[Sequence[float]] | None, count: int, dimension: int | None
) -> Vectors:
    """Give vectors of length one, in the order of the rows; `dimension` is None if not yet known."""
    if not isinstance(rows, Sequence) or len(rows) != count:
        sent = len(rows) if isinstance(rows, Sequence) else "no"
        raise _unusable(name, f"{sent} vectors for {count} texts")
    numbers = _numbers(name, rows)
    if numbers.ndim != 2 or numbers.shape[1] == 0:
        raise _unusable(name, "vectors of different lengths")
    if dimension is not None and numbers.shape[1] != dimension:
        wrong = _unusable(name, f"vectors of {numbers.shape[1]} numbers where {dimension} were due")
        wrong.retryable = False  # another model answers there
        raise wrong
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise _unusable(name, "numbers that are not finite")
    if (lengths < _SHORTEST).any():
        raise _unusable(name, "a vector of zeros")
    vectors: Vectors = (numbers / lengths).astype(np.float32)
    return vectors


def in_order(
    name: str, numbered: Sequence[tuple[object, Sequence[float]]]
) -> list[Sequence[float]]:
    """Put rows that carry their place into it; each place must be there once."""
    places: Mapping[object, Sequence[float]] = dict(numbered)
    if any(type(place) is not int for place, _ in numbered) or set(places) != set(
        range(len(numbered))
    ):
        raise _unusable(name, "vectors whose places do not fit the texts")
    return [places[place] for place in range(len(numbered))]


def require_echo(name: str, texts: Sequence[str], echo: Sequence[str] | None) -> None:
    """Refuse an answer that repeats the texts in another order.

    A provider may write them in its own way (lower case, other white space), so that only a text
    which is clearly another one of those that were sent counts.
    """
    if not isinstance(echo, Sequence) or len(echo) != len(texts):
        return
    sent = [_folded(text) for text in texts]
    every = frozenset(sent)
    for own, repeated in zip(sent, map(_folded, echo), strict=True):
        if repeated != own and repeated in every:
            raise _unusable(name, "vectors in another order than the texts")


def probed_places(count: int) -> tuple[int, ...]:
    """Choose the texts of a batch that are embedded once more alone: the first and the middle one.

    A batch that came back reversed, rotated or sorted has at least one of them elsewhere.
    """
    return tuple(dict.fromkeys((0, count // 2))) if count > 2 else (0,) if count == 2 else ()


def require_own(name: str, vectors: Vectors, place: int, alone: Vector) -> None:
    """Refuse a batch in which a text, embedded alone, is clearly nearer to another one's vector.

    Places may be right in name only, and some providers give none. A text never has quite the same
    vector twice, and other texts may be much like it: so only a clear difference counts.
    """
    likeness = vectors @ alone
    if likeness.max() - likeness[place] > _CLEARLY:
        mixed = _unusable(name, "vectors that belong to other texts of the batch")
        mixed.retryable = False  # who mixes up one batch does so with others
        raise mixed


def _folded(text: object) -> str:
    return " ".join(str(text).casefold().split())


def _numbers(
    name: str, rows: Sequence[Sequence[float]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    try:
        numbers = np.asarray(rows)
    except ValueError:  # rows of different lengths
        raise _unusable(name, "vectors of different lengths") from None
    if numbers.dtype.kind not in "fi":
        raise _unusable(name, "something else than numbers")
    return numbers.astype(np.float64)


def _unusable(name: str, sent: str) -> EmbedderFailed:
    return EmbedderFailed(
        f"{name} sent {sent}.", "Nothing was stored; try again, or check the embedder's settings."
    )
