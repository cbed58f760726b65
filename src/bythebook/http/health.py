"""Whether the process lives, whether it can answer, and how each part does."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from bythebook.errors import ByTheBookError, PartFailed

_log = logging.getLogger("bythebook.http")
Check = Callable[[], Awaitable[None]]


class Alive(BaseModel):
    """The process runs."""

    status: Literal["alive"] = Field("alive", description="Always this.")


class Part(BaseModel):
    """How one part does."""

    status: Literal["ok", "failed"] = Field(description="Whether it worked just now.")
    latency_ms: float = Field(ge=0, description="How long it took.")
    message: str | None = Field(None, description="What is wrong, and what to do.")


class Health(BaseModel):
    """How all parts do."""

    status: Literal["ok", "degraded"] = Field(description="Whether all parts work.")
    dependencies: dict[str, Part] = Field(description="Each part by its name.")


def health_router(needed: Mapping[str, Check], others: Mapping[str, Check]) -> APIRouter:
    """Make the health routes over what answers need and what they can do without."""
    router = APIRouter(tags=["health"])

    @router.get("/livez", operation_id="livez", summary="Does the process run?")
    async def livez() -> Alive:
        """Say that the process runs."""
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
        """Say whether questions can be answered: 200 or 503."""
        health = await examine(needed, in_public=True)
        return JSONResponse(health.model_dump(), 200 if health.status == "ok" else 503)

    @router.get("/health", operation_id="health", summary="How does each part do?")
    async def health() -> Health:
        """Say how each part does."""
        return await examine({**needed, **others}, in_public=True)

    return router


async def examine(checks: Mapping[str, Check], *, in_public: bool = False) -> Health:
    """Try each part once; in public no path, host or name of the machine is told."""
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
