"""Whether a language model can be asked: known from its work, else by one short question."""

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing

from agents import Agent

from bythebook.adapters.providers.agents.prompts import CHECK
from bythebook.adapters.providers.agents.runs import Errand, Runs, settings_of
from bythebook.errors import PartFailed

WELL_SECONDS = 600.0  # after an answer, in which it need not be asked
FAILED_SECONDS = 20.0  # after a failure, in which it is not asked again, however many look


class ModelCheck:
    """Asks seldom: each question costs, and anybody may look at the health page."""

    def __init__(self, runs: Runs, clock: Callable[[], float] = time.monotonic) -> None:
        self._runs = runs
        self._clock = clock
        self._failure: PartFailed | None = None
        self._failed_at = 0.0
        self._asking = asyncio.Lock()

    async def require(self) -> None:
        """Raise what is wrong with the model, its key or its address."""
        async with self._asking:
            if self._runs.worked_within(WELL_SECONDS):
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
        """Wait for the first word; the rest is not wanted."""
        agent = Agent[Errand](name="check", instructions=CHECK, model_settings=settings_of())
        async with (
            self._runs.request("say a word") as request,
            aclosing(request.written(agent, "Ready?", Errand("Ready?"))) as words,
        ):
            async for _ in words:
                return
