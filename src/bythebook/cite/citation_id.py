"""A citation -> the id in its permalink: book, place, and hashes of the words and of those around them."""

import base64
import binascii
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from bythebook.cite.words import HASH_BYTES, find_words, hash_run, hash_words

_VERSION: Final = 1
_NEIGHBOURS: Final = 8  # words on each side; a chunk may have fewer
_DOCUMENT_BYTES, _NEIGHBOUR_BYTES = 3, 2
_NEIGHBOUR_SHIFT = 8 * (HASH_BYTES - _NEIGHBOUR_BYTES)
_ID = re.compile(r"([a-z0-9][a-z0-9_-]{0,63})\.([A-Za-z0-9_-]{20,40})")
_MOST = 2**28  # of a number in an id


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A run of words next to a quote: how many, and the begin of their hash."""

    count: int
    check: int

    def fits(self, run: int) -> bool:
        """Return True if a run of as many words may be this one."""
        return run >> _NEIGHBOUR_SHIFT == self.check


@dataclass(frozen=True, slots=True)
class CitationId:
    """What an id says of a citation; it holds none of the book's words."""

    book_id: str
    document: int  # hash of the document's id
    start: int  # offset in the document's text
    words: int
    run: int  # hash of the words
    before: Neighbours
    after: Neighbours

    def __str__(self) -> str:
        value = b"".join(
            (
                bytes((_VERSION, self.before.count << 4 | self.after.count)),
                self.document.to_bytes(_DOCUMENT_BYTES),
                self.run.to_bytes(HASH_BYTES),
                self.before.check.to_bytes(_NEIGHBOUR_BYTES),
                self.after.check.to_bytes(_NEIGHBOUR_BYTES),
                _write_number(self.words),
                _write_number(self.start),
            )
        )
        return f"{self.book_id}.{base64.urlsafe_b64encode(value).decode().rstrip('=')}"


def make_citation_id(
    book_id: str, document_id: str, text: str, span: tuple[int, int], offset: int = 0
) -> CitationId:
    """Make the id of a span of a text, which begins at an offset of its document."""
    start, end = span
    quote, before, after = text[start:end], text[:start], text[end:]
    words = hash_words(quote, find_words(quote))
    return CitationId(
        book_id,
        hash_document(document_id),
        offset + start,
        len(words),
        hash_run(words),
        _neighbours(hash_words(before, find_words(before)[-_NEIGHBOURS:])),
        _neighbours(hash_words(after, find_words(after)[:_NEIGHBOURS])),
    )


def read_citation_id(given: str) -> CitationId | None:
    """Read an id; None if it is none."""
    match = _ID.fullmatch(given)
    if match is None:
        return None
    try:
        value = base64.urlsafe_b64decode(match[2] + "=" * (-len(match[2]) % 4))
        return _read(match[1], _Bytes(value))
    except (binascii.Error, IndexError, ValueError):
        return None


def hash_document(document_id: str) -> int:
    """Hash the id of a document, to tell the documents of one book apart."""
    digest = blake2b(document_id.encode("utf-8", "surrogatepass"), digest_size=_DOCUMENT_BYTES)
    return int.from_bytes(digest.digest())


def _neighbours(words: list[int]) -> Neighbours:
    return Neighbours(len(words), hash_run(words) >> _NEIGHBOUR_SHIFT)


class _Bytes:
    """Reads bytes from the first on; raises IndexError beyond the last."""

    def __init__(self, value: bytes) -> None:
        self._value, self._at = value, 0

    def take(self, count: int) -> int:
        self._at += count
        if self._at > len(self._value):
            raise IndexError
        return int.from_bytes(self._value[self._at - count : self._at])

    def take_number(self) -> int:
        number = shift = 0
        while (byte := self.take(1)) & 0x80:
            number, shift = number | (byte & 0x7F) << shift, shift + 7
            if number >= _MOST:
                raise ValueError
        return number | byte << shift

    @property
    def is_read(self) -> bool:
        return self._at == len(self._value)


def _read(book_id: str, value: _Bytes) -> CitationId:
    version, counts = value.take(1), value.take(1)
    document, run = value.take(_DOCUMENT_BYTES), value.take(HASH_BYTES)
    before, after = value.take(_NEIGHBOUR_BYTES), value.take(_NEIGHBOUR_BYTES)
    words, start = value.take_number(), value.take_number()
    if version != _VERSION or not words or not value.is_read:
        raise ValueError
    return CitationId(
        book_id,
        document,
        start,
        words,
        run,
        Neighbours(counts >> 4, before),
        Neighbours(counts & 15, after),
    )


def _write_number(number: int) -> bytes:
    """Write a number in as few bytes as it needs, low bits first."""
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*written, number))
