"""The one answer path for the questions of all contracts, with its journal."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bythebook.ask import AnswerRun, AskPorts, answer, readable_books
from bythebook.domain.answers import (
    NOTHING_READ,
    Answered,
    Event,
    Fault,
    Outcome,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.operate.answer_queue import AnswerQueue
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.operate.journal import Journal, QuestionRecord


class Answerer:
    """Answers the questions of every contract, each in its turn, and records how each ended."""

    def __init__(self, ports: AskPorts, journal: Journal, queue: AnswerQueue) -> None:
        self.ports = ports
        self.journal = journal
        self.queue = queue

    async def collect(self, incoming: IncomingQuestion) -> Outcome:
        """Answer a question to its end and record it."""
        with self.journal.open_record(incoming) as record:
            async with aclosing(self.answer(incoming, record)) as events:
                async for event in events:
                    if isinstance(event, Answered | Refused):
                        return event
        raise AssertionError("the answer path always ends in an outcome")

    def greet(self, incoming: IncomingQuestion) -> Answered:
        """Record a greeting as a question that was answered without retrieval."""
        scope = incoming.question.scope
        if scope.book_id is not None:
            readable_books(self.ports.library, scope.book_id, scope.readable)
        with self.journal.open_record(incoming) as record:
            greeted = Answered(
                (), (), NOTHING_READ, None, incoming.mode, {}, model_used=self.ports.model
            )
            record.outcome = greeted
        return greeted

    async def answer(
        self, incoming: IncomingQuestion, record: QuestionRecord
    ) -> AsyncGenerator[Event]:
        """Yield the events of a question and record them; leaving early stops the work."""
        if self.ports.uses_model:
            record.model = self.ports.name_model(incoming.question.model)
        async with self.queue.turn(incoming.caller.holder):
            run = AnswerRun(incoming.question, self.ports)
            record.usage = run.usage
            async with aclosing(answer(run)) as events:
                async for event in events:
                    self._note(event, run, incoming, record)
                    if not isinstance(event, Fault):  # a fault was never shown
                        yield event

    def _note(
        self, event: Event, run: AnswerRun, incoming: IncomingQuestion, record: QuestionRecord
    ) -> None:
        match event:
            case Retrieved():
                record.found = event.passages
            case Sentence() if run.uses_model:
                self.journal.count_sentence(record, dropped=False)
            case Fault():
                self.journal.count_fault(incoming, event)
                if event.dropped and run.uses_model:
                    self.journal.count_sentence(record, dropped=True)
            case Answered() | Refused():
                record.outcome = event
                if run.failure or (self.ports.uses_model and not run.uses_model):
                    self.journal.count_excerpt(record, run.failure)
            case _:
                pass
