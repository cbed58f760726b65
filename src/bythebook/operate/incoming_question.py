"""A question as it came in."""

import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bythebook.domain.access import Caller
from bythebook.domain.questions import Mode, Question
from bythebook.domain.records import ContractName


@dataclass(frozen=True, slots=True)
class IncomingQuestion:
    """A question with where it came from."""

    question: Question
    contract: ContractName
    request_id: uuid.UUID
    caller: Caller = field(default_factory=Caller)
    session_id: uuid.UUID | None = None
    selection: str | None = None  # what the reader selected, where that is not the scope itself
    received_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    started: float = field(default_factory=time.perf_counter)

    @property
    def mode(self) -> Mode:
        """The answer mode: from a selection, or from the book."""
        selected = self.question.scope.selected_text is not None
        return "selected_text_only" if selected else "standard_rag"

    @property
    def selected_text_length(self) -> int | None:
        """How many characters the reader selected; None without a selection."""
        selected = self.selection or self.question.scope.selected_text
        return None if selected is None else len(selected)

    @property
    def elapsed_ms(self) -> int:
        """Milliseconds since it came in."""
        return round((time.perf_counter() - self.started) * 1000)
