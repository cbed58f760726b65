"""Checks of an embedder's vectors before they are stored."""

from collections.abc import Mapping, Sequence

import numpy as np

from bythebook.errors import EmbedderFailed
from bythebook.ports import Vector, Vectors

_SHORTEST = 1e-9  # length of a vector that has a direction
_CLEARLY = 0.03  # difference of cosines that counts


def normalize_vectors(
    name: str, rows: Sequence[Sequence[float]] | None, count: int, dimension: int | None
) -> Vectors:
    """Return vectors of length one, in the order of the rows; `dimension` is None if not yet known."""
    if not isinstance(rows, Sequence) or len(rows) != count:
        sent = len(rows) if isinstance(rows, Sequence) else "no"
        raise _make_bad_vectors_error(name, f"{sent} vectors for {count} texts")
    numbers = _to_array(name, rows)
    if numbers.ndim != 2 or numbers.shape[1] == 0:
        raise _make_bad_vectors_error(name, "vectors of different lengths")
    if dimension is not None and numbers.shape[1] != dimension:
        wrong = _make_bad_vectors_error(
            name, f"vectors of {numbers.shape[1]} numbers where {dimension} were expected"
        )
        wrong.retryable = False  # it is another model
        raise wrong
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise _make_bad_vectors_error(name, "numbers that are not finite")
    if (lengths < _SHORTEST).any():
        raise _make_bad_vectors_error(name, "a vector of zeros")
    vectors: Vectors = (numbers / lengths).astype(np.float32)
    return vectors


def order_rows(
    name: str, numbered: Sequence[tuple[object, Sequence[float]]]
) -> list[Sequence[float]]:
    """Sort rows by their index; each index must occur once."""
    places: Mapping[object, Sequence[float]] = dict(numbered)
    if any(type(place) is not int for place, _ in numbered) or set(places) != set(
        range(len(numbered))
    ):
        raise _make_bad_vectors_error(name, "vectors whose indexes do not match the texts")
    return [places[place] for place in range(len(numbered))]


def require_echo(name: str, texts: Sequence[str], echo: Sequence[str] | None) -> None:
    """Raise EmbedderFailed if the provider repeats the texts in another order.

    A provider may change case and white space, so only a text that clearly equals another one of
    the texts counts.
    """
    if not isinstance(echo, Sequence) or len(echo) != len(texts):
        return
    sent = [_normalize_text(text) for text in texts]
    every = frozenset(sent)
    for own, repeated in zip(sent, map(_normalize_text, echo), strict=True):
        if repeated != own and repeated in every:
            raise _make_bad_vectors_error(name, "vectors in another order than the texts")


def choose_probes(count: int) -> tuple[int, ...]:
    """Choose the texts of a batch to embed again on their own: the first and the middle one.

    If a batch comes back reversed, rotated or sorted, at least one of them has moved.
    """
    return tuple(dict.fromkeys((0, count // 2))) if count > 2 else (0,) if count == 2 else ()


def require_own(name: str, vectors: Vectors, place: int, alone: Vector) -> None:
    """Raise EmbedderFailed if a text, embedded on its own, is clearly nearer to another text's vector.

    The indexes may be wrong, and some providers send none. A text never gets exactly the same
    vector twice, and other texts may be similar, so only a clear difference counts.
    """
    similarity = vectors @ alone
    if similarity.max() - similarity[place] > _CLEARLY:
        mixed = _make_bad_vectors_error(name, "vectors that belong to other texts of the batch")
        mixed.retryable = False  # other batches would be mixed up as well
        raise mixed


def _normalize_text(text: object) -> str:
    return " ".join(str(text).casefold().split())


def _to_array(
    name: str, rows: Sequence[Sequence[float]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    try:
        numbers = np.asarray(rows)
    except ValueError:  # rows of different lengths
        raise _make_bad_vectors_error(name, "vectors of different lengths") from None
    if numbers.dtype.kind not in "fi":
        raise _make_bad_vectors_error(name, "values that are not numbers")
    return numbers.astype(np.float64)


def _make_bad_vectors_error(name: str, sent: str) -> EmbedderFailed:
    return EmbedderFailed(
        f"{name} sent {sent}.", "Nothing was stored; try again, or check the embedder's settings."
    )
