"""Measures how well follow-up questions are rewritten as standalone ones, compared with what people wrote.

Usage: EVAL_DATA=... .venv/bin/python evals/rewriting.py [--tuning-half] [--no-retrieval]

CANARD (dev): a dialogue belongs to the half for tuning if the first byte of the SHA-256 of its
QuAC_dialog_id is even, otherwise to the half that is reported. Its article title is given as a first turn.
MTRAG: passages are searched by last turn, rewrite and human rewrite, among those that are relevant to
any turn and a sample of the others; nothing was tuned on it.
"""

# ruff: noqa: T201 - run as a file, it prints

import argparse
import hashlib
import json
import math
import os
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.models.minilm import MiniLm
from bythebook.ask.conversation.standalone import standalone_question
from bythebook.domain.conversations import Turn

SAMPLED = 2000  # passages of each corpus, in addition to the relevant ones
_SMALL = frozenset(
    """a an the of in on at to for from by with about and or is are was were be been do does did has have had
    what which who when where why how it its he his she her they their them this that these those him there
    s t any other besides aside also addition than not as into""".split()
)


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question in its conversation, and how a person rewrote it."""

    conversation: str
    turns: tuple[Turn, ...]
    question: str
    human: str


Rewrites = Sequence[str]


def split_words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return re.findall(r"\w+", text.lower())


def read_canard(path: Path, *, tuning_half: bool) -> list[FollowUp]:
    """Read one half of the dialogues."""
    wanted = 0 if tuning_half else 1
    found = []
    for entry in json.loads(path.read_text("utf-8")):
        name = entry["QuAC_dialog_id"]
        if hashlib.sha256(name.encode()).digest()[0] % 2 != wanted:
            continue
        title, _section, *said = entry["History"]
        turns = [Turn(re.sub(r"\s*\([^)]*\)", "", title))]
        turns += [Turn(*pair) for pair in zip(said[::2], said[1::2], strict=True)]
        found.append(FollowUp(name, tuple(turns), entry["Question"], entry["Rewrite"]))
    return found


def keep_questions(cases: Sequence[FollowUp]) -> Rewrites:
    """Keep every question as it is."""
    return [case.question for case in cases]


def prepend_last_questions(cases: Sequence[FollowUp]) -> Rewrites:
    """Put the previous question in front of each question."""
    return [f"{case.turns[-1].question} {case.question}" for case in cases]


def rewrite_questions(cases: Sequence[FollowUp]) -> Rewrites:
    """Rewrite each question, given the earlier ones as asked."""
    return [standalone_question(case.question, case.turns) for case in cases]


def rewrite_in_turn(cases: Sequence[FollowUp]) -> Rewrites:
    """Rewrite each question, given the rewrites of the earlier ones."""
    known: dict[tuple[str, str], str] = {}
    found = []
    for case in cases:
        turns = [
            Turn(known.get((case.conversation, turn.question), turn.question), turn.answer)
            for turn in case.turns
        ]
        found.append(standalone_question(case.question, turns))
        known[case.conversation, case.question] = found[-1]
    return found


def compute_rouge(one: str, other: str, size: int) -> float:
    """Compute the F1 of two texts' word n-grams (ROUGE-1, ROUGE-2)."""
    counts = [
        Counter(zip(*(split_words(text)[start:] for start in range(size)), strict=False))
        for text in (one, other)
    ]
    total = sum(counts[0].values()) + sum(counts[1].values())
    return 2 * sum((counts[0] & counts[1]).values()) / total if total else 1.0


def print_canard(name: str, cases: Sequence[FollowUp], rewrites: Rewrites) -> None:
    """Print one row of the table."""
    needed = found = added = right = kept = alone = changed = 0
    for case, rewrite in zip(cases, rewrites, strict=True):
        asked, human = set(split_words(case.question)), set(split_words(case.human))
        missing, new = human - asked - _SMALL, set(split_words(rewrite)) - asked - _SMALL
        needed, found = needed + len(missing), found + len(missing & new)
        added, right = added + len(new), right + len(new & human)
        is_same = split_words(rewrite) == split_words(case.question)
        if split_words(case.question) == split_words(case.human):
            alone, kept = alone + 1, kept + is_same
        else:
            changed += not is_same
    rouge = [
        100
        * statistics.fmean(
            compute_rouge(r, case.human, size) for r, case in zip(rewrites, cases, strict=True)
        )
        for size in (1, 2)
    ]
    print(
        f"{name:<34}{rouge[0]:>8.1f}{rouge[1]:>8.1f}{100 * found / needed:>9.1f}"
        f"{100 * right / max(added, 1):>11.1f}{100 * kept / alone:>9.1f}{100 * changed / (len(cases) - alone):>10.1f}"
    )


def measure_canard(path: Path, *, tuning_half: bool) -> None:
    """Print how close the rewrites are to those of people."""
    cases = read_canard(path, tuning_half=tuning_half)
    print(
        f"CANARD dev, {'tuned on' if tuning_half else 'held out'} half: {len(cases)} questions, %"
    )
    print(
        f"{'':<34}{'ROUGE-1':>8}{'ROUGE-2':>8}{'recall':>9}{'precision':>11}{'kept':>9}{'changed':>10}"
    )
    ways: dict[str, Callable[[Sequence[FollowUp]], Rewrites]] = {
        "question as it is": keep_questions,
        "last question + question": prepend_last_questions,
        "rewritten": rewrite_questions,
        "rewritten, turns rewritten too": rewrite_in_turn,
    }
    for name, way in ways.items():
        started = time.perf_counter()
        rewrites = way(cases)
        spent = time.perf_counter() - started
        print_canard(name, cases, rewrites)
        if way is rewrite_questions:
            each = f"{1000 * spent / len(cases):.2f} ms a question"
    print(
        "recall, precision: of the content words that people added; kept: of the questions that people left"
    )
    print(f"as they are; changed: of the others. {each}")
    same = [standalone_question(case.human, case.turns) == case.human for case in cases]
    print(f"Human rewrites that stay as they are when asked: {100 * statistics.fmean(same):.1f}\n")


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Passages, searchable by meaning and by words."""

    names: list[str]
    vectors: NDArray[np.float32]
    postings: dict[str, list[tuple[int, float]]]

    def rank(self, question: str, vector: NDArray[np.float32]) -> list[str]:
        """Return the ten passages that rank highest by both searches together."""
        by_words = np.zeros(len(self.names), np.float32)
        for word in set(split_words(question)) - _SMALL:
            for place, weight in self.postings.get(word, ()):
                by_words[place] += weight
        fused = np.zeros(len(self.names), np.float64)
        for scores in (self.vectors @ vector, by_words):
            fused[np.argsort(-scores, kind="stable")] += 1 / (60 + np.arange(len(scores)))
        return [self.names[place] for place in np.argsort(-fused, kind="stable")[:10]]


def index_words(texts: Sequence[str]) -> dict[str, list[tuple[int, float]]]:
    """Weight every word of every passage as BM25 does."""
    counts = [Counter(split_words(text)) for text in texts]
    mean = statistics.fmean(count.total() for count in counts)
    seen = Counter(word for count in counts for word in count)
    postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, count in enumerate(counts):
        length = 0.25 + 0.75 * count.total() / mean
        for word, times in count.items():
            rarity = math.log(1 + (len(texts) - seen[word] + 0.5) / (seen[word] + 0.5))
            postings[word].append((place, rarity * times * 2.2 / (times + 1.2 * length)))
    return postings


def open_retrieval(path: Path, relevant: set[str], embedder: MiniLm) -> Retrieval:
    """Index the relevant passages and a sample of the others; vectors are cached for the next run."""
    passages = {}
    others = []
    for line in path.read_text("utf-8").splitlines():
        passage = json.loads(line)
        passages[passage["_id"]] = passage["text"]
        if passage["_id"] not in relevant:
            others.append(passage["_id"])
    others.sort(key=lambda name: hashlib.sha256(name.encode()).digest())
    names = [*sorted(relevant & passages.keys()), *others[:SAMPLED]]
    texts = [passages[name] for name in names]
    digest = hashlib.sha256("\n".join([embedder.model_id, *names]).encode()).hexdigest()[:16]
    cached = Path(tempfile.gettempdir()) / f"bythebook-rewriting-{digest}.npy"
    if not cached.exists():
        np.save(cached, embedder.encode(texts))
    return Retrieval(names, np.load(cached), index_words(texts))


def measure_mtrag(folder: Path) -> None:
    """Print how often the passages that people marked are found."""
    lines = (folder / "turns_public.jsonl").read_text("utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    entries = [e for e in entries if e["history"] and e["standalone"] and e["relevant"]]
    embedder = MiniLm()
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for domain in sorted({entry["domain"] for entry in entries}):
        chosen = [entry for entry in entries if entry["domain"] == domain]
        relevant = {name for entry in chosen for name in entry["relevant"]}
        retrieval = open_retrieval(folder / f"corpus_{domain}.jsonl", relevant, embedder)
        for entry in chosen:
            for way, question in make_mtrag_questions(entry).items():
                ranked = retrieval.rank(question, embedder.encode([question])[0])
                figures = score_ranking(ranked, set(entry["relevant"]))
                found[way].append(figures)
                if make_mtrag_questions(entry)["rewritten"] != entry["question"]:
                    found[f"  {way}, of those changed"].append(figures)
    print(
        f"MTRAG: {len(entries)} later turns, {SAMPLED} passages and the relevant ones per corpus, %"
    )
    print(f"{'':<40}{'turns':>6}{'recall@5':>10}{'MRR@10':>8}")
    for way in sorted(found, key=lambda way: way.startswith(" ")):
        recall, rank = (100 * statistics.fmean(column) for column in zip(*found[way], strict=True))
        print(f"{way:<40}{len(found[way]):>6}{recall:>10.1f}{rank:>8.1f}")


def make_mtrag_questions(entry: dict[str, object]) -> dict[str, str]:
    """Return the turn alone, with the previous one, rewritten by the product and by people."""
    history, question = entry["history"], str(entry["question"])
    if not isinstance(history, list):
        raise TypeError(f"history of {entry['id']} is not a list")
    said = [str(message["content"]) for message in history]
    turns = [Turn(*pair) for pair in zip(said[::2], said[1::2], strict=True)]
    return {
        "last turn": question,
        "last question + question": f"{turns[-1].question} {question}",
        "rewritten": standalone_question(question, turns),
        "human rewrite": str(entry["standalone"]),
    }


def score_ranking(ranked: Sequence[str], relevant: set[str]) -> tuple[float, float]:
    """Return recall at five, and the reciprocal rank of the first relevant passage."""
    first = next((rank for rank, name in enumerate(ranked, 1) if name in relevant), None)
    return len(relevant & set(ranked[:5])) / min(len(relevant), 5), 1 / first if first else 0.0


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tuning-half", action="store_true", help="the half that was tuned on")
    parser.add_argument("--no-retrieval", action="store_true", help="CANARD only")
    options = parser.parse_args()
    data = os.environ.get("EVAL_DATA")
    if data is None:
        parser.error("EVAL_DATA must name the folder that holds canard/ and mtrag/")
    measure_canard(Path(data) / "canard" / "dev.json", tuning_half=options.tuning_half)
    if not options.no_retrieval:
        measure_mtrag(Path(data) / "mtrag")


if __name__ == "__main__":
    main()
