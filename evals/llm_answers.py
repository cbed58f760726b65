"""Asks a question with a language model, and checks each sentence that is shown against the book."""

import logging
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bythebook.ask.compose.extractive import EXTRACTIVE
from bythebook.ask.pipeline import answer
from bythebook.ask.run import AnswerRun
from bythebook.bootstrap import Core
from bythebook.domain.answers import Answered, Fault, Judged, Outcome, Refused, Sentence
from bythebook.domain.questions import Question
from bythebook.errors import ModelFailed
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ports import Support

LEAST_SUPPORT = 0.5
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z0-9]+")


@dataclass
class Case:
    """The result of one question."""

    question: EvalQuestion
    outcome: Outcome | None = None  # none: the model failed
    failure: str = ""
    cleared: bool = False  # the judge allowed an answer
    faults: list[Fault] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)  # sentences that were not shown
    wrong: list[str] = field(default_factory=list)  # faults of shown sentences, by our own checks
    seconds: float = 0.0
    load: float = 0.0  # of the machine in the last minute

    @property
    def by_model(self) -> bool:
        """Whether a line of the model stood; otherwise the book's excerpt answers."""
        return isinstance(self.outcome, Answered) and self.outcome.model_used != EXTRACTIVE

    @property
    def outcome_name(self) -> str:
        """How it ended: failed, answered or refused."""
        if self.outcome is None:
            return "failed"
        return "answered" if isinstance(self.outcome, Answered) else "refused"

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences that were shown."""
        return self.outcome.sentences if isinstance(self.outcome, Answered) else ()

    @property
    def holds_gold(self) -> bool:
        """Whether a shown sentence, or a quote of it, shares most words with the gold quote."""
        gold = _collect_words(" ".join(self.question.golds))
        shown = [text for s in self.sentences for text in (s.text, *(c.quote for c in s.citations))]
        return bool(gold) and any(
            len(_collect_words(text) & gold) >= len(gold) * 0.6 for text in shown
        )


@contextmanager
def capture_dropped() -> Iterator[list[str]]:
    """Record the sentences that verification drops, from its debug log."""
    log, dropped = logging.getLogger("bythebook.sentences"), list[str]()

    class Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            dropped.append(f"{record.args[0]}: {record.sentence}")  # type: ignore[index,attr-defined]

    recorder, level = Recorder(), log.level
    log.addHandler(recorder)
    log.setLevel(logging.DEBUG)
    try:
        yield dropped
    finally:
        log.removeHandler(recorder)
        log.setLevel(level)


async def ask(question: EvalQuestion, core: Core) -> Case:
    """Ask one question by the path that answers readers, and check what it shows."""
    case, began = Case(question), time.monotonic()
    with capture_dropped() as case.dropped:
        try:
            async for event in answer(AnswerRun(Question(question.question), core.ask)):
                if isinstance(event, Judged):
                    case.cleared = True
                elif isinstance(event, Fault):
                    case.faults.append(event)
                elif isinstance(event, Answered | Refused):
                    case.outcome = event
        except ModelFailed as error:
            case.failure = error.what
    case.seconds, case.load = time.monotonic() - began, os.getloadavg()[0]
    for sentence in case.sentences:
        case.wrong += await find_faults(sentence, core.judge)
    return case


async def find_faults(sentence: Sentence, support: Support) -> list[str]:
    """Find what is wrong with a shown sentence, by checks independent of the product's."""
    faults = []
    if not sentence.citations:
        faults.append(f"no quote: {sentence.text}")
    texts = []
    for citation in sentence.citations:
        chunk = citation.passage.chunk
        start = citation.char_start - chunk.char_start
        if chunk.text[start : start + len(citation.quote)] != citation.quote:
            faults.append(f"not verbatim: {citation.quote}")
        texts.append(f"{' '.join(chunk.heading_path)}\n{chunk.header}\n{chunk.text}")
    book = " ".join(texts)
    missing = [n for n in _NUMBER.findall(sentence.text) if n.strip(".,") not in book]
    missing += [n for n in _NAME.findall(sentence.text) if n.lower() not in book.lower()]
    if missing:
        faults.append(f"not in the passages: {', '.join(missing)}")
    verbatim = any(_normalize(sentence.text) in _normalize(text) for text in texts)
    if not verbatim and sentence.citations:
        passages = list({c.passage.chunk.chunk_id: c.passage for c in sentence.citations}.values())
        if (score := await support.support(sentence.text, passages)) < LEAST_SUPPORT:
            faults.append(f"support {score:.2f}: {sentence.text}")
    return faults


def _normalize(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _collect_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}
