"""Checks that a language model works: by its recent answers, or by one short question."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing

from agents import Agent

from bythebook.adapters.providers.agents.calls.model_calls import (
    AgentContext,
    ModelCalls,
    make_settings,
)
from bythebook.adapters.providers.agents.prompts import CHECK
from bythebook.errors import PartFailed

WELL_SECONDS = 600.0  # after an answer: no check needed
FAILED_SECONDS = 20.0  # after a failure: not asked again, however many requests for the health page


class ModelCheck:
    """Asks rarely: each question costs money, and anyone may request the health page."""

    def __init__(self, calls: ModelCalls, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = calls
        self._clock = clock
        self._failure: PartFailed | None = None
        self._failed_at = 0.0
        self._asking = asyncio.Lock()

    async def require(self) -> None:
        """Raise the error of the model, its key or its address."""
        async with self._asking:
            if self._calls.has_worked_within(WELL_SECONDS):
                return
            if self._failure is not None and self._clock() - self._failed_at < FAILED_SECONDS:
                raise self._failure.with_traceback(None)
            try:
                await self._ask()
            except PartFailed as error:
                self._failure, self._failed_at = error, self._clock()
                raise
            self._failure = None

    async def _ask(self) -> None:
        """Wait for the first word only."""
        agent = Agent[AgentContext](
            name="check", instructions=CHECK, model_settings=make_settings()
        )
        async with (
            self._calls.request("say a word") as request,
            aclosing(request.stream_text(agent, "Ready?", AgentContext("Ready?"))) as words,
        ):
            async for _ in words:
                return
