"""The streams of an answer that the clients return."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Self

from bythebook.client.results import ChatEvent


class ChatStream(Iterator[ChatEvent]):
    """The events of an answer; closing it early, best with `with`, closes the connection."""

    def __init__(self, events: Generator[ChatEvent, None, None]) -> None:
        self._events = events

    def __next__(self) -> ChatEvent:
        return next(self._events)

    def close(self) -> None:
        """Close the stream."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncChatStream(AsyncIterator[ChatEvent]):
    """The events of an answer; closing it early, best with `async with`, closes the connection."""

    def __init__(self, events: AsyncGenerator[ChatEvent, None]) -> None:
        self._events = events

    async def __anext__(self) -> ChatEvent:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
