"""Ask a whole question set by the product's own path, and keep what came of each question."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bythebook.ask.answer_text import answer_text
from bythebook.ask.pipeline import AskPorts, collect
from bythebook.ask.verify.sentences import numbered
from bythebook.domain.answers import Answered, Outcome, Sentence
from bythebook.domain.questions import Question, Scope
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ports import Library

OnAsked = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of one question."""

    question: EvalQuestion
    answered: bool
    refusal_type: str | None
    text: str
    words: int
    gold_in_answer: bool  # a sentence contains or overlaps a gold
    gold_first: bool  # the judge's best unit does
    gold_among_three: bool  # one of its best three does
    gold_retrieved: bool
    quotes: int
    exact_quotes: int  # found verbatim at their offsets in the document's text
    relevance: float
    cosine: float
    answerable: float
    milliseconds: float


async def ask_all(
    questions: Sequence[EvalQuestion], ports: AskPorts, book_id: str, on_asked: OnAsked
) -> list[Asked]:
    """Ask one question after the other."""
    asked = []
    for number, question in enumerate(questions, 1):
        asked.append(await ask_one(question, ports, book_id))
        on_asked(number, len(questions))
    return asked


async def ask_one(question: EvalQuestion, ports: AskPorts, book_id: str) -> Asked:
    """Ask a question of a book."""
    started = time.perf_counter()
    outcome = await collect(Question(question.question, Scope(book_id)), ports)
    spent = (time.perf_counter() - started) * 1000
    return _asked(question, outcome, ports.library, spent)


def _asked(question: EvalQuestion, outcome: Outcome, library: Library, spent: float) -> Asked:
    sentences = outcome.sentences if isinstance(outcome, Answered) else ()
    text = answer_text(sentences)
    judgement = outcome.judgement
    chosen = [found.quote for found in judgement.evidence[:3]] if judgement else []
    holding = [holds_gold(quote, question.golds) for quote in chosen]
    return Asked(
        question=question,
        answered=isinstance(outcome, Answered),
        refusal_type=None if isinstance(outcome, Answered) else outcome.refusal_type,
        text=text,
        words=len(text.split()),
        gold_in_answer=any(holds_gold(sentence.text, question.golds) for sentence in sentences),
        gold_first=any(holding[:1]),
        gold_among_three=any(holding),
        gold_retrieved=any(
            gold in p.chunk.text for p in outcome.passages for gold in question.golds
        ),
        quotes=len(numbered(sentences)),
        exact_quotes=_exact(sentences, library),
        relevance=max((p.relevance for p in outcome.passages), default=0.0),
        cosine=max((p.cosine or 0.0 for p in outcome.passages), default=0.0),
        answerable=judgement.answerable if judgement else 0.0,
        milliseconds=spent,
    )


def _exact(sentences: tuple[Sentence, ...], library: Library) -> int:
    exact = 0
    for _, citation in numbered(sentences):
        chunk = citation.passage.chunk
        text = library.document(chunk.book_id, chunk.document_id).text
        exact += text[citation.char_start : citation.char_end] == citation.quote
    return exact


def holds_gold(sentence: str, golds: Sequence[str]) -> bool:
    """Say whether a sentence overlaps any of the golds."""
    return any(overlaps(sentence, gold) for gold in golds)


def overlaps(sentence: str, gold: str) -> bool:
    """Say whether a sentence contains the gold's words or is contained in it, typography aside."""
    ours, theirs = _folded(sentence), _folded(gold)
    return bool(ours.strip()) and bool(theirs.strip()) and (theirs in ours or ours in theirs)


def _folded(text: str) -> str:
    """Give the words, each between spaces, so that 10 is not found in 100."""
    words = " ".join(re.findall(r"\w+", text.lower()))
    return f" {words} "
