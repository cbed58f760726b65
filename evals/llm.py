"""What reaches readers when a language model writes: a real one that makes things up, and one that answers well.

Usage: .venv/bin/python evals/llm.py [--only real|gold] [--most N] [--json PATH] [--markdown PATH]

The questions are those of the sample book. The real model is SmolLM2-135M, served by llama.cpp on this machine; each
of its sentences that is shown is held against the book once more, by checks that do not trust those of the product.
The other is scripted: it says the gold quote where a passage that holds it is put before it, so that refusing
everything is no way to pass.
"""

# ruff: noqa: E402, T201 - run as a file, it looks for modules first, and prints

import argparse
import asyncio
import json
import logging
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pydantic import SecretStr
from tests.adapters.model_stub import KEY, serving_model
from tests.adapters.real_model import MODEL, serving_smollm2
from tests.faults.patience import with_policy

from bythebook.adapters.providers.resilience import Policy
from bythebook.ask.pipeline import answer
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.answers import Answered, Fault, Judged, Outcome, Refused, Sentence
from bythebook.domain.questions import Question
from bythebook.errors import ModelFailed
from bythebook.evaluate.sets import EvalQuestion, load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.ports import Support
from bythebook.settings import Settings
from evals.gold_model import GoldModel

BOOK = "sample"
PATIENT = Policy(timeout=600.0, first_token=500.0, gap=120.0)  # a small machine may be slow
LEAST_SUPPORT = 0.5
READ = 50  # answers that are written out to be read
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z0-9]+")


@dataclass
class Case:
    """What became of one question."""

    question: EvalQuestion
    outcome: Outcome | None = None  # none: the model failed
    failure: str = ""
    cleared: bool = False  # the judge let the model answer
    faults: list[Fault] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)  # sentences that were not shown
    wrong: list[str] = field(default_factory=list)  # what an own look found wrong with those shown
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """How it ended."""
        if self.outcome is None:
            return "failed"
        return "answered" if isinstance(self.outcome, Answered) else "refused"

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences that were shown."""
        return self.outcome.sentences if isinstance(self.outcome, Answered) else ()

    @property
    def holds_gold(self) -> bool:
        """Whether what was shown, or a quote under it, shares most words with the gold quote."""
        gold = _words(" ".join(self.question.golds))
        shown = [text for s in self.sentences for text in (s.text, *(c.quote for c in s.citations))]
        return bool(gold) and any(len(_words(text) & gold) >= len(gold) * 0.6 for text in shown)


@contextmanager
def dropped_sentences() -> Iterator[list[str]]:
    """Hear which sentences verification drops, as its log says at its most talkative."""
    log, told = logging.getLogger("bythebook.sentences"), list[str]()

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            told.append(f"{record.args[0]}: {record.sentence}")  # type: ignore[index,attr-defined]

    ear, level = Ear(), log.level
    log.addHandler(ear)
    log.setLevel(logging.DEBUG)
    try:
        yield told
    finally:
        log.removeHandler(ear)
        log.setLevel(level)


async def ask(question: EvalQuestion, core: Core) -> Case:
    """Ask one question by the product's own path, and look at what came of it."""
    case, began = Case(question), time.monotonic()
    with dropped_sentences() as case.dropped:
        try:
            async for event in answer(Question(question.question), core.ask):
                if isinstance(event, Judged):
                    case.cleared = True
                elif isinstance(event, Fault):
                    case.faults.append(event)
                elif isinstance(event, Answered | Refused):
                    case.outcome = event
        except ModelFailed as error:
            case.failure = error.what
    case.seconds = time.monotonic() - began
    for sentence in case.sentences:
        case.wrong += await faults_of(sentence, core.judge)
    return case


async def faults_of(sentence: Sentence, support: Support) -> list[str]:
    """Say what is wrong with a sentence that was shown, by plain checks of our own."""
    told = []
    if not sentence.citations:
        told.append(f"no quote: {sentence.text}")
    texts = []
    for citation in sentence.citations:
        chunk = citation.passage.chunk
        start = citation.char_start - chunk.char_start
        if chunk.text[start : start + len(citation.quote)] != citation.quote:
            told.append(f"not verbatim: {citation.quote}")
        texts.append(f"{' '.join(chunk.heading_path)}\n{chunk.header}\n{chunk.text}")
    book = " ".join(texts)
    missing = [n for n in _NUMBER.findall(sentence.text) if n.strip(".,") not in book]
    missing += [n for n in _NAME.findall(sentence.text) if n.lower() not in book.lower()]
    if missing:
        told.append(f"not in the passages: {', '.join(missing)}")
    verbatim = any(_plain(sentence.text) in _plain(text) for text in texts)
    if not verbatim and sentence.citations:
        passages = list({c.passage.chunk.chunk_id: c.passage for c in sentence.citations}.values())
        if (score := await support.support(sentence.text, passages)) < LEAST_SUPPORT:
            told.append(f"support {score:.2f}: {sentence.text}")
    return told


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


@contextmanager
def core_on(folder: Path, url: str, model: str, policy: Policy | None = None) -> Iterator[Core]:
    """Make the product's parts with a model on loopback."""
    settings = Settings(
        data_dir=folder, llm_base_url=url, llm_model=model, llm_api_key=SecretStr(KEY)
    )
    core = Core(settings)
    if policy is not None:
        with_policy(core, policy)
    try:
        yield core
    finally:
        core.close()


def run_real(
    folder: Path, questions: Sequence[EvalQuestion], keep: Callable[[Sequence[Case]], None]
) -> list[Case]:
    """Ask all questions with the real model, one after the other; keep what is known after each."""
    with serving_smollm2() as url, core_on(folder, url, MODEL, PATIENT) as core:

        async def every() -> list[Case]:
            cases = []
            for number, question in enumerate(questions, 1):
                cases.append(await ask(question, core))
                print(f"{number:>4} {cases[-1].verdict:<9} {question.question}", flush=True)
                keep(cases)
            return cases

        return asyncio.run(every())


def run_gold(
    folder: Path, questions: Sequence[EvalQuestion], *, reworded: bool = False
) -> list[tuple[Case, bool]]:
    """Ask with the scripted model; says of each case whether the gold passage reached it."""
    model = GoldModel(questions, reworded=reworded)
    with serving_model() as stub, core_on(folder, stub.url, "gold") as core:
        stub.will(model)

        async def every() -> list[tuple[Case, bool]]:
            cases = []
            for question in questions:
                model.shown = False
                cases.append((await ask(question, core), model.shown))
            return cases

        return asyncio.run(every())


def run_offline(folder: Path, questions: Sequence[EvalQuestion]) -> dict[str, bool]:
    """Say which questions the product answers without a model."""
    core = Core(Settings(data_dir=folder))

    async def every() -> dict[str, bool]:
        return {q.question_id: bool((await ask(q, core)).sentences) for q in questions}

    try:
        return asyncio.run(every())
    finally:
        core.close()


def gold_figures(folder: Path, questions: Sequence[EvalQuestion]) -> dict[str, object]:
    """Measure how much a model that answers well is let through, and how much of the rest is refused."""
    answerable = [one for one in questions if one.kind == "answered"]
    offline = run_offline(folder, questions)
    figures: dict[str, object] = {"answerable": len(answerable)}
    for name, reworded in (("verbatim", False), ("reworded", True)):
        cases = list(run_gold(folder, questions, reworded=reworded))
        of_book = [(case, shown) for case, shown in cases if case.question.kind == "answered"]
        others = [case for case, _ in cases if case.question.kind != "answered"]
        answered_offline = [case for case, _ in of_book if offline[case.question.question_id]]
        figures[name] = {
            "of all answerable": _share([case.verdict == "answered" for case, _ in of_book]),
            "of those answered without a model": _share(
                [case.verdict == "answered" for case in answered_offline]
            ),
            "of those that the judge cleared": _share(
                [case.verdict == "answered" for case, _ in of_book if case.cleared]
            ),
            "of those whose gold passage was shown": _share(
                [case.verdict == "answered" for case, shown in of_book if shown]
            ),
            "gold passage shown": _share([shown for _, shown in of_book]),
            "others refused": _share([case.verdict == "refused" for case in others]),
            "wrong": sum(len(case.wrong) for case, _ in cases),
        }
    return figures


def _share(hits: Sequence[bool]) -> str:
    return f"{sum(hits) / max(len(hits), 1):.3f} ({sum(hits)} of {len(hits)})"


def real_figures(cases: Sequence[Case]) -> dict[str, object]:
    """Sum up what the real model wrote and what became of it."""
    shown = sum(len(case.sentences) for case in cases)
    dropped = sum(fault.dropped for case in cases for fault in case.faults)
    answered = [case for case in cases if case.verdict == "answered"]
    return {
        "questions": len(cases),
        "verdicts": dict(Counter(case.verdict for case in cases)),
        "verdicts by kind": {
            kind: dict(Counter(c.verdict for c in cases if c.question.kind == kind))
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
        "answered questions whose answer holds the gold": _share(
            [case.holds_gold for case in answered if case.question.kind == "answered"]
        ),
        "median seconds": round(sorted(case.seconds for case in cases)[len(cases) // 2], 1),
    }


def report(figures: dict[str, object], cases: Sequence[Case]) -> str:
    """Write the figures, and answers to read."""
    lines = ["# Answers that a language model wrote", ""]
    for name, value in figures.items():
        lines += [f"## {name}", "", "```json", json.dumps(value, indent=1), "```", ""]
    called = [case for case in cases if case.cleared]
    lines += [f"## {min(READ, len(called))} answers to read", ""]
    answered_first = sorted(called, key=lambda case: case.verdict != "answered")
    for case in answered_first[:READ]:
        lines += _written_out(case)
    return "\n".join(lines)


def _written_out(case: Case) -> list[str]:
    asked = case.question
    lines = [f"### {asked.question_id} ({asked.kind}): {asked.question}", ""]
    lines += [f"*Gold:* {gold}" for gold in asked.golds]
    lines += [f"*{case.verdict}* {case.failure}", ""]
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
    """Ask, print, and keep the figures and the answers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--markdown", type=Path, help="write figures and answers here")
    parser.add_argument("--only", choices=["real", "gold"])
    parser.add_argument("--most", type=int, help="questions that the real model is asked")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    questions = load_questions(ROOT / "evals" / "sample-book.jsonl")
    drawn = list(questions)
    random.Random(options.seed).shuffle(drawn)  # noqa: S311 - a sample, no secret
    figures: dict[str, object] = {}
    cases: list[Case] = []

    def keep(asked: Sequence[Case]) -> None:
        told = figures | ({f"A real model, {MODEL}": real_figures(asked)} if asked else {})
        _write(options.json, json.dumps(told, indent=1, ensure_ascii=False))
        _write(options.markdown, report(told, asked))

    with tempfile.TemporaryDirectory(prefix="bythebook-llm-") as name:
        folder = Path(name)
        core = Core(Settings(data_dir=folder))
        asyncio.run(ingest(IngestOrder(str(sample_book()), BOOK), core.ingest, lambda _: None))
        core.close()
        if options.only != "real":
            figures["A scripted model that answers from the gold passages"] = gold_figures(
                folder, questions
            )
        if options.only != "gold":
            cases = run_real(folder, drawn[: options.most], keep)
    keep(cases)
    print(json.dumps(figures | ({"real": real_figures(cases)} if cases else {}), indent=1))
    sys.exit(any(case.wrong for case in cases))


if __name__ == "__main__":
    main()
