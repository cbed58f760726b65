"""The sample book: its test questions are reported, its dev questions separately."""

from collections.abc import Sequence
from pathlib import Path

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.retrieve.passages import find_passages
from bythebook.evaluate.sets import EvalQuestion
from evals.harness import Harness, find_threshold, get_best_cosine, make_book_plan
from evals.report.results import SetResult
from evals.sets.book_questions import KINDS, ask_book, make_set_result

BOOK = "sample"
QUESTIONS = Path(__file__).resolve().parents[1] / "sample-book.jsonl"
QUICK = 20  # questions of each kind in a quick run


async def fit_baseline(questions: Sequence[EvalQuestion], ports: AskPorts) -> float:
    """Find the baseline's threshold of the cosine on the dev questions."""
    answered: list[float] = []
    others: list[float] = []
    for question in questions:
        if question.split == "dev":
            plan = make_book_plan(question.question, BOOK)
            cosine = get_best_cosine(await find_passages(plan, ports))
            (answered if question.kind == "answered" else others).append(cosine)
    return find_threshold(answered, others)


async def measure_sample(questions: Sequence[EvalQuestion], harness: Harness) -> list[SetResult]:
    """Ask the questions of each split."""
    results = []
    for split in ("test",) if harness.quick else ("test", "dev"):
        chosen = [
            question
            for kind in KINDS
            for question in harness.sample(
                [one for one in questions if (one.split, one.kind) == (split, kind)], QUICK
            )
        ]
        asked = await ask_book(chosen, BOOK, harness)
        tuned = " Thresholds were chosen on these." if split == "dev" else ""
        about = f"{len(chosen)} questions to the sample book, answered in full.{tuned}"
        results.append(make_set_result(f"Sample book, {split}", about, asked, harness))
    return results
