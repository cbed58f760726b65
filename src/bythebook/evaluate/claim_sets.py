"""Sets of claims against evidence: RAGTruth and WiCE; measures the support of sentences."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bythebook.ask.retrieve import READ_AT_MOST
from bythebook.ask.verify.sentences import SUPPORTED_FROM
from bythebook.domain.sentences import split_sentences
from bythebook.evaluate.bench import Bench, best_cosine, given_passages
from bythebook.evaluate.measured import (
    Measured,
    Verdict,
    harmonic,
    known,
    verdicts_apart,
)
from bythebook.evaluate.sets import read_lines

QUICK = 15  # examples of each kind in a quick run
# An answer of several sentences is called unsupported when its worst one is less likely borne out than this. Chosen
# on answers put together from claims that training held back (`python -m training.fit`), on none of these sets.
ANSWER_FAILS_BELOW = 0.15
_LEAST_WORDS = 3  # less is no claim
_PASSAGE_CHARACTERS = 900  # about a chunk
_NUMBER = re.compile(r"(?:^|\n\n)passage \d+:")


async def verdict_on(
    sentences: Sequence[str],
    texts: Sequence[tuple[str, str]],
    bench: Bench,
    *,
    supported: bool,
    kept_from: float,
) -> Verdict:
    """Say how well the worst sentence is supported by the passages nearest to it."""
    scores, cosines = [1.0], [1.0]
    for sentence in sentences:
        passages = await given_passages(sentence, texts, bench, READ_AT_MOST)
        scores.append(await bench.ask.support.support(sentence, passages))
        cosines.append(best_cosine(passages))
    worst = min(scores)
    return Verdict(worst, min(cosines), supported, supported, supported, worst >= kept_from)


async def measure_ragtruth(folder: Path, bench: Bench) -> list[Measured]:
    """Find the answers of language models that hold something unsupported."""
    rows = read_lines(folder / "ragtruth" / "ragtruth_qa_public.jsonl")
    chosen = [
        row
        for marked in (True, False)
        for row in bench.draw([row for row in rows if bool(row["labels"]) is marked], QUICK)
    ]
    verdicts = []
    for number, row in enumerate(chosen, 1):
        texts = [("", text) for text in ragtruth_passages(row["d1"])]
        sentences = list(claims_of(row["d2"]))
        verdicts.append(
            await verdict_on(
                sentences, texts, bench, supported=not row["labels"], kept_from=ANSWER_FAILS_BELOW
            )
        )
        bench.on_done(number, len(chosen))
    figures = (
        verdicts_apart("supported told by the judge", verdicts),
        harmonic(
            "F1 of finding unsupported answers",
            [not one.answered for one in verdicts],
            [not one.positive for one in verdicts],
            [one.cosine < bench.cosine_from for one in verdicts],
        ),
    )
    about = (
        f"{len(chosen)} answers of language models over three passages; an answer is as good as its worst "
        "sentence. Published F1 on all of RAGTruth-QA: GPT-4-turbo .456, LettuceDetect-base .655."
    )
    return [Measured("RAGTruth-QA", about, known(figures), tuple(verdicts))]


async def measure_wice(folder: Path, bench: Bench) -> list[Measured]:
    """Tell claims that their evidence bears out in full from the others."""
    rows = read_lines(folder / "wice" / "claims_dev.jsonl")
    chosen = [
        row
        for wanted in (True, False)
        for row in bench.draw([r for r in rows if (r["label"] == "supported") is wanted], QUICK)
    ]
    verdicts = []
    for number, row in enumerate(chosen, 1):
        texts = [("", text) for text in joined(row["evidence"])]
        good = row["label"] == "supported"
        verdicts.append(
            await verdict_on([row["claim"]], texts, bench, supported=good, kept_from=SUPPORTED_FROM)
        )
        bench.on_done(number, len(chosen))
    figures = (
        verdicts_apart("supported told by the judge", verdicts),
        harmonic(
            "F1 of finding supported claims",
            [one.answered for one in verdicts],
            [one.positive for one in verdicts],
            [one.cosine >= bench.cosine_from for one in verdicts],
        ),
    )
    about = (
        f"{len(chosen)} claims against the nearest {READ_AT_MOST} passages of a cited page; claims supported "
        "only in part count as unsupported."
    )
    return [Measured("WiCE claims, dev", about, known(figures), tuple(verdicts))]


def ragtruth_passages(text: str) -> list[str]:
    """Part the passages, which the set keeps in one text."""
    return [part.strip() for part in _NUMBER.split(text) if part.strip()]


def claims_of(answer: str) -> Iterator[str]:
    """Give the sentences of an answer that say something."""
    for start, end in split_sentences(answer):
        if len(answer[start:end].split()) >= _LEAST_WORDS:
            yield answer[start:end]


def joined(sentences: Sequence[str]) -> Iterator[str]:
    """Join sentences of a page into passages as long as chunks are."""
    run: list[str] = []
    length = 0
    for sentence in filter(None, map(str.strip, sentences)):
        if run and length + len(sentence) > _PASSAGE_CHARACTERS:
            yield "\n".join(run)
            run, length = [], 0
        run.append(sentence)
        length += len(sentence)
    if run:
        yield "\n".join(run)
