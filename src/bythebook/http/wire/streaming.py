"""Events of an answer -> server-sent events, ended by exactly one of `done` and `error`."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, Protocol

from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.types import Receive, Scope, Send

from bythebook.errors import ByTheBookError, Stopping
from bythebook.http.wire.draining import STOPPING, Draining
from bythebook.http.wire.leaving import wait_for_disconnect
from bythebook.http.wire.problems import Problem, ProblemKind, problem_of

HEARTBEAT_SECONDS = 15.0
MOST_UNSENT = 100  # events: several times those of any answer, so that a slow reader blocks nothing
_HEARTBEAT = b": heartbeat\n\n"
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}  # the latter stops nginx
_log = logging.getLogger("bythebook.http")

EventName = Literal["retrieval", "content", "done", "error"]


class WireEvent(Protocol):
    """What a stream sends."""

    @property
    def ends(self) -> bool:
        """True for the last event of a stream."""
        ...

    def encode(self) -> bytes:
        """Write the event as text/event-stream."""
        ...


class StreamError(BaseModel):
    """A failure after the stream began."""

    error: ProblemKind
    message: str = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event as it is sent."""

    name: EventName
    content: BaseModel

    @property
    def ends(self) -> bool:
        """True for the last event of a stream."""
        return self.name in {"done", "error"}

    def encode(self) -> bytes:
        """Write the event as text/event-stream; its JSON has no line breaks."""
        return f"event: {self.name}\ndata: {self.content.model_dump_json()}\n\n".encode()


def error_event(problem: Problem) -> StreamEvent:
    """Write a failure as the last event of a stream."""
    return StreamEvent("error", StreamError(error=problem.kind, message=problem.message))


class EventStream(StreamingResponse):
    """Streams events as they come; a failure before the first is an HTTP error.

    The work goes on at its own pace while the client reads slowly, until MOST_UNSENT events wait;
    it stops when the client goes away.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[WireEvent],
        draining: Draining,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
        *,
        write_failure: Callable[[Problem], WireEvent] = error_event,
    ) -> None:
        super().__init__((), headers=_HEADERS)
        self._events = events
        self._draining = draining
        self._heartbeat_seconds = heartbeat_seconds
        self._write_failure = write_failure
        self._steps: asyncio.Queue[WireEvent | Exception] = asyncio.Queue()
        self._room = asyncio.Semaphore(MOST_UNSENT)
        self._started = False

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Work, send and watch the client; end all three together."""
        telling = asyncio.create_task(self._tell(send))
        leaving = asyncio.create_task(wait_for_disconnect(receive))
        tasks = (asyncio.create_task(self._work()), leaving, telling)
        try:
            with self._draining.call_on_stop(lambda: self._steps.put_nowait(Stopping(STOPPING))):
                await asyncio.wait((leaving, telling), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        error = None if telling.cancelled() else telling.exception()
        if error and not (self._started and isinstance(error, OSError)):  # that: the client left
            raise error

    async def _work(self) -> None:
        failure: Exception = RuntimeError("the work ended without a last event")
        try:
            async with aclosing(self._events) as events:
                async for event in events:
                    await self._room.acquire()
                    self._steps.put_nowait(event)
        except Exception as error:  # noqa: BLE001 - every failure has to reach the client
            failure = error
        finally:
            self._steps.put_nowait(failure)  # nothing is read after a last event

    async def _tell(self, send: Send) -> None:
        step = await self._steps.get()
        if isinstance(step, Exception):
            raise step
        self._started = True
        headers = self.raw_headers
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send(send, step.encode())
        while not step.ends:
            step = await self._next(send)
            await _send(send, step.encode())
        await _send(send, b"", more=False)

    async def _next(self, send: Send) -> WireEvent:
        """Wait for an event; send a keep-alive if it takes long."""
        while True:
            try:
                # Not wait_for, which may swallow a cancellation at the moment of an event.
                async with asyncio.timeout(self._heartbeat_seconds):
                    step = await self._steps.get()
            except TimeoutError:
                await _send(send, _HEARTBEAT)
            else:
                self._room.release()
                if not isinstance(step, Exception):
                    return step
                if not isinstance(step, ByTheBookError):
                    _log.error("a stream failed", exc_info=step)
                return self._write_failure(problem_of(step))


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
