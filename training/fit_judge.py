"""Fit the judge's weights: `python training/fit_judge.py`.

Reads the training articles below EVAL_DATA (never the report articles) and the `dev` questions of the
sample book (never the `test` ones), and writes src/bythebook/models/judge/weights.json. Needs nothing
beyond the product's own requirements.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.judge_features import ANSWER_FEATURES, UNIT_FEATURES, Candidate, Measures
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve, selection_passage
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Question, Scope
from bythebook.evaluate.figures import auroc
from bythebook.evaluate.run import overlaps
from bythebook.evaluate.sets import (
    Article,
    ArticleReader,
    EvalQuestion,
    load_articles,
    load_questions,
)
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

Matrix = NDArray[np.float64]
Weights = dict[str, list[float]]
SEED = 20261115
ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "src" / "bythebook" / "models" / "judge" / "weights.json"
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Example:
    """A question over passages: its measures, and what is true of it."""

    source: str
    group: str  # what must not be in training and in checking at once
    kind: str
    candidates: list[Candidate]
    measures: Measures
    holds: tuple[bool, ...]  # per candidate: is it the answer?
    answerable: bool  # do the passages hold the answer at all?


def main() -> None:
    """Gather, report by cross-validation, fit on everything, write."""
    data = os.environ.get("EVAL_DATA")
    if not data:
        sys.exit("Set EVAL_DATA to the folder that holds squad2/.")
    articles = load_articles(Path(data) / "squad2" / "squad2_train.json")
    articles += load_articles(Path(data) / "squad2" / "squad1_other_articles.json")
    random.Random(SEED).shuffle(articles)
    most = int(os.environ.get("MOST", "1600"))
    with tempfile.TemporaryDirectory() as scratch:
        core = Core(Settings(data_dir=Path(scratch)))
        publish_books(articles, core)
        book = [*from_articles(articles, core, most), *from_sample(core)]
        selection = list(from_paragraphs(articles, core, most))
        core.close()
    weights = {}
    for name, examples in (("book", book), ("selection", selection)):
        report(name, cross_validated(examples))
        weights[name] = fit(examples)
        show(weights[name])
    OUTPUT.write_text(json.dumps(weights, indent=1) + "\n")


def publish_books(articles: Sequence[Article], core: Core) -> None:
    """Ingest the articles whole and in halves, so that each question is foreign to one half."""
    for name, members in (("all", articles), ("even", articles[::2]), ("odd", articles[1::2])):
        ports = replace(core.ingest, reader=ArticleReader(tuple(members)))
        asyncio.run(ingest(IngestOrder(name, name), ports, lambda _: None))
    asyncio.run(ingest(IngestOrder(str(sample_book()), "sample"), core.ingest, lambda _: None))


def retrieved(question: str, book: str, core: Core) -> tuple[Passage, ...]:
    """Retrieve as the product does."""
    plan = make_plan(Question(question, Scope(book)))
    return asyncio.run(
        retrieve(
            plan,
            library=core.library,
            embedder=core.embedder,
            index=core.index,
            calibrations=core.calibrations,
        )
    )


def from_articles(articles: Sequence[Article], core: Core, most: int) -> Iterator[Example]:
    """Ask the articles' questions of all articles, and some of the half they are foreign to."""
    chooser = random.Random(SEED)
    asked = [(place, q) for place, article in enumerate(articles) for q in article.questions]
    chooser.shuffle(asked)
    for place, question in asked[:most]:
        yield example("squad", question, retrieved(question.question, "all", core), core)
        if question.kind == "answered" and chooser.random() < 0.4:
            away = retrieved(question.question, "odd" if place % 2 == 0 else "even", core)
            yield example("squad", replace(question, kind="foreign", golds=()), away, core)


def from_paragraphs(articles: Sequence[Article], core: Core, most: int) -> Iterator[Example]:
    """Ask the articles' questions of their paragraph as a selection, and of another one."""
    chooser = random.Random(SEED)
    asked = [(article, question) for article in articles for question in article.questions]
    chooser.shuffle(asked)
    for article, question in asked[:most]:
        here = question.paragraph or (0, 0)
        text = article.document.text
        yield example("squad", question, (selection_passage(text[slice(*here)]),), core)
        if question.kind == "answered" and chooser.random() < 0.6:
            other = chooser.choice([span for span in article.paragraphs if span != here])
            moved = replace(question, kind="foreign", golds=())
            yield example("squad", moved, (selection_passage(text[slice(*other)]),), core)


def from_sample(core: Core) -> Iterator[Example]:
    """Ask the sample book its dev questions."""
    for question in load_questions(ROOT / "evals" / "sample-book.jsonl"):
        if question.split == "dev":
            yield example("sample", question, retrieved(question.question, "sample", core), core)


def example(
    source: str, question: EvalQuestion, passages: tuple[Passage, ...], core: Core
) -> Example:
    """Measure a question over passages and mark the units that hold its answer."""
    measures = Measures(core.encoder, question.question, passages)
    candidates = measures.candidates()
    holds = tuple(_holds(source, question, passages[c.passage], c) for c in candidates)
    present = any(
        any(gold in passage.chunk.text for gold in question.golds) and _here(question, passage)
        for passage in passages
    )
    group = question.document_id or question.question_id
    return Example(source, group, question.kind, candidates, measures, holds, present)


def _here(question: EvalQuestion, passage: Passage) -> bool:
    chunk = passage.chunk
    if passage.is_selection or not question.document_id:
        return True
    start, end = question.paragraph or (0, 0)
    overlap = start < chunk.char_end and chunk.char_start < end
    return chunk.document_id == question.document_id and overlap


def _holds(source: str, question: EvalQuestion, passage: Passage, candidate: Candidate) -> bool:
    text = passage.chunk.text[candidate.unit.start : candidate.unit.end]
    found = [gold in text if source == "squad" else overlaps(text, gold) for gold in question.golds]
    return _here(question, passage) and any(found)


def logistic(features: Matrix, labels: Matrix, weights: Matrix, ridge: float = 1.0) -> Matrix:
    """Fit a logistic regression by Newton's method; the last weight is the constant."""
    inputs = np.hstack([features, np.ones((len(features), 1))])
    fitted = np.zeros(inputs.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-inputs @ fitted))
        gradient = inputs.T @ (weights * (chance - labels)) + ridge * np.r_[fitted[:-1], 0]
        curvature = (inputs * (weights * chance * (1 - chance))[:, None]).T @ inputs
        step = np.linalg.solve(curvature + ridge * np.eye(len(fitted)), gradient)
        fitted -= step
        if np.abs(step).max() < 1e-7:
            break
    return fitted


def listwise(examples: Sequence[Example], ridge: float = 1.0) -> Matrix:
    """Fit weights under which the answer stands out among its question's own candidates."""
    fitted = np.zeros(len(UNIT_FEATURES))
    weights = even_weights([e.source for e in examples]) * len(examples) / 1000
    for _ in range(60):
        gradient, curvature = ridge * fitted, ridge * np.eye(len(fitted))
        for weight, example in zip(weights, examples, strict=True):
            inputs = np.array([c.measures for c in example.candidates])
            chance = softmax(inputs @ fitted)
            truth = chance * np.array(example.holds, float)
            gradient = gradient + weight * inputs.T @ (chance - truth / truth.sum())
            mean = inputs.T @ chance
            curvature = curvature + weight * (
                (inputs * chance[:, None]).T @ inputs - np.outer(mean, mean)
            )
        step = np.clip(np.linalg.solve(curvature, gradient), -2, 2)
        fitted = fitted - step
        if np.abs(step).max() < 1e-6:
            break
    return fitted


def softmax(values: Matrix) -> Matrix:
    """Share one among values by their exponentials."""
    raised = np.exp(values - values.max())
    return np.asarray(raised / raised.sum())


def even_weights(names: Sequence[str]) -> Matrix:
    """Let each name count as much as each other, a thousand in all."""
    counts = {name: names.count(name) for name in set(names)}
    return np.array([1000 / len(counts) / counts[name] for name in names])


def fit(examples: Sequence[Example]) -> Weights:
    """Fit the unit weights within each question, then the answer weights over all questions."""
    unit = listwise([e for e in examples if any(e.holds)])
    answers = np.array([e.measures.answer(e.candidates, scores(e, unit)) for e in examples])
    labels = np.array([float(e.answerable) for e in examples])
    balance = even_weights([f"{e.source} {e.answerable}" for e in examples])
    return {"unit": unit.tolist(), "answer": logistic(answers, labels, balance).tolist()}


def scores(example: Example, unit: Matrix) -> list[float]:
    """Score an example's candidates."""
    return [float(np.dot(c.measures, unit)) for c in example.candidates]


@dataclass(frozen=True, slots=True)
class Checked:
    """What weights that never saw an example made of it."""

    example: Example
    answerable: float
    ranked: list[bool]  # whether each candidate is the answer, best first


def cross_validated(examples: Sequence[Example]) -> list[Checked]:
    """Judge each example by weights fitted without its group."""
    groups = sorted({e.group for e in examples})
    random.Random(SEED).shuffle(groups)
    checked = []
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        weights = fit([e for e in examples if e.group not in held])
        checked += [check(e, weights) for e in examples if e.group in held]
    return checked


def check(example: Example, weights: Weights) -> Checked:
    """Judge one example."""
    unit, answer = np.array(weights["unit"]), np.array(weights["answer"])
    values = scores(example, unit)
    total = np.dot(example.measures.answer(example.candidates, values), answer[:-1]) + answer[-1]
    order = sorted(range(len(values)), key=lambda place: -values[place])
    return Checked(example, float(total), [example.holds[place] for place in order])


def report(name: str, checked: Sequence[Checked]) -> None:
    """Print how weights do on what they were not fitted to."""
    for source in sorted({c.example.source for c in checked}):
        here = [c for c in checked if c.example.source == source]
        asked = [c for c in here if c.example.kind == "answered"]
        told = [c.answerable for c in here if c.example.answerable]
        line = [f"{name}, {source}, {len(here)} examples:"]
        line += [f"top {k} {np.mean([any(c.ranked[:k]) for c in asked]):.3f}" for k in (1, 2, 3, 4)]
        for kind in ("look_alike", "foreign"):
            others = [c.answerable for c in here if c.example.kind == kind]
            line.append(f"AUROC {kind} {auroc(told, others):.3f}")
        print("  ".join(line))
        for kind in ("answered", "look_alike", "foreign"):
            chances = [1 / (1 + np.exp(-c.answerable)) for c in here if c.example.kind == kind]
            cuts = np.percentile(chances, (5, 10, 25, 50, 75, 90, 95)) if chances else []
            print(f"   answerable, {kind:12}" + "".join(f"{cut:7.2f}" for cut in cuts))


def show(weights: Weights) -> None:
    """Print the weights by name."""
    for part, names in (("unit", UNIT_FEATURES), ("answer", (*ANSWER_FEATURES, "constant"))):
        for name, value in zip(names, weights[part], strict=True):
            print(f"   {part:7}{name:26}{value:9.3f}")


if __name__ == "__main__":
    main()
