"""The funnel: how far the gold text gets between search and answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from bythebook.ask.retrieve.passages import READ_AT_MOST
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Plan
from bythebook.evaluate.run import QuestionResult
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ports import Judge
from evals.source_pages import split_words

FIRST, DEPTH = 8, 20  # passages among which the gold is looked for


@dataclass(frozen=True, slots=True)
class GoldTrace:
    """Which passages hold the gold of a question."""

    among_8: bool
    among_20: bool
    in_best: bool  # the passage that the judge rates best
    in_two_best: bool


async def trace_gold(
    question: EvalQuestion, plan: Plan, passages: Sequence[Passage], judge: Judge
) -> GoldTrace:
    """Look for the gold among the passages found, and among those that the judge rates best.

    The judge reads the whole question, also where the product would judge its parts or refuse unread.
    """
    read = passages[:READ_AT_MOST]
    supports = (await judge.judge(plan.question, read)).supports if read else ()
    best = sorted(range(len(supports)), key=lambda place: -supports[place])
    return GoldTrace(
        among_8=hold_gold(passages[:FIRST], question),
        among_20=hold_gold(passages[:DEPTH], question),
        in_best=hold_gold([read[place] for place in best[:1]], question),
        in_two_best=hold_gold([read[place] for place in best[:2]], question),
    )


def hold_gold(passages: Sequence[Passage], question: EvalQuestion) -> bool:
    """Return True if passages hold the words of a gold in one run.

    Neighbours are joined, as a gold may be cut by the end of a chunk. Where the set names the gold's
    paragraph, other passages do not count: they may hold a short answer by chance.
    """
    chunks = [passage.chunk for passage in passages if _may_answer(passage, question)]
    ordered = sorted(chunks, key=lambda chunk: (chunk.document_id, chunk.char_start))
    text = _normalize(" ".join(chunk.text for chunk in ordered))
    return any(_normalize(gold) in text for gold in question.golds if split_words(gold))


def _may_answer(passage: Passage, question: EvalQuestion) -> bool:
    return question.paragraph is None or touches_paragraph(passage, question)


def touches_paragraph(passage: Passage, question: EvalQuestion) -> bool:
    """Return True if a passage shares text with the paragraph that answers."""
    chunk = passage.chunk
    if question.paragraph is None or chunk.document_id != question.document_id:
        return False
    start, end = question.paragraph
    return start < chunk.char_end and chunk.char_start < end


def _normalize(text: str) -> str:
    return f" {' '.join(split_words(text))} "


def name_loss(result: QuestionResult, trace: GoldTrace) -> str:
    """Name the first stage at which the gold of a missed question was lost."""
    if not trace.among_20:
        return f"not among {DEPTH} passages"
    if not trace.among_8:
        return f"not among {FIRST} passages"
    if not trace.in_two_best:
        return "not in the two best passages"
    if result.refusal_type:
        return f"refused ({result.refusal_type})"
    return "not shown, though in the best sentence" if result.gold_first else "not shown"
