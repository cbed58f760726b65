"""Limits the size of responses and of their lines."""

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2


class ResponseTooLarge(Exception):
    """A response exceeded its limit."""


class _LimitedStream(httpx2.AsyncByteStream):
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
                raise ResponseTooLarge
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def limit_sizes(most: int, longest_line: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Make a hook that counts the bytes of responses, and of their lines, while they are read."""

    async def limit(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedStream(response.stream, most, longest_line)

    return limit
