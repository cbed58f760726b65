"""Whether the process runs, whether it can answer, and the state of each part."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from bythebook.errors import ByTheBookError, PartFailed

_log = logging.getLogger("bythebook.http")
MOMENT_SECONDS = 0.05
RECENT_SECONDS = 10.0
Check = Callable[[], Awaitable[None]]
PATHS = frozenset({"/livez", "/readyz", "/health"})


class Alive(BaseModel):
    """The process runs."""

    status: Literal["alive"] = Field("alive", description="Always this.")


class Part(BaseModel):
    """The state of one part."""

    status: Literal["ok", "failed"] = Field(description="Whether it worked just now.")
    latency_ms: float = Field(ge=0, description="How long it took.")
    message: str | None = Field(None, description="What is wrong, and what to do.")


class Health(BaseModel):
    """The state of all parts."""

    status: Literal["ok", "degraded"] = Field(description="Whether all parts work.")
    dependencies: dict[str, Part] = Field(description="Each part by its name.")


def health_router(needed: Mapping[str, Check], others: Mapping[str, Check]) -> APIRouter:
    """Make the health routes from the checks of required and of optional parts."""
    router = APIRouter(tags=["health"])

    @router.get("/livez", operation_id="livez", summary="Does the process run?")
    async def livez() -> Alive:
        """Answer 200 while the process runs."""
        return Alive()

    ready, whole = Examination(needed), Examination({**needed, **others})
    not_ready = {"model": Health, "description": "Questions cannot be answered now."}

    @router.get(
        "/readyz",
        response_model=Health,
        responses={503: not_ready},
        operation_id="readyz",
        summary="Can it answer?",
    )
    async def readyz() -> JSONResponse:
        """Answer 200 if questions can be answered, else 503."""
        health = await ready.result()
        return JSONResponse(health.model_dump(), 200 if health.status == "ok" else 503)

    @router.get("/health", operation_id="health", summary="What is the state of each part?")
    async def health() -> Health:
        """Return the state of each part."""
        return await whole.result()

    return router


class Examination:
    """Checks the parts once for all requests that come at the same time.

    Where a try takes longer than a moment, as it does on a busy machine, the result before it is
    given, if that is recent.
    """

    def __init__(self, checks: Mapping[str, Check]) -> None:
        self._checks = checks
        self._running: asyncio.Task[Health] | None = None
        self._last: Health | None = None
        self._last_at = 0.0

    async def result(self) -> Health:
        """Return the state of the parts, in words for the public."""
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._examine())
        running = self._running
        known = self._last if time.monotonic() - self._last_at < RECENT_SECONDS else None
        await asyncio.wait({running}, timeout=MOMENT_SECONDS if known else None)
        return running.result() if known is None or running.done() else known

    async def _examine(self) -> Health:
        self._last = await examine(self._checks, in_public=True)
        self._last_at = time.monotonic()
        return self._last


async def examine(checks: Mapping[str, Check], *, in_public: bool = False) -> Health:
    """Check each part once; public messages contain no path, host or machine name."""
    parts = {name: await _try(check, in_public=in_public) for name, check in checks.items()}
    well = all(part.status == "ok" for part in parts.values())
    return Health(status="ok" if well else "degraded", dependencies=parts)


async def _try(check: Check, *, in_public: bool) -> Part:
    started = time.perf_counter()
    message = None
    try:
        await check()
    except ByTheBookError as error:
        message = _public(error) if in_public else f"{error.what} {error.help_message}".strip()
    except Exception:  # noqa: BLE001 - a part that breaks in a new way is still only a part
        _log.exception("a health check failed")
        message = PartFailed.public
    latency = round((time.perf_counter() - started) * 1000, 1)
    return Part(status="failed" if message else "ok", latency_ms=latency, message=message)


def _public(error: ByTheBookError) -> str:
    return error.public if isinstance(error, PartFailed) else PartFailed.public
