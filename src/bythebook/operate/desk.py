"""Where questions come in: the one answer path, with its journal."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bythebook.ask.pipeline import AskPorts, answer
from bythebook.domain.answers import Answered, Event, Fault, Outcome, Refused, Retrieved
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
        async with aclosing(answer(asked.question, self.ports)) as events:
            async for event in events:
                match event:
                    case Retrieved():
                        note.found = event.passages
                    case Fault():
                        self.journal.fault(asked, event)
                        continue  # ours to know; nothing of it was shown
                    case Answered() | Refused():
                        note.outcome = event
                yield event
