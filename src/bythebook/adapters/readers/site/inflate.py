"""Decompresses bodies in small steps, so that a bomb is detected before it fills the memory."""

import zlib
from collections.abc import Iterable, Iterator

from bythebook.adapters.readers.site.limits import FetchFailed

_STEP = 64 * 1024
_MAX_RATIO = 200  # inflated to packed; markup packs a hundredfold at the very most
_WINDOWS = {
    "gzip": zlib.MAX_WBITS | 16,
    "x-gzip": zlib.MAX_WBITS | 16,
    "deflate": zlib.MAX_WBITS,
}


def inflate(pieces: Iterable[bytes], encoding: str, most: int) -> Iterator[bytes]:
    """Decompress a body piece by piece; raise FetchFailed above the size limit."""
    stream = _stream(encoding.strip().lower())
    coming = size = 0
    for piece in pieces:
        coming += len(piece)
        for part in stream.parts(piece) if stream else (piece,):
            size += len(part)
            if max(coming, size) > most:
                read = coming - stream.waiting_bytes if stream else coming
                raise _too_large(read, size, most)
            yield part
    if stream:
        yield stream.end()


def _too_large(packed: int, size: int, most: int) -> FetchFailed:
    if size > packed * _MAX_RATIO:
        what = f"It is a decompression bomb: {packed:,} bytes inflate to more than {most:,}."
        return FetchFailed(what, status=200)
    return FetchFailed(f"It is larger than {most:,} bytes.", status=200)


def _stream(encoding: str) -> "_Stream | None":
    if encoding in {"", "identity"}:
        return None
    if encoding not in _WINDOWS:
        raise FetchFailed(f"Its encoding {encoding[:40]!r} cannot be read.", status=200)
    return _Stream(_WINDOWS[encoding])


class _Stream:
    """One compressed stream; anything after its end is ignored."""

    def __init__(self, window: int) -> None:
        self._inflate = zlib.decompressobj(window)
        self._may_be_bare = window == zlib.MAX_WBITS  # some send deflate without its header

    @property
    def waiting_bytes(self) -> int:
        """How much of the last piece is not inflated yet."""
        return len(self._inflate.unconsumed_tail)

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
