"""Where questions come in: the one answer path, with its journal."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bythebook.ask.pipeline import AskPorts, answer
from bythebook.domain.answers import (
    Answered,
    Event,
    Fault,
    Outcome,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.operate.asked import Asked
from bythebook.operate.journal import Journal, Note


class Desk:
    """Answers questions and notes what became of each, whichever contract they came by."""

    def __init__(self, ports: AskPorts, journal: Journal) -> None:
        self.ports = ports
        self.journal = journal

    async def collect(self, asked: Asked) -> Outcome:
        """Answer a question to its end and note it."""
        with self.journal.noting(asked) as note:
            async with aclosing(self.answer(asked, note)) as events:
                async for event in events:
                    if isinstance(event, Answered | Refused):
                        return event
        raise AssertionError("the answer path always ends in an outcome")

    async def answer(self, asked: Asked, note: Note) -> AsyncGenerator[Event]:
        """Tell what happens to a question, for someone who notes it; leaving early stops the work."""
        if self.ports.uses_model:
            note.model = self.ports.answering(asked.question.model)
        async with aclosing(answer(asked.question, self.ports, note.bill)) as events:
            async for event in events:
                match event:
                    case Retrieved():
                        note.found = event.passages
                    case Sentence():
                        self.journal.sentence(note, dropped=False)
                    case Fault():
                        self.journal.fault(asked, event)
                        if event.dropped:
                            self.journal.sentence(note, dropped=True)
                        continue  # ours to know; nothing of it was shown
                    case Answered() | Refused():
                        note.outcome = event
                yield event
