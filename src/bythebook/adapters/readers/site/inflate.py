"""Compressed bodies, inflated in small steps: a bomb is seen before it fills the memory."""

import zlib
from collections.abc import Iterable, Iterator

from bythebook.adapters.readers.site.limits import FetchFailed

_STEP = 64 * 1024
_WINDOWS = {
    "gzip": zlib.MAX_WBITS | 16,
    "x-gzip": zlib.MAX_WBITS | 16,
    "deflate": zlib.MAX_WBITS,
}


def inflated(pieces: Iterable[bytes], encoding: str, most: int) -> Iterator[bytes]:
    """Inflate a body piece by piece; raise FetchFailed once it is more than it may be."""
    stream = _stream(encoding.strip().lower())
    coming = size = 0
    for piece in pieces:
        coming += len(piece)
        for part in stream.parts(piece) if stream else (piece,):
            size += len(part)
            if max(coming, size) > most:
                raise FetchFailed(f"It is larger than {most:,} bytes.", status=200)
            yield part
    if stream:
        yield stream.end()


def _stream(encoding: str) -> "_Stream | None":
    if encoding in {"", "identity"}:
        return None
    if encoding not in _WINDOWS:
        raise FetchFailed(f"Its encoding {encoding[:40]!r} cannot be read.", status=200)
    return _Stream(_WINDOWS[encoding])


class _Stream:
    """One compressed stream; what follows its end is not read."""

    def __init__(self, window: int) -> None:
        self._inflate = zlib.decompressobj(window)
        self._may_be_bare = window == zlib.MAX_WBITS  # some send deflate without its header

    def parts(self, piece: bytes) -> Iterator[bytes]:
        yield b""  # a piece that inflates to nothing is counted as well
        rest = piece
        while rest and not self._inflate.eof:
            part = self._step(rest)
            rest = self._inflate.unconsumed_tail
            yield part

    def end(self) -> bytes:
        rest = self._inflate.flush()
        if not self._inflate.eof:
            raise FetchFailed("It came in part only.", may_pass=True)
        return rest

    def _step(self, piece: bytes) -> bytes:
        try:
            part = self._inflate.decompress(piece, _STEP)
        except zlib.error as error:
            if not self._may_be_bare:
                raise FetchFailed("Its compression is damaged.", status=200) from error
            self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
            self._may_be_bare = False
            return self._step(piece)
        self._may_be_bare = False
        return part
