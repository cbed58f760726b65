"""HTTP clients for the SDKs: they limit the size of responses and follow no redirects."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar
from urllib.parse import urlsplit

import httpx

NO_KEY = "none"  # local servers need no key, but SDKs do
Client = TypeVar("Client")


class AnswerTooLarge(httpx.RequestError):
    """A response is larger than any valid one."""


class Connection(Generic[Client]):
    """An SDK's client, made on first use.

    Without `stay_connected` it keeps no connections between calls: it then works in any event
    loop, and there is nothing to close.
    """

    def __init__(
        self, base_url: str, make: Callable[[httpx.AsyncClient], Client], most_bytes: int
    ) -> None:
        self._base_url = base_url
        self._make = make
        self._most_bytes = most_bytes
        self._home: asyncio.AbstractEventLoop | None = None  # where connections stay open
        self._clients: dict[bool, tuple[httpx.AsyncClient, Client]] = {}  # by: keeps connections

    async def stay_connected(self) -> None:
        """Keep connections open between calls of this event loop, until cancelled."""
        self._home = asyncio.get_running_loop()
        try:
            await asyncio.Event().wait()
        finally:
            self._home = None
            kept = self._clients.pop(True, None)
            if kept is not None:
                await kept[0].aclose()

    async def client(self) -> Client:
        """Return the SDK's client; made in a thread, since loading the certificates is slow."""
        keep = self._home is asyncio.get_running_loop()
        if keep not in self._clients:
            http = await asyncio.to_thread(
                make_http_client, self._base_url, self._most_bytes, keep=keep
            )
            self._clients.setdefault(keep, (http, self._make(http)))
        return self._clients[keep][1]


def make_http_client(base_url: str, most_bytes: int, *, keep: bool) -> httpx.AsyncClient:
    """Make a client without its own timeout that follows no redirects."""

    async def limit_size(response: httpx.Response) -> None:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            # A few bytes could expand to gigabytes; no compression was requested.
            raise AnswerTooLarge("The answer is compressed.", request=response.request)
        response.stream = _LimitedStream(response, most_bytes)

    return httpx.AsyncClient(
        timeout=None,  # noqa: S113 - each attempt has a time limit as a whole
        limits=httpx.Limits(max_keepalive_connections=20 if keep else 0),
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        trust_env=not is_this_machine(base_url),  # no proxy for this machine
        event_hooks={"response": [limit_size]},
    )


def is_this_machine(url: str) -> bool:
    """Return True if an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _LimitedStream(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response, most: int) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream)  # noqa: S101 - of an async client
        self._inner = response.stream
        self._request = response.request
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for part in self._inner:
            read += len(part)
            if read > self._most:
                raise AnswerTooLarge("The answer is too large.", request=self._request)
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()
