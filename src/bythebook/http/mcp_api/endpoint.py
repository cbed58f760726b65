"""POST /mcp: the protocol's streamable HTTP, without sessions, so that any process can answer any call."""

import asyncio
import importlib.util
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from fastapi.requests import Request
from fastapi.responses import Response
from starlette.types import Message, Receive, Scope, Send

from bythebook.errors import Stopping
from bythebook.http.access.gate_routes import AskRoute
from bythebook.http.wire.draining import STOPPING, Draining
from bythebook.http.wire.problems import Problem, ProblemKind
from bythebook.operate.answerer import Answerer

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
STATUSES: Mapping[ProblemKind, int] = {"validation_failed": 400}
FAILED = (
    -32000
)  # of JSON-RPC's codes, the one for a server's own errors; `data.error` names the kind


def is_installed() -> bool:
    """Return True if the SDK is installed; it is an extra."""
    return importlib.util.find_spec("mcp") is not None


def mcp_router(endpoint: "McpEndpoint") -> APIRouter:
    """Make the route; its calls are described by the protocol itself."""
    router = APIRouter(include_in_schema=False, route_class=AskRoute)

    @router.post(PATH)
    async def call(_request: Request) -> Response:
        return McpReply(await endpoint.manager(), endpoint.draining)

    return router


class McpEndpoint:
    """Runs the SDK's session manager from the first call on, until the service stops."""

    def __init__(self, answerer: Answerer, version: str, draining: Draining) -> None:
        self._answerer = answerer
        self._version = version
        self.draining = draining
        self._starting: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def manager(self) -> "StreamableHTTPSessionManager":
        """Return the running manager; the first call loads the SDK, in a thread."""
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._starting))
        return await asyncio.shield(self._starting)

    async def close(self) -> None:
        """Stop the manager and whatever it still does."""
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def _run(self, started: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        try:
            manager = await asyncio.to_thread(self._make)
            async with manager.run():
                started.set_result(manager)
                await asyncio.Event().wait()
        except Exception as error:  # noqa: BLE001 - whoever waits for the manager gets it
            if not started.done():
                started.set_exception(error)
                self._starting = None  # the next call tries again

    def _make(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from bythebook.http.mcp_api.server import make_server

        return StreamableHTTPSessionManager(
            make_server(self._answerer, self._version), stateless=True
        )


class McpReply(Response):
    """Hands a request to the manager; the work stops when the client leaves or the service stops."""

    def __init__(self, manager: "StreamableHTTPSessionManager", draining: Draining) -> None:
        super().__init__()
        self._manager = manager
        self._draining = draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        body = await _read_body(receive)
        left = asyncio.Event()
        started = False

        async def receive_again() -> Message:
            nonlocal body
            if body is not None:
                message, body = {"type": "http.request", "body": body, "more_body": False}, None
                return message
            await left.wait()
            return {"type": "http.disconnect"}

        async def send_noting(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        working = asyncio.create_task(
            self._manager.handle_request(scope, receive_again, send_noting)
        )
        leaving = asyncio.create_task(_wait_for_disconnect(receive, left))
        try:
            with self._draining.call_on_stop(working.cancel):
                await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            working.cancel()
            await asyncio.gather(working, leaving, return_exceptions=True)
        if not working.cancelled() and (error := working.exception()):
            raise error
        if working.cancelled() and not started and not left.is_set():
            raise Stopping(STOPPING)


async def _read_body(receive: Receive) -> bytes | None:
    parts = []
    while (message := await receive())["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            break
    return b"".join(parts)


async def _wait_for_disconnect(receive: Receive, left: asyncio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    left.set()


def error_shape(_request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as JSON-RPC does."""
    data = {"error": problem.kind, "retry_after": problem.retry_after}
    error = {"code": FAILED, "message": problem.message, "data": data}
    return {"jsonrpc": "2.0", "id": None, "error": error}
