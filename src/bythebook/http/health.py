"""Whether the process lives, whether it can answer, and how each part does."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from bythebook.errors import ByTheBookError

_log = logging.getLogger("bythebook.http")
Check = Callable[[], Awaitable[None]]


class Alive(BaseModel):
    """The process runs."""

    status: Literal["alive"] = "alive"


class Part(BaseModel):
    """How one part does."""

    status: Literal["ok", "failed"]
    latency_ms: float
    message: str | None = None


class Health(BaseModel):
    """How all parts do."""

    status: Literal["ok", "degraded"]
    dependencies: dict[str, Part]


def health_router(checks: Mapping[str, Check]) -> APIRouter:
    """Make the health routes; exempt from keys and limits."""
    router = APIRouter(tags=["health"])

    @router.get("/livez")
    async def livez() -> Alive:
        """Say that the process runs."""
        return Alive()

    @router.get("/readyz", response_model=Health, responses={503: {"model": Health}})
    async def readyz() -> JSONResponse:
        """Say whether questions can be answered: 200 or 503."""
        health = await examine(checks)
        return JSONResponse(health.model_dump(), 200 if health.status == "ok" else 503)

    @router.get("/health")
    async def health() -> Health:
        """Say how each part does."""
        return await examine(checks)

    return router


async def examine(checks: Mapping[str, Check]) -> Health:
    """Try each part once."""
    parts = {name: await _try(check) for name, check in checks.items()}
    well = all(part.status == "ok" for part in parts.values())
    return Health(status="ok" if well else "degraded", dependencies=parts)


async def _try(check: Check) -> Part:
    started = time.perf_counter()
    message = None
    try:
        await check()
    except ByTheBookError as error:
        message = " ".join(filter(None, (error.what, error.help_message)))
    except Exception:  # noqa: BLE001 - a part that breaks in a new way is still only a part
        _log.exception("a health check failed")
        message = "This part failed; the log says more."
    latency = round((time.perf_counter() - started) * 1000, 1)
    return Part(status="failed" if message else "ok", latency_ms=latency, message=message)
