"""All report sets, measured one after the other; what is not there is left out and says so."""

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from bythebook.evaluate.articles import measure_squad
from bythebook.evaluate.bench import Bench
from bythebook.evaluate.claim_sets import measure_ragtruth, measure_wice
from bythebook.evaluate.measured import LeftOut, Measured
from bythebook.evaluate.mtrag import measure_mtrag
from bythebook.evaluate.passage_sets import measure_clapnq, measure_nomiracl
from bythebook.evaluate.sample import measure_sample
from bythebook.evaluate.sets import EvalQuestion
from bythebook.evaluate.stories import measure_stories

OnSet = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PublishedSet:
    """A set below the data folder: what files it needs, and how it is measured."""

    key: str
    files: tuple[str, ...]
    measure: Callable[[Path, Bench], Awaitable[list[Measured]]]


SAMPLE = "sample"
PUBLISHED = (
    PublishedSet("squad", ("squad2/squad2_report.json", "squad2/squad2_train.json"), measure_squad),
    PublishedSet("fairytaleqa", ("fairytaleqa/valid.csv",), measure_stories),
    PublishedSet(
        "clapnq",
        ("clapnq/clapnq_dev_answerable.jsonl", "clapnq/clapnq_dev_unanswerable.jsonl"),
        measure_clapnq,
    ),
    PublishedSet("nomiracl", ("nomiracl/en_public.jsonl",), measure_nomiracl),
    PublishedSet(
        "mtrag",
        ("mtrag/turns_public.jsonl", "mtrag/corpus_clapnq.jsonl", "mtrag/corpus_cloud.jsonl"),
        measure_mtrag,
    ),
    PublishedSet("ragtruth", ("ragtruth/ragtruth_qa_public.jsonl",), measure_ragtruth),
    PublishedSet("wice", ("wice/claims_dev.jsonl",), measure_wice),
)
KEYS = (SAMPLE, *(one.key for one in PUBLISHED))


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Everything that a run measured."""

    measured: tuple[Measured, ...]
    left_out: tuple[LeftOut, ...]
    cosine_from: float  # the baseline's threshold
    quick: bool
    seconds: float


async def measure_all(
    questions: Sequence[EvalQuestion],
    data: Path | None,
    bench: Bench,
    on_set: OnSet,
    only: Collection[str] = KEYS,
) -> EvalReport:
    """Measure the sample book, which must be published, and every set that is there."""
    started = time.perf_counter()
    measured: list[Measured] = []
    left_out: list[LeftOut] = []
    if SAMPLE in only:
        on_set(SAMPLE)
        measured += await measure_sample(questions, bench)
    for one in PUBLISHED:
        if one.key not in only:
            continue
        if reason := _why_not(one, data):
            left_out.append(LeftOut(one.key, reason))
        elif data is not None:
            on_set(one.key)
            measured += await one.measure(data, bench)
    seconds = time.perf_counter() - started
    return EvalReport(tuple(measured), tuple(left_out), bench.cosine_from, bench.quick, seconds)


def _why_not(one: PublishedSet, data: Path | None) -> str:
    if data is None:
        return "no data folder was given"
    missing = [name for name in one.files if not (data / name).is_file()]
    return f"{', '.join(missing)} is not there" if missing else ""
