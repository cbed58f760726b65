"""The state of one question on its way to an answer."""

import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.usage_meter import UsageMeter
from bythebook.domain.answers import Passage, Sentence
from bythebook.domain.questions import Plan, Question
from bythebook.ports import Generator


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

    def __post_init__(self) -> None:
        self.plan = make_plan(self.question)
        self.generator = self.ports.generator

    @property
    def in_selection(self) -> bool:
        """True if the answer may come from the reader's selection only."""
        return self.plan.mode == "selected_text_only"
