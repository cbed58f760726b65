"""Texts as words with hashes, so that a run of words can be found by its hash alone."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
# Words, and every symbol by itself, but no white space and nothing invisible.
_WORD = re.compile(r"\w+|[^\w\s\u00ad\u180e\u200b-\u200f\u2060\ufeff]")
_ALIKE = str.maketrans(
    dict.fromkeys("‘’‛", "'") | dict.fromkeys("“”„‟", '"') | dict.fromkeys("‐‑–", "-")
)
_BASE: Final = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_MODULUS: Final = 2**64
_INVERSE: Final = pow(_BASE, -1, _MODULUS)
_KEPT_BITS: Final = 48  # of a run's hash; its high bits depend on every word
HASH_BYTES: Final = _KEPT_BITS // 8


def find_words(text: str) -> list[tuple[int, int]]:
    """Return where each word of a text begins and ends."""
    return [match.span() for match in _WORD.finditer(text)]


def hash_words(text: str, spans: Iterable[tuple[int, int]]) -> list[int]:
    """Hash each word; kinds of quotes and dashes, and ways to write an accent, are alike."""
    return [_hash_word(text[start:end]) for start, end in spans]


@lru_cache(maxsize=1 << 18)
def _hash_word(word: str) -> int:
    plain = unicodedata.normalize("NFC", word.translate(_ALIKE))
    return int.from_bytes(blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def hash_run(hashes: Iterable[int]) -> int:
    """Hash a run of words by their hashes and their order."""
    total, power = 0, 1
    for one in hashes:
        total, power = total + one * power, power * _BASE % _MODULUS
    return total % _MODULUS >> (64 - _KEPT_BITS)


class Runs:
    """The hashes of all runs of a sequence of words."""

    def __init__(self, hashes: Hashes) -> None:
        self.words = len(hashes)
        self._inverses = _powers(_INVERSE, self.words + 1)
        sums = np.cumsum(hashes * _powers(_BASE, self.words), dtype=np.uint64)
        self._sums = np.concatenate((np.zeros(1, np.uint64), sums))

    def of(self, count: int) -> Hashes:
        """Return the hash of the run of so many words that begins at each place."""
        if not 0 < count <= self.words:
            return np.empty(0, np.uint64)
        totals = self._sums[count:] - self._sums[:-count]
        return (totals * self._inverses[: len(totals)]) >> np.uint64(64 - _KEPT_BITS)


def _powers(base: int, count: int) -> Hashes:
    powers = np.full(count, base, np.uint64)
    powers[:1] = 1
    return np.cumprod(powers, dtype=np.uint64)  # modulo 2**64
