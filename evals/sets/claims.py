"""Claims against evidence, RAGTruth and WiCE: how well unsupported sentences are found."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bythebook.ask.retrieve.passages import READ_AT_MOST
from bythebook.ask.verify.sentences import SUPPORTED_FROM
from bythebook.domain.text.sentences import split_sentences
from evals.harness import Harness, get_best_cosine, make_passages
from evals.report.figures import drop_empty_figures, make_decision_figure, make_f1_figure
from evals.report.results import Decision, SetResult
from evals.sets.json_lines import read_json_lines

QUICK = 15  # examples of each kind in a quick run
# An answer of several sentences is called unsupported when the support of its worst sentence is below this. Chosen
# on answers put together from claims that training held back (`python -m training.fit`), on none of these sets.
ANSWER_FAILS_BELOW = 0.15
_LEAST_WORDS = 3  # a shorter sentence claims nothing
_PASSAGE_CHARACTERS = 900  # about a chunk
_NUMBER = re.compile(r"(?:^|\n\n)passage \d+:")


async def decide_support(
    sentences: Sequence[str],
    texts: Sequence[tuple[str, str]],
    harness: Harness,
    *,
    supported: bool,
    threshold: float,
) -> Decision:
    """Decide by how well the passages nearest to the worst sentence support it."""
    scores, cosines = [1.0], [1.0]
    for sentence in sentences:
        passages = await make_passages(sentence, texts, harness, READ_AT_MOST)
        scores.append(await harness.ask.support.support(sentence, passages))
        cosines.append(get_best_cosine(passages))
    worst = min(scores)
    return Decision(worst, min(cosines), supported, supported, supported, worst >= threshold)


async def measure_ragtruth(folder: Path, harness: Harness) -> list[SetResult]:
    """Find the answers of language models that contain something unsupported."""
    rows = read_json_lines(folder / "ragtruth" / "ragtruth_qa_public.jsonl")
    chosen = [
        row
        for labelled in (True, False)
        for row in harness.sample([row for row in rows if bool(row["labels"]) is labelled], QUICK)
    ]
    decisions = []
    for number, row in enumerate(chosen, 1):
        texts = [("", text) for text in split_passages(row["d1"])]
        claims = list(split_claims(row["d2"]))
        supported = not row["labels"]
        decisions.append(
            await decide_support(
                claims, texts, harness, supported=supported, threshold=ANSWER_FAILS_BELOW
            )
        )
        harness.on_progress(number, len(chosen))
    figures = (
        make_decision_figure("supported, AUROC of the judge", decisions),
        make_f1_figure(
            "F1 of finding unsupported answers",
            [not one.answered for one in decisions],
            [not one.positive for one in decisions],
            [one.cosine < harness.cosine_threshold for one in decisions],
        ),
    )
    about = (
        f"{len(chosen)} answers of language models over three passages; an answer is as good as its worst "
        "sentence. Published F1 on all of RAGTruth-QA: GPT-4-turbo .456, LettuceDetect-base .655."
    )
    return [SetResult("RAGTruth-QA", about, drop_empty_figures(figures), tuple(decisions))]


async def measure_wice(folder: Path, harness: Harness) -> list[SetResult]:
    """Separate claims that their evidence supports in full from the others."""
    rows = read_json_lines(folder / "wice" / "claims_dev.jsonl")
    chosen = [
        row
        for supported in (True, False)
        for row in harness.sample(
            [row for row in rows if (row["label"] == "supported") is supported], QUICK
        )
    ]
    decisions = []
    for number, row in enumerate(chosen, 1):
        texts = [("", text) for text in join_sentences(row["evidence"])]
        supported = row["label"] == "supported"
        decisions.append(
            await decide_support(
                [row["claim"]], texts, harness, supported=supported, threshold=SUPPORTED_FROM
            )
        )
        harness.on_progress(number, len(chosen))
    figures = (
        make_decision_figure("supported, AUROC of the judge", decisions),
        make_f1_figure(
            "F1 of finding supported claims",
            [one.answered for one in decisions],
            [one.positive for one in decisions],
            [one.cosine >= harness.cosine_threshold for one in decisions],
        ),
    )
    about = (
        f"{len(chosen)} claims against the nearest {READ_AT_MOST} passages of a cited page; claims supported "
        "only in part count as unsupported."
    )
    return [SetResult("WiCE claims, dev", about, drop_empty_figures(figures), tuple(decisions))]


def split_passages(text: str) -> list[str]:
    """Split the passages, which the set keeps in one text."""
    return [part.strip() for part in _NUMBER.split(text) if part.strip()]


def split_claims(answer: str) -> Iterator[str]:
    """Split an answer into the sentences that claim something."""
    for start, end in split_sentences(answer):
        if len(answer[start:end].split()) >= _LEAST_WORDS:
            yield answer[start:end]


def join_sentences(sentences: Sequence[str]) -> Iterator[str]:
    """Join the sentences of a page into passages as long as chunks are."""
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
