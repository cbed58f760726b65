"""The two clients: calls are built and read in common, only sending differs."""

import asyncio
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx
from pydantic import SecretStr

from bythebook.client import calls
from bythebook.client.calls import Call
from bythebook.client.events import ChatReader
from bythebook.client.failures import error_of, failures_told, retry_after
from bythebook.client.results import ChatEvent

P = ParamSpec("P")
T = TypeVar("T")
Sender = httpx.Client | httpx.AsyncClient
SECONDS = 60.0  # without a byte; a stream sends a sign of life more often
_LONGEST_PAUSE = 60  # seconds; a service that wants more is left to the caller
_WORTH_RETRYING = frozenset({429, 503})


class _Terms:
    """What both clients know: where the service is, the key, and how often to try again."""

    def __init__(self, base_url: str, key: str | None, retries: int) -> None:
        if key is not None and not (key and key.isascii() and key.isprintable()):
            raise ValueError("key must be printable ASCII")  # and is not repeated here
        self._base_url = base_url.rstrip("/")
        self._key = SecretStr(key) if key else None
        self._retries = retries

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._base_url!r})"

    def _request(self, sender: Sender, call: Call[Any]) -> httpx.Request:
        headers = {"Accept": "text/event-stream" if call.streams else "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        if call.request_id is not None:
            headers["X-Request-ID"] = str(call.request_id)
        url = self._base_url + call.path
        return sender.build_request(call.method, url, headers=headers, json=call.body)

    def _pause(self, response: httpx.Response, attempt: int) -> int | None:
        """Give the seconds to wait before another attempt; none where that makes no sense."""
        seconds = retry_after(response)
        if response.status_code not in _WORTH_RETRYING or attempt >= self._retries:
            return None
        return seconds if seconds is not None and seconds <= _LONGEST_PAUSE else None


class ChatStream(Iterator[ChatEvent]):
    """The events of an answer; leaving them early, best by `with`, closes the connection."""

    def __init__(self, events: Generator[ChatEvent, None, None]) -> None:
        self._events = events

    def __next__(self) -> ChatEvent:
        return next(self._events)

    def close(self) -> None:
        """Leave the stream."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncChatStream(AsyncIterator[ChatEvent]):
    """The events of an answer; leaving them early, best by `async with`, closes the connection."""

    def __init__(self, events: AsyncGenerator[ChatEvent, None]) -> None:
        self._events = events

    async def __anext__(self) -> ChatEvent:
        return await anext(self._events)

    async def aclose(self) -> None:
        """Leave the stream."""
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _blocking(build: Callable[P, Call[T]]) -> Callable[Concatenate["Client", P], T]:
    @wraps(build)
    def method(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client.send(build(*args, **kwargs))

    return method


def _blocking_stream(
    build: Callable[P, Call[T]],
) -> Callable[Concatenate["Client", P], ChatStream]:
    @wraps(build)
    def method(client: "Client", /, *args: P.args, **kwargs: P.kwargs) -> ChatStream:
        return client.stream(build(*args, **kwargs).streamed())

    return method


def _awaited(
    build: Callable[P, Call[T]],
) -> Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, T]]:
    @wraps(build)
    def method(
        client: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, T]:
        return client.send(build(*args, **kwargs))

    return method


def _awaited_stream(
    build: Callable[P, Call[T]],
) -> Callable[Concatenate["AsyncClient", P], AsyncChatStream]:
    @wraps(build)
    def method(client: "AsyncClient", /, *args: P.args, **kwargs: P.kwargs) -> AsyncChatStream:
        return client.stream(build(*args, **kwargs).streamed())

    return method


class Client(_Terms):
    """Calls a service and waits for the answer.

    `retries` is how often a 429 or 503 is tried again, after the time that the service names.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        timeout: float = SECONDS,
        retries: int = 0,
        http: httpx.Client | None = None,  # one of your own, which stays open and keeps its timeout
    ) -> None:
        super().__init__(base_url, key, retries)
        self._sender = http or httpx.Client(timeout=timeout)
        self._owned = http is None

    query = _blocking(calls.query)
    rag = _blocking(calls.rag)
    chat = _blocking(calls.chat)
    chat_stream = _blocking_stream(calls.chat)
    history = _blocking(calls.history)
    delete_session = _blocking(calls.delete_session)
    ask = _blocking(calls.ask)
    search = _blocking(calls.search)
    feedback = _blocking(calls.feedback)
    health = _blocking(calls.health)

    def send(self, call: Call[T]) -> T:
        """Make a call and read its result."""
        with failures_told():
            return call.read(self._opened(call).content)

    def stream(self, call: Call[Any]) -> ChatStream:
        """Make a call when the first event is wanted, and give its events as they come."""
        return ChatStream(self._events(call))

    def _events(self, call: Call[Any]) -> Generator[ChatEvent, None, None]:
        with failures_told():
            response = self._opened(call)
            try:
                reader = ChatReader(response.headers.get("X-Request-ID"))
                for piece in response.iter_bytes():
                    yield from reader.feed(piece)
                    if reader.ended:
                        return
                reader.close()
            finally:
                response.close()

    def _opened(self, call: Call[Any]) -> httpx.Response:
        attempt = 0
        while True:
            request = self._request(self._sender, call)
            response = self._sender.send(request, stream=call.streams)
            if response.is_success:
                return response
            try:
                response.read()
            finally:
                response.close()
            pause = self._pause(response, attempt)
            if pause is None:
                raise error_of(response)
            time.sleep(pause)
            attempt += 1

    def close(self) -> None:
        """Let go of connections."""
        if self._owned:
            self._sender.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Terms):
    """Calls a service and lets others run meanwhile; otherwise as Client."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        timeout: float = SECONDS,
        retries: int = 0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        super().__init__(base_url, key, retries)
        self._sender = http or httpx.AsyncClient(timeout=timeout)
        self._owned = http is None

    query = _awaited(calls.query)
    rag = _awaited(calls.rag)
    chat = _awaited(calls.chat)
    chat_stream = _awaited_stream(calls.chat)
    history = _awaited(calls.history)
    delete_session = _awaited(calls.delete_session)
    ask = _awaited(calls.ask)
    search = _awaited(calls.search)
    feedback = _awaited(calls.feedback)
    health = _awaited(calls.health)

    async def send(self, call: Call[T]) -> T:
        """Make a call and read its result."""
        with failures_told():
            return call.read((await self._opened(call)).content)

    def stream(self, call: Call[Any]) -> AsyncChatStream:
        """Make a call when the first event is wanted, and give its events as they come."""
        return AsyncChatStream(self._events(call))

    async def _events(self, call: Call[Any]) -> AsyncGenerator[ChatEvent, None]:
        with failures_told():
            response = await self._opened(call)
            try:
                reader = ChatReader(response.headers.get("X-Request-ID"))
                async for piece in response.aiter_bytes():
                    for event in reader.feed(piece):
                        yield event
                    if reader.ended:
                        return
                reader.close()
            finally:
                await response.aclose()

    async def _opened(self, call: Call[Any]) -> httpx.Response:
        attempt = 0
        while True:
            request = self._request(self._sender, call)
            response = await self._sender.send(request, stream=call.streams)
            if response.is_success:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
            pause = self._pause(response, attempt)
            if pause is None:
                raise error_of(response)
            await asyncio.sleep(pause)
            attempt += 1

    async def aclose(self) -> None:
        """Let go of connections."""
        if self._owned:
            await self._sender.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
