"""Clients that leave before their answer: the work for them stops, and their place in the queue is free."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

CLIENT_LEFT = 499  # not an HTTP status, but what proxies log
_Result = TypeVar("_Result")


async def work_while_connected(request: Request, work: Coroutine[Any, Any, _Result]) -> _Result:
    """Do the work of a request whose body has been read; raise ClientDisconnect if its client leaves."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(wait_for_disconnect(request.receive))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def wait_for_disconnect(receive: Receive) -> None:
    """Wait until the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
