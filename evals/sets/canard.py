"""CANARD: questions of dialogues, each to be answered by its own sentences among those of all dialogues."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bythebook.ask.plan.make_plan import make_plan
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from evals.funnel import FIRST
from evals.harness import Harness
from evals.report.figures import make_share_figure
from evals.report.results import SetResult
from evals.sets.json_lines import Row
from evals.sets.mtrag import CorpusReader

QUICK, ASKED = 20, 300  # questions in a quick run, and otherwise
BOOK = "canard"
_UNANSWERED = "CANNOTANSWER"
_ABOUT = (
    "{asked} follow-ups of CANARD dev, the half that nothing was tuned on, among the answers to all questions of its "
    "dialogues. The title of the article is the first turn."
)


@dataclass(frozen=True, slots=True)
class Case:
    """A question in its dialogue, how a person rewrote it, and its answer."""

    turns: tuple[Turn, ...]
    question: str
    human: str
    answer: str


def read_cases(path: Path, *, tuning_half: bool = False) -> list[Case]:
    """Read the questions with an answer of one half of the dialogues.

    A dialogue is for tuning if the first byte of the SHA-256 of its id is even. The answer to a question is in the
    history of the next one.
    """
    rows = [
        row
        for row in json.loads(path.read_text("utf-8"))
        if (hashlib.sha256(row["QuAC_dialog_id"].encode()).digest()[0] % 2 == 0) == tuning_half
    ]
    answers = {
        (row["QuAC_dialog_id"], turn.question): turn.answer
        for row in rows
        for turn in _read_turns(row)
    }
    cases = []
    for row in rows:
        answer = answers.get((row["QuAC_dialog_id"], row["Question"]), _UNANSWERED)
        turns = tuple(_read_turns(row))
        if answer not in ("", _UNANSWERED) and len(turns) > 1:
            cases.append(Case(turns, row["Question"], row["Rewrite"], answer))
    return cases


def _read_turns(row: Row) -> Iterator[Turn]:
    title, _section, *said = row["History"]
    yield Turn(re.sub(r"\s*\([^)]*\)", "", title))
    for question, answer in zip(said[::2], said[1::2], strict=True):
        yield Turn(question, "" if answer == _UNANSWERED else answer)


def make_forms(case: Case, book_id: str) -> dict[str, Question]:
    """Return the question by itself, in its dialogue, joined with the one before and as a person rewrote it."""
    joined = f"{case.turns[-1].question} {case.question}"
    scope = Scope(book_id)
    return {
        "by itself": Question(case.question, scope),
        "in the dialogue": Question(case.question, scope, turns=case.turns),
        "joined with the question before": Question(joined, scope),
        "human rewrite": Question(case.human, scope),
    }


async def measure_canard(data: Path, harness: Harness) -> list[SetResult]:
    """Search for the answer to each question by every form of it."""
    cases = read_cases(data / "canard" / "dev.json")
    texts = sorted({case.answer for case in cases})
    names = {text: hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts}
    rows = tuple({"_id": names[text], "text": text} for text in texts)
    book_id = harness.name_book(BOOK)
    await harness.publish(book_id, CorpusReader(rows))
    step = max(1, len(cases) // (QUICK if harness.quick else ASKED))
    chosen = cases[::step]
    found: dict[str, list[bool]] = {}
    for number, case in enumerate(chosen, 1):
        for form, question in make_forms(case, book_id).items():
            passages = (await harness.retrieve(make_plan(question)))[:FIRST]
            documents = {passage.chunk.document_id for passage in passages}
            found.setdefault(form, []).append(names[case.answer] in documents)
        harness.on_progress(number, len(chosen))
    figures = tuple(
        make_share_figure(f"answer among {FIRST} passages, {form}", values)
        for form, values in found.items()
    )
    return [SetResult("CANARD", _ABOUT.format(asked=len(chosen)), figures, ())]
