"""No response grows beyond what an answer may be, whatever it is made of."""

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2


class TooLarge(Exception):
    """A response went on and on."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int, longest_line: int) -> None:
        self._stream = stream
        self._left = most
        self._longest_line = longest_line
        self._line = 0  # bytes since the last line break

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            broken = piece.rfind(b"\n")
            self._line = self._line + len(piece) if broken < 0 else len(piece) - broken - 1
            if self._left < 0 or self._line > self._longest_line:
                raise TooLarge
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounding(most: int, longest_line: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Make a hook that has responses, and the lines of each, counted in bytes while they are read."""

    async def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, most, longest_line)

    return bound
