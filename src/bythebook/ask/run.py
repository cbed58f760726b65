"""The state of one question on its way to an answer."""

import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import EXTRACTIVE, ExtractiveGenerator
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.usage_meter import UsageMeter
from bythebook.domain.answers import Passage, Sentence
from bythebook.domain.questions import Plan, Question
from bythebook.errors import ModelFailed
from bythebook.ports import Generator

_log = logging.getLogger("bythebook.models")


class Clock:
    """Milliseconds per stage."""

    def __init__(self) -> None:
        self.timings: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.timings[stage] = (now - self._last) * 1000
        self._last = now


@dataclass(slots=True)
class AnswerRun:
    """What is known of a question while it is answered; each stage adds its part."""

    question: Question
    ports: AskPorts
    plan: Plan = field(init=False)
    generator: Generator = field(init=False)  # a search in several steps brings its own
    found: tuple[Passage, ...] = ()  # best first, including what is not similar enough
    sentences: list[Sentence] = field(default_factory=list)  # verified, in the order shown
    usage: UsageMeter = field(default_factory=UsageMeter)
    clock: Clock = field(default_factory=Clock)
    resources: AsyncExitStack = field(default_factory=AsyncExitStack)  # closed when the run ends
    failure: ModelFailed | None = None  # of a model without which the book answers

    def __post_init__(self) -> None:
        self.plan = make_plan(self.question)
        self.generator = self.ports.generator

    @property
    def uses_model(self) -> bool:
        """True if a language model writes the answer, and has not been given up."""
        return self.ports.uses_model and not isinstance(self.generator, ExtractiveGenerator)

    @property
    def model_used(self) -> str:
        """The name of what writes the answer."""
        if self.ports.uses_model and not self.uses_model:
            return EXTRACTIVE
        return self.ports.name_model(self.plan.model)

    @asynccontextmanager
    async def forgive_failure(self) -> AsyncIterator[None]:
        """Let the book answer where a language model fails, if that is configured; lines that stand stay."""
        try:
            yield
        except ModelFailed as error:
            if not self.ports.fallback:
                raise
            await self.resources.__aexit__(type(error), error, error.__traceback__)
            self.failure = error
            if not self.sentences:
                self.answer_by_excerpt(error.what)

    def answer_by_excerpt(self, reason: str) -> None:
        """Let the book's own excerpt be the answer, in place of a model's."""
        model = self.ports.name_model(self.plan.model)
        _log.warning("the book's excerpt answers in place of %s: %s", model, reason)
        self.generator = ExtractiveGenerator()

    @property
    def in_selection(self) -> bool:
        """True if the answer may come from the reader's selection only."""
        return self.plan.mode == "selected_text_only"
