"""Ask a question set by the path that answers readers, and record each result."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.pipeline import collect
from bythebook.ask.show.answer_text import answer_text
from bythebook.ask.verify.sentences import number_citations
from bythebook.domain.answers import Answered, Outcome, Sentence
from bythebook.domain.questions import Question, Scope
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ports import Library

_MARKS = re.compile(r"^\s*(?:\d+[.)]\s+|`{3,}.*$)|…", re.MULTILINE)  # of lists, code and cuts
OnResult = Callable[[int, int], None]  # questions done, of how many


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The outcome of one question."""

    question: EvalQuestion
    answered: bool
    refusal_type: str | None
    text: str
    words: int
    gold_in_answer: bool  # the answer has the words of a gold in one run
    gold_in_key: bool  # a key sentence contains a gold or is part of one
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
    questions: Sequence[EvalQuestion], ports: AskPorts, book_id: str, on_result: OnResult
) -> list[QuestionResult]:
    """Ask the questions one after another."""
    results = []
    for number, question in enumerate(questions, 1):
        results.append(await ask_one(question, ports, book_id))
        on_result(number, len(questions))
    return results


async def ask_one(question: EvalQuestion, ports: AskPorts, book_id: str) -> QuestionResult:
    """Ask a question of a book."""
    started = time.perf_counter()
    outcome = await collect(Question(question.question, Scope(book_id)), ports)
    spent = (time.perf_counter() - started) * 1000
    return _make_result(question, outcome, ports.library, spent)


def _make_result(
    question: EvalQuestion, outcome: Outcome, library: Library, spent: float
) -> QuestionResult:
    sentences = outcome.sentences if isinstance(outcome, Answered) else ()
    text = answer_text(sentences)
    judgement = outcome.judgement
    chosen = [found.quote for found in judgement.evidence[:3]]
    holds = [holds_gold(quote, question.golds) for quote in chosen]
    return QuestionResult(
        question=question,
        answered=isinstance(outcome, Answered),
        refusal_type=None if isinstance(outcome, Answered) else outcome.refusal_type,
        text=text,
        words=len(text.split()),
        gold_in_answer=contains_gold(text, question.golds),
        gold_in_key=any(holds_gold(one.text, question.golds) for one in sentences if one.key),
        gold_first=any(holds[:1]),
        gold_among_three=any(holds),
        gold_retrieved=any(
            gold in p.chunk.text for p in outcome.passages for gold in question.golds
        ),
        quotes=len(number_citations(sentences)),
        exact_quotes=_count_exact(sentences, library),
        relevance=max((p.relevance for p in outcome.passages), default=0.0),
        cosine=max((p.cosine or 0.0 for p in outcome.passages), default=0.0),
        answerable=judgement.answerable,
        milliseconds=spent,
    )


def _count_exact(sentences: tuple[Sentence, ...], library: Library) -> int:
    exact = 0
    for _, citation in number_citations(sentences):
        chunk = citation.passage.chunk
        text = library.document(chunk.book_id, chunk.document_id).text
        exact += text[citation.char_start : citation.char_end] == citation.quote
    return exact


def contains_gold(answer: str, golds: Sequence[str]) -> bool:
    """Return True if an answer has the words of a gold in one run; what was left out does not count."""
    text = _normalize(_MARKS.sub(" ", answer))
    return any(gold.strip() and _normalize(gold) in text for gold in golds)


def holds_gold(sentence: str, golds: Sequence[str]) -> bool:
    """Return True if a sentence overlaps any of the golds."""
    return any(overlaps(sentence, gold) for gold in golds)


def overlaps(sentence: str, gold: str) -> bool:
    """Return True if one contains the other's words, ignoring case and punctuation."""
    ours, theirs = _normalize(sentence), _normalize(gold)
    return bool(ours.strip()) and bool(theirs.strip()) and (theirs in ours or ours in theirs)


def _normalize(text: str) -> str:
    """Join the words by spaces, with one at each end, so that 10 is not found in 100."""
    words = " ".join(re.findall(r"\w+", text.lower()))
    return f" {words} "
