"""How a run ends: its outcome, with what led to it and what it took."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.bill import Bill
from bythebook.ask.judge import nearest_sections
from bythebook.ask.partial import Cleared
from bythebook.domain.answers import (
    Answered,
    Judgement,
    Passage,
    RefusalType,
    Refused,
    Sentence,
)
from bythebook.domain.questions import Plan


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


@dataclass(frozen=True, slots=True)
class Ending:
    """What both outcomes tell of a run."""

    plan: Plan
    found: tuple[Passage, ...]  # also what was not near enough
    ports: AskPorts
    clock: Clock
    bill: Bill

    def refused(
        self,
        refusal_type: RefusalType,
        passages: tuple[Passage, ...],
        judgement: Judgement | None,
    ) -> Refused:
        """Refuse, and name the sections that came nearest."""
        near = passages or self.found[: self.plan.top_k]
        return Refused(
            refusal_type,
            nearest_sections(near, self.ports.reader_url),
            passages,
            judgement,
            self.plan.mode,
            self.clock.timings,
            self.ports.answering(self.plan.model),
            self.bill.usage,
        )

    def answered(self, sentences: Sequence[Sentence], cleared: Cleared) -> Answered | Refused:
        """Answer with what stood; where no sentence did, the passages do not answer after all."""
        if not sentences:
            selection = self.plan.mode == "selected_text_only"
            refusal_type: RefusalType = (
                "selected_text_missing" if selection else "insufficient_grounding"
            )
            return self.refused(refusal_type, cleared.passages, cleared.judgement)
        return Answered(
            tuple(sentences),
            cleared.passages,
            cleared.judgement,
            cleared.disclaimer,
            self.plan.mode,
            self.clock.timings,
            self.ports.answering(self.plan.model),
            self.bill.usage,
            cleared.missing,
        )
