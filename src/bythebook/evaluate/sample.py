"""The sample book: its test questions are reported, its dev questions shown apart."""

from collections.abc import Sequence

from bythebook.ask.pipeline import AskPorts
from bythebook.ask.retrieve import retrieve
from bythebook.evaluate.bench import Bench, best_cosine, best_threshold, plan_for
from bythebook.evaluate.book_sets import ask_book, book_figures, verdicts_of
from bythebook.evaluate.measured import Measured
from bythebook.evaluate.sets import EvalQuestion

BOOK = "sample"
QUICK = 20  # questions of each kind in a quick run


async def fit_baseline(questions: Sequence[EvalQuestion], ports: AskPorts) -> float:
    """Find the one threshold of the cosine, on the dev questions of the sample book."""
    wanted: list[float] = []
    others: list[float] = []
    for question in questions:
        if question.split == "dev":
            cosine = best_cosine(await retrieve(plan_for(question.question, BOOK), ports))
            (wanted if question.kind == "answered" else others).append(cosine)
    return best_threshold(wanted, others)


async def measure_sample(questions: Sequence[EvalQuestion], bench: Bench) -> list[Measured]:
    """Ask the questions of each split."""
    measured = []
    for split in ("test",) if bench.quick else ("test", "dev"):
        chosen = [
            question
            for kind in ("answered", "look_alike", "foreign")
            for question in bench.draw(
                [one for one in questions if (one.split, one.kind) == (split, kind)], QUICK
            )
        ]
        compared = await ask_book(chosen, BOOK, bench)
        tuned = " Thresholds were chosen on these." if split == "dev" else ""
        measured.append(
            Measured(
                f"Sample book, {split}",
                f"{len(chosen)} questions asked of the sample book from end to end.{tuned}",
                book_figures(compared, bench),
                verdicts_of(compared),
            )
        )
    return measured
