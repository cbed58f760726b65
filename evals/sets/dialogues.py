"""Hand-written dialogues: follow-ups as readers type them, compared with their standalone forms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bythebook.ask.pipeline import collect
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.show.answer_text import answer_text
from bythebook.domain.answers import Answered
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from bythebook.evaluate.run import holds_gold
from bythebook.evaluate.sets import EvalQuestion
from evals.funnel import FIRST, hold_gold
from evals.harness import Harness
from evals.report.figures import drop_empty_figures, make_share_figure
from evals.report.results import Figure, Miss, SetResult
from evals.sets.json_lines import Row, read_json_lines
from evals.sets.real_books import FolderReader
from evals.sets.sample_book import BOOK

DIALOGUES = Path(__file__).resolve().parents[1] / "dialogues.jsonl"
OTHER_BOOK = "turing-way"
QUICK = 4  # dialogues of each book in a quick run
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """A question in its dialogue, or its standalone form, and what became of it."""

    question: EvalQuestion
    text: str  # of the answer; empty if it was refused
    found: bool  # the gold is among the first passages
    right: bool  # a sentence of the answer is part of the gold or holds it


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up asked both ways."""

    leans: bool
    asked: AskedTurn
    standalone: AskedTurn


async def measure_dialogues(data: Path, harness: Harness) -> list[SetResult]:
    """Hold every dialogue with the product, and ask each follow-up in its standalone form too."""
    folder = data / "books" / OTHER_BOOK
    await harness.publish(OTHER_BOOK, FolderReader(harness.ingest.reader, folder))
    dialogues = list(read_json_lines(DIALOGUES))
    results = []
    for split in ("test",) if harness.quick else ("test", "dev"):
        chosen = [
            dialogue
            for book in (BOOK, OTHER_BOOK)
            for dialogue in harness.sample(
                [one for one in dialogues if (one["split"], one["book"]) == (split, book)], QUICK
            )
        ]
        results.append(_make_result(split, await _hold_dialogues(chosen, folder, harness)))
    return results


async def _hold_dialogues(
    dialogues: Sequence[Row], folder: Path, harness: Harness
) -> list[FollowUp]:
    asked: list[FollowUp] = []
    for number, dialogue in enumerate(dialogues, 1):
        turns: list[Turn] = []
        for place, turn in enumerate(dialogue["turns"]):
            question = _make_question(dialogue, place, _read_gold(turn["gold"], folder))
            answer = await _ask(question, turns, dialogue["book"], harness)
            if place:
                alone = replace(question, question=turn["standalone"])
                standalone = await _ask(alone, (), dialogue["book"], harness)
                asked.append(FollowUp(turn["leans"], answer, standalone))
            turns.append(Turn(turn["question"], answer.text))
        harness.on_progress(number, len(dialogues))
    return asked


def _make_question(dialogue: Row, place: int, gold: str | None) -> EvalQuestion:
    turn = dialogue["turns"][place]
    return EvalQuestion(
        question_id=f"{dialogue['id']}.{place + 1}",
        split=dialogue["split"],
        kind="answered" if gold else "look_alike",
        question=turn["question"],
        golds=(gold,) if gold else (),
        document_id="",
        section=turn["gold"]["section"] if gold else "",
        reworded=True,
    )


def _read_gold(gold: Row | None, folder: Path) -> str | None:
    """Return the words of a gold: a quote, or a place in a page of the other book."""
    if gold is None:
        return None
    if "quote" in gold:
        return str(gold["quote"])
    words = _read_words(folder / gold["page"])
    return " ".join(words[gold["start"] : gold["start"] + gold["words"]])


@cache
def _read_words(page: Path) -> list[str]:
    return _WORD.findall(page.read_text("utf-8").lower())


async def _ask(
    question: EvalQuestion, turns: Sequence[Turn], book: str, harness: Harness
) -> AskedTurn:
    asked = Question(question.question, Scope(book), turns=tuple(turns))
    outcome = await collect(asked, harness.ask)
    sentences = outcome.sentences if isinstance(outcome, Answered) else ()
    passages = (await harness.retrieve(make_plan(asked)))[:FIRST] if question.golds else ()
    return AskedTurn(
        question,
        answer_text(sentences),
        hold_gold(passages, question),
        any(holds_gold(sentence.text, question.golds) for sentence in sentences),
    )


def _make_result(split: str, asked: Sequence[FollowUp]) -> SetResult:
    about = (
        f"{len(asked)} follow-ups in dialogues about the sample book and {OTHER_BOOK}, each after what the product "
        "answered before, and their standalone forms asked by themselves."
    )
    misses = tuple(
        Miss(
            one.asked.question.question_id,
            one.asked.question.question,
            one.asked.question.golds,
            one.asked.text,
            "answered only when asked alone" if one.standalone.right else "not answered either way",
        )
        for one in asked
        if one.asked.question.golds and not one.asked.right
    )
    figures = drop_empty_figures(tuple(_make_figures(asked)))
    return SetResult(f"Dialogues, {split}", about, figures, (), (), misses)


def _make_figures(asked: Sequence[FollowUp]) -> Iterator[Figure]:
    for name, leans in (("leaning follow-ups", True), ("changes of topic", False)):
        group = [one for one in asked if one.leans == leans]
        for form, turns in (
            ("in the dialogue", [one.asked for one in group]),
            ("standalone", [one.standalone for one in group]),
        ):
            yield from _make_form_figures(f"{name} {form}", turns)


def _make_form_figures(name: str, turns: Sequence[AskedTurn]) -> Iterator[Figure]:
    answered = [turn for turn in turns if turn.question.golds]
    refused = [not turn.text for turn in turns if not turn.question.golds]
    found = [turn.found for turn in answered]
    wrongly = [not turn.text for turn in answered]
    yield make_share_figure(f"{name}: gold among {FIRST} passages", found)
    yield make_share_figure(f"{name}: gold shown", [turn.right for turn in answered])
    yield make_share_figure(f"{name}: wrongly refused", wrongly, better="lower")
    yield make_share_figure(f"{name}: unanswerable refused", refused)
