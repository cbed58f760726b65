"""Measures the report sets one after another, and skips those whose files are missing."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from bythebook.bootstrap import Core, sample_book
from bythebook.evaluate.sets import EvalQuestion
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import load_settings
from evals.harness import CosineScorer, Harness, fit_scores
from evals.report.results import EvalReport, SetResult, SkippedSet
from evals.sets.canard import measure_canard
from evals.sets.claims import measure_ragtruth, measure_wice
from evals.sets.dialogues import measure_dialogues
from evals.sets.fairytales import measure_fairytales
from evals.sets.mtrag import measure_mtrag
from evals.sets.passages import measure_clapnq, measure_nomiracl
from evals.sets.real_books import measure_real_books
from evals.sets.sample_book import BOOK, fit_baseline, measure_sample
from evals.sets.squad import measure_squad

OnSet = Callable[[str], None]
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class PublicSet:
    """A set in the data folder: the paths that it needs, and how it is measured."""

    key: str
    paths: tuple[str, ...]
    measure: Callable[[Path, Harness], Awaitable[list[SetResult]]]


SAMPLE = "sample"
PUBLIC_SETS = (
    PublicSet("readers", ("books/turing-way", "books/quantecon-intro"), measure_real_books),
    PublicSet("dialogues", ("books/turing-way",), measure_dialogues),
    PublicSet("canard", ("canard/dev.json",), measure_canard),
    PublicSet("squad", ("squad2/squad2_report.json", "squad2/squad2_train.json"), measure_squad),
    PublicSet("fairytaleqa", ("fairytaleqa/valid.csv",), measure_fairytales),
    PublicSet(
        "clapnq",
        ("clapnq/clapnq_dev_answerable.jsonl", "clapnq/clapnq_dev_unanswerable.jsonl"),
        measure_clapnq,
    ),
    PublicSet("nomiracl", ("nomiracl/en_public.jsonl",), measure_nomiracl),
    PublicSet(
        "mtrag",
        ("mtrag/turns_public.jsonl", "mtrag/corpus_clapnq.jsonl", "mtrag/corpus_cloud.jsonl"),
        measure_mtrag,
    ),
    PublicSet("ragtruth", ("ragtruth/ragtruth_qa_public.jsonl",), measure_ragtruth),
    PublicSet("wice", ("wice/claims_dev.jsonl",), measure_wice),
)
KEYS = (SAMPLE, *(one.key for one in PUBLIC_SETS))


def run_suite(
    questions: Sequence[EvalQuestion],
    data: Path | None,
    work: Path,
    *,
    quick: bool,
    calibrate: bool,
    only: Collection[str] = KEYS,
    on_set: OnSet = lambda _name: None,
    on_progress: OnProgress = lambda _done, _total: None,
) -> EvalReport:
    """Measure the sets in a library of their own, with the parts as configured."""
    core = Core(load_settings().model_copy(update={"data_dir": work}))

    async def run() -> EvalReport:
        harness = await _make_harness(core, questions, on_progress, quick=quick, fit=calibrate)
        return await measure_sets(questions, data, harness, on_set, only)

    try:
        return asyncio.run(run())
    finally:
        core.close()


async def _make_harness(
    core: Core,
    questions: Sequence[EvalQuestion],
    on_progress: OnProgress,
    *,
    quick: bool,
    fit: bool,
) -> Harness:
    """Publish the sample book, and fit the baseline to its dev questions."""
    await ingest(IngestOrder(str(sample_book()), BOOK), core.ingest, lambda _: None)
    calibrate = core.calibrate if fit else None
    await fit_scores(BOOK, calibrate)
    return Harness(
        ask=core.ask,
        ingest=core.ingest,
        cosines=CosineScorer(core.embedder),
        cosine_threshold=await fit_baseline(questions, core.ask),
        calibrate=calibrate,
        quick=quick,
        on_progress=on_progress,
    )


async def measure_sets(
    questions: Sequence[EvalQuestion],
    data: Path | None,
    harness: Harness,
    on_set: OnSet,
    only: Collection[str] = KEYS,
) -> EvalReport:
    """Measure the sample book, which must be published, and every set whose files exist."""
    started = time.perf_counter()
    results: list[SetResult] = []
    skipped: list[SkippedSet] = []
    if SAMPLE in only:
        on_set(SAMPLE)
        results += await measure_sample(questions, harness)
    for one in PUBLIC_SETS:
        if one.key not in only:
            continue
        if data is None:
            skipped.append(SkippedSet(one.key, "no data folder was given"))
        elif missing := [name for name in one.paths if not (data / name).exists()]:
            skipped.append(SkippedSet(one.key, f"{', '.join(missing)} is missing"))
        else:
            on_set(one.key)
            results += await one.measure(data, harness)
    seconds = time.perf_counter() - started
    return EvalReport(
        tuple(results), tuple(skipped), harness.cosine_threshold, harness.quick, seconds
    )
