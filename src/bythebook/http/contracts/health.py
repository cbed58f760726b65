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
FRESH_SECONDS = 1.0  # so that many requests do not cost many checks
EVERY_SECONDS = 30.0
RECENT_SECONDS = 2 * EVERY_SECONDS
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


class Examination:
    """The state of some parts, as a check found it a moment ago.

    Requests share a check and wait for it no longer than a moment: on a busy machine they get the
    result of the previous check, which a schedule keeps recent.
    """

    def __init__(
        self, checks: Mapping[str, Check], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._checks = checks
        self._clock = clock
        self._running: asyncio.Task[Health] | None = None
        self._last: Health | None = None
        self._last_at = 0.0

    async def result(self) -> Health:
        """Return the state of the parts, in words for the public."""
        age = self._clock() - self._last_at
        if self._last is not None and age < FRESH_SECONDS:
            return self._last
        check = self._share_check()
        known = self._last if age < RECENT_SECONDS else None
        await asyncio.wait({check}, timeout=MOMENT_SECONDS if known else None)
        return known if known is not None and not check.done() else check.result()

    async def run(self) -> None:
        """Check on a schedule until cancelled."""
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await asyncio.wait({self._share_check()})

    def _share_check(self) -> asyncio.Task[Health]:
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._examine())
        return self._running

    async def _examine(self) -> Health:
        self._last = await examine(self._checks, in_public=True)
        self._last_at = self._clock()
        return self._last


def health_router(ready: Examination, whole: Examination) -> APIRouter:
    """Make the health routes from the state of the required parts, and of all."""
    router = APIRouter(tags=["health"])

    @router.get("/livez", operation_id="livez", summary="Does the process run?")
    async def livez() -> Alive:
        """Answer 200 while the process runs."""
        return Alive()

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
