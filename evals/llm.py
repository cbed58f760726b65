"""Measures what readers see when a language model writes: a real one that makes things up, and one that answers well.

Usage: .venv/bin/python evals/llm.py [--only real|gold] [--most N] [--json PATH] [--markdown PATH]
       .venv/bin/python evals/llm.py --model PATH [--questions N] [--split dev|test] [--own-words]

The questions are those of the sample book. The real model is SmolLM2-135M, served by llama.cpp on this machine, or
with --model any other GGUF file, which is asked only what the product answers without a model. Each sentence that is
shown is compared with the book again, by checks independent of the product's. The other model is scripted: it states
the gold quote if it is given a passage that holds it, so refusing everything does not pass.
"""

# ruff: noqa: E402, T201 - run as a file: it sets the module path first, and prints

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pydantic import SecretStr
from tests.adapters.providers.model_stub import KEY, serve_model
from tests.adapters.providers.real_model import MODEL, serve_file, serve_smollm2
from tests.faults.patience import with_policy

from bythebook.adapters.providers.resilience import Policy
from bythebook.bootstrap import Core, sample_book
from bythebook.evaluate.sets import EvalQuestion, load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings
from evals.gold_model import GoldModel
from evals.llm_answers import Case, ask

BOOK = "sample"
PATIENT = Policy(timeout=600.0, first_token=500.0, gap=120.0)  # for slow machines
SHOWN_ANSWERS = 50  # answers in the report, for people to read


@contextmanager
def open_core(
    folder: Path, url: str, model: str, policy: Policy | None = None, *, own_words: bool = False
) -> Iterator[Core]:
    """Open the product with a model on loopback."""
    settings = Settings(
        data_dir=folder,
        llm_base_url=url,
        llm_model=model,
        llm_api_key=SecretStr(KEY),
        llm_own_words=own_words,
    )
    core = Core(settings)
    if policy is not None:
        with_policy(core, policy)
    try:
        yield core
    finally:
        core.close()


def run_real(
    folder: Path,
    questions: Sequence[EvalQuestion],
    on_case: Callable[[Sequence[Case]], None],
    path: Path | None = None,
    *,
    threads: int = 1,
    own_words: bool = False,
) -> list[Case]:
    """Ask all questions with the real model, one after another, and report after each."""
    name = path.stem if path else MODEL
    server: AbstractContextManager[str] = (
        serve_file(path, threads=threads) if path else serve_smollm2()
    )
    with server as url, open_core(folder, url, name, PATIENT, own_words=own_words) as core:

        async def ask_every() -> list[Case]:
            cases = []
            for number, question in enumerate(questions, 1):
                cases.append(await ask(question, core))
                case = cases[-1]
                by = "model" if case.by_model else "book"
                print(
                    f"{number:>4} {case.outcome_name:<9} {by:<5} {case.seconds:>5.1f} s  {question.question}",
                    flush=True,
                )
                on_case(cases)
            return cases

        return asyncio.run(ask_every())


def choose_answered(
    folder: Path, questions: Sequence[EvalQuestion], split: str, most: int
) -> list[EvalQuestion]:
    """Choose questions of a split that the product answers without a model."""
    asked = [one for one in questions if one.kind == "answered" and one.split == split]
    chosen: list[EvalQuestion] = []
    while asked and len(chosen) < most:
        some, asked = asked[: most - len(chosen)], asked[most - len(chosen) :]
        answered = run_offline(folder, some)
        chosen += [one for one in some if answered[one.question_id]]
    return chosen


def run_gold(
    folder: Path, questions: Sequence[EvalQuestion], *, reworded: bool = False
) -> list[tuple[Case, bool]]:
    """Ask with the scripted model; with each case, return whether the gold passage reached the model."""
    model = GoldModel(questions, reworded=reworded)
    with serve_model() as stub, open_core(folder, stub.url, "gold") as core:
        stub.will(model)

        async def ask_every() -> list[tuple[Case, bool]]:
            cases = []
            for question in questions:
                model.shown = False
                cases.append((await ask(question, core), model.shown))
            return cases

        return asyncio.run(ask_every())


def run_offline(folder: Path, questions: Sequence[EvalQuestion]) -> dict[str, bool]:
    """Return which questions the product answers without a model."""
    core = Core(Settings(data_dir=folder))

    async def ask_every() -> dict[str, bool]:
        return {q.question_id: bool((await ask(q, core)).sentences) for q in questions}

    try:
        return asyncio.run(ask_every())
    finally:
        core.close()


def make_gold_figures(folder: Path, questions: Sequence[EvalQuestion]) -> dict[str, object]:
    """Measure how many good answers of a model are shown, and how many other questions are refused."""
    answerable = [one for one in questions if one.kind == "answered"]
    offline = run_offline(folder, questions)
    figures: dict[str, object] = {"answerable": len(answerable)}
    for name, reworded in (("verbatim", False), ("reworded", True)):
        cases = list(run_gold(folder, questions, reworded=reworded))
        of_book = [(case, shown) for case, shown in cases if case.question.kind == "answered"]
        others = [case for case, _ in cases if case.question.kind != "answered"]
        answered_offline = [case for case, _ in of_book if offline[case.question.question_id]]
        figures[name] = {
            "of all answerable": _format_share([case.by_model for case, _ in of_book]),
            "of those answered without a model": _format_share(
                [case.by_model for case in answered_offline]
            ),
            "of those that the judge cleared": _format_share(
                [case.by_model for case, _ in of_book if case.cleared]
            ),
            "of those whose gold passage was shown": _format_share(
                [case.by_model for case, shown in of_book if shown]
            ),
            "gold passage shown": _format_share([shown for _, shown in of_book]),
            "others refused": _format_share([case.outcome_name == "refused" for case in others]),
            "wrong": sum(len(case.wrong) for case, _ in cases),
        }
    return figures


def _format_share(hits: Sequence[bool]) -> str:
    return f"{sum(hits) / max(len(hits), 1):.3f} ({sum(hits)} of {len(hits)})"


def make_real_figures(cases: Sequence[Case]) -> dict[str, object]:
    """Summarise what the real model wrote and what was shown of it."""
    shown = sum(len(case.sentences) for case in cases)
    dropped = sum(fault.dropped for case in cases for fault in case.faults)
    answered = [case for case in cases if case.outcome_name == "answered"]
    seconds = sorted(case.seconds for case in cases)
    return {
        "questions": len(cases),
        "verdicts": dict(Counter(case.outcome_name for case in cases)),
        "verdicts by kind": {
            kind: dict(Counter(c.outcome_name for c in cases if c.question.kind == kind))
            for kind in sorted({case.question.kind for case in cases})
        },
        "why it failed": dict(Counter(case.failure for case in cases if case.failure)),
        "sentences shown": shown,
        "sentences dropped": dropped,
        "dropped as": dict(Counter(f.kind for c in cases for f in c.faults if f.dropped)),
        "unsupported sentences shown": sum(len(case.wrong) for case in cases),
        "answers without a quote": sum(
            not sentence.citations for case in answered for sentence in case.sentences
        ),
        "answered questions whose answer holds the gold": _format_share(
            [case.holds_gold for case in answered if case.question.kind == "answered"]
        ),
        "with a verified line of the model": _format_share([case.by_model for case in answered]),
        "seconds, median and most": [round(seconds[len(cases) // 2], 1), round(seconds[-1], 1)],
        "load of the machine, median": sorted(case.load for case in cases)[len(cases) // 2],
    }


def render_report(figures: dict[str, object], cases: Sequence[Case]) -> str:
    """Render the figures, and answers to read."""
    lines = ["# Answers that a language model wrote", ""]
    for name, value in figures.items():
        lines += [f"## {name}", "", "```json", json.dumps(value, indent=1), "```", ""]
    called = [case for case in cases if case.cleared]
    lines += [f"## {min(SHOWN_ANSWERS, len(called))} answers to read", ""]
    answered_first = sorted(called, key=lambda case: case.outcome_name != "answered")
    for case in answered_first[:SHOWN_ANSWERS]:
        lines += _render_case(case)
    return "\n".join(lines)


def _render_case(case: Case) -> list[str]:
    asked = case.question
    lines = [f"### {asked.question_id} ({asked.kind}): {asked.question}", ""]
    lines += [f"*Gold:* {gold}" for gold in asked.golds]
    by = "by the model" if case.by_model else "by the book"
    lines += [f"*{case.outcome_name}, {by}, {case.seconds:.1f} s* {case.failure}", ""]
    for sentence in case.sentences:
        lines.append(f"- **{sentence.text}**")
        lines += [f"  - “{' '.join(cited.quote.split())}”" for cited in sentence.citations]
    lines += [f"- not shown, {' '.join(text.split())[:300]}" for text in case.dropped]
    lines += [f"- **WRONG** {text}" for text in case.wrong]
    return [*lines, ""]


def _write(path: Path | None, text: str) -> None:
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def main() -> None:
    """Ask, print, and write the figures and the answers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--markdown", type=Path, help="write figures and answers here")
    parser.add_argument("--only", choices=["real", "gold"])
    parser.add_argument("--most", type=int, help="questions that the real model is asked")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", type=Path, help="GGUF file of another real model")
    parser.add_argument("--questions", type=int, default=40, help="that --model is asked")
    parser.add_argument("--split", choices=["dev", "test"], default="test")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of --model")
    parser.add_argument("--own-words", action="store_true", help="show the model's wording")
    options = parser.parse_args()
    if options.model and not options.model.is_file():
        parser.error(f"{options.model} is not a file: give the model's GGUF file")
    questions = load_questions(ROOT / "evals" / "sample-book.jsonl")
    drawn = list(questions)
    random.Random(options.seed).shuffle(drawn)  # noqa: S311 - a sample, no secret
    figures: dict[str, object] = {}
    cases: list[Case] = []

    def on_case(asked: Sequence[Case]) -> None:
        name = f"A real model, {options.model.stem if options.model else MODEL}"
        current = figures | ({name: make_real_figures(asked)} if asked else {})
        _write(options.json, json.dumps(current, indent=1, ensure_ascii=False))
        _write(options.markdown, render_report(current, asked))

    with tempfile.TemporaryDirectory(prefix="bythebook-llm-") as name:
        folder = Path(name)
        core = Core(Settings(data_dir=folder))
        asyncio.run(ingest(IngestOrder(str(sample_book()), BOOK), core.ingest, lambda _: None))
        core.close()
        if options.model:
            drawn = choose_answered(folder, drawn, options.split, options.questions)
        elif options.only != "real":
            figures["A scripted model that answers from the gold passages"] = make_gold_figures(
                folder, questions
            )
        if options.only != "gold":
            cases = run_real(
                folder,
                drawn[: options.most],
                on_case,
                options.model,
                threads=options.threads,
                own_words=options.own_words,
            )
    on_case(cases)
    print(json.dumps(figures | ({"real": make_real_figures(cases)} if cases else {}), indent=1))
    sys.exit(any(case.wrong for case in cases))


if __name__ == "__main__":
    main()
