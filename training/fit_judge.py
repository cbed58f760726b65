"""Fit the judge's weights and the default relevance map: `python training/fit_judge.py`.

Reads the training articles below EVAL_DATA (never the report articles) and writes
src/bythebook/models/judge/weights.json. Needs nothing beyond the product's own requirements.
"""

import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.judge_features import ANSWER_FEATURES, UNIT_FEATURES, Candidate, Measures
from bythebook.adapters.minilm import MiniLm
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve, selection_passage
from bythebook.bootstrap import Core
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Question
from bythebook.evaluate.figures import auroc
from bythebook.evaluate.sets import Article, ArticleReader, EvalQuestion, load_articles
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

Matrix = NDArray[np.float64]
SEED = 20261115
OUTPUT = (
    Path(__file__).resolve().parents[1] / "src" / "bythebook" / "models" / "judge" / "weights.json"
)


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the passages it is judged over, and what is true of them."""

    question: EvalQuestion
    passages: tuple[Passage, ...]
    candidates: list[Candidate]
    measures: Measures
    holds_answer: tuple[bool, ...]  # per candidate
    answerable: bool


def build_books(articles: Sequence[Article], core: Core) -> None:
    """Ingest all articles, and in halves, so that each question is foreign to one half."""
    for name, members in (("all", articles), ("even", articles[::2]), ("odd", articles[1::2])):
        ports = replace(core.ingest, reader=ArticleReader(tuple(members)))
        asyncio.run(ingest(IngestOrder(Path(name), name), ports, lambda _: None))


def judged(question: EvalQuestion, passages: tuple[Passage, ...], encoder: MiniLm) -> Example:
    """Measure a question over passages and mark the units that hold its answer."""
    measures = Measures(encoder, question.question, passages)
    candidates = measures.candidates()
    holds = tuple(_holds(question, passages[c.passage], c) for c in candidates)
    present = any(_gold_inside(question, passage) for passage in passages)
    return Example(question, passages, candidates, measures, holds, present)


def _gold_inside(question: EvalQuestion, passage: Passage) -> bool:
    chunk = passage.chunk
    here = passage.is_selection or chunk.document_id == question.document_id
    return here and any(gold in chunk.text for gold in question.golds)


def _holds(question: EvalQuestion, passage: Passage, candidate: Candidate) -> bool:
    text = passage.chunk.text[candidate.unit.start : candidate.unit.end]
    return _gold_inside(question, passage) and any(gold in text for gold in question.golds)


async def retrieved(question: str, book: str, core: Core) -> tuple[Passage, ...]:
    """Retrieve as the product does."""
    plan = make_plan(Question(question, top_k=5))
    return await retrieve(
        replace(plan, book_id=book), library=core.library, embedder=core.embedder, index=core.index
    )


def logistic(features: Matrix, labels: Matrix, weights: Matrix, ridge: float = 1.0) -> Matrix:
    """Fit a logistic regression by Newton's method; the last weight is the constant."""
    inputs = np.hstack([features, np.ones((len(features), 1))])
    fitted = np.zeros(inputs.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ fitted))
        gradient = inputs.T @ (weights * (chance - labels)) + ridge * np.r_[fitted[:-1], 0]
        curvature = (inputs * (weights * chance * (1 - chance))[:, None]).T @ inputs
        step = np.linalg.solve(curvature + ridge * np.eye(len(fitted)), gradient)
        fitted -= step
        if np.abs(step).max() < 1e-6:
            break
    return fitted


def balanced(labels: Matrix) -> Matrix:
    """Weigh both classes alike."""
    return np.where(labels > 0.5, 0.5 / labels.mean(), 0.5 / (1 - labels.mean()))


def fit(examples: Sequence[Example]) -> dict[str, list[float]]:
    """Fit the unit weights, then the answer weights over them."""
    rows = [c.measures for e in examples if any(e.holds_answer) for c in e.candidates]
    truth = [float(h) for e in examples if any(e.holds_answer) for h in e.holds_answer]
    unit = logistic(np.array(rows), np.array(truth), np.ones(len(rows)))
    answers = np.array([e.measures.answer(e.candidates, unit_scores(e, unit)) for e in examples])
    labels = np.array([float(e.answerable) for e in examples])
    return {"unit": unit.tolist(), "answer": logistic(answers, labels, balanced(labels)).tolist()}


def unit_scores(example: Example, unit: Matrix) -> list[float]:
    """Score an example's candidates."""
    return [float(np.dot(c.measures, unit[:-1]) + unit[-1]) for c in example.candidates]


def report(name: str, examples: Sequence[Example], weights: dict[str, list[float]]) -> None:
    """Print how the weights do on examples they were not fitted to."""
    unit, final = np.array(weights["unit"]), np.array(weights["answer"])
    chances: dict[str, list[float]] = {"answered": [], "look_alike": [], "foreign": []}
    first = three = total = 0
    for example in examples:
        scores = unit_scores(example, unit)
        value = float(
            np.dot(example.measures.answer(example.candidates, scores), final[:-1]) + final[-1]
        )
        kind = "answered" if example.answerable else example.question.kind
        chances["foreign" if kind == "answered" and not example.answerable else kind].append(value)
        if example.answerable:
            order = sorted(range(len(scores)), key=lambda i: -scores[i])
            total += 1
            first += example.holds_answer[order[0]]
            three += any(example.holds_answer[i] for i in order[:3])
    print(
        f"{name}: first {first / total:.3f}, in three {three / total:.3f}, "
        f"AUROC look-alike {auroc(chances['answered'], chances['look_alike']):.3f}, "
        f"without the answer {auroc(chances['answered'], chances['foreign']):.3f} ({len(examples)} examples)"
    )


def gather(
    articles: Sequence[Article], core: Core, most: int
) -> tuple[list[Example], list[Example]]:
    """Make examples of questions over retrieved passages, and over paragraphs as selections."""
    chooser = random.Random(SEED)
    questions = [(number, q) for number, a in enumerate(articles) for q in a.questions]
    chooser.shuffle(questions)
    book: list[Example] = []
    selection: list[Example] = []
    encoder = core.encoder
    for number, question in questions[:most]:
        article = articles[number]
        passages = asyncio.run(retrieved(question.question, "all", core))
        book.append(judged(question, passages, encoder))
        if question.kind == "answered" and chooser.random() < 0.5:
            away = asyncio.run(
                retrieved(question.question, "odd" if number % 2 == 0 else "even", core)
            )
            book.append(judged(replace(question, kind="foreign"), away, encoder))
        start, end = question.paragraph or (0, 0)
        here = article.document.text[start:end]
        selection.append(judged(question, (selection_passage(here),), encoder))
        if question.kind == "answered":
            other = chooser.choice([span for span in article.paragraphs if span != (start, end)])
            elsewhere = article.document.text[other[0] : other[1]]
            moved = replace(question, kind="foreign")
            selection.append(judged(moved, (selection_passage(elsewhere),), encoder))
    return book, selection


def main() -> None:
    """Gather, fit on four fifths, report on the rest, write."""
    data = os.environ.get("EVAL_DATA")
    if not data:
        sys.exit("Set EVAL_DATA to the folder that holds squad2/.")
    folder = Path(data) / "squad2"
    articles = load_articles(folder / "squad2_train.json") + load_articles(
        folder / "squad1_other_articles.json"
    )
    random.Random(SEED).shuffle(articles)
    with tempfile.TemporaryDirectory() as scratch:
        core = Core(Settings(data_dir=Path(scratch)))
        build_books(articles, core)
        book, selection = gather(articles, core, most=int(os.environ.get("MOST", "4000")))
        core.close()
    weights = {}
    for name, examples in (("book", book), ("selection", selection)):
        held = {article.document.document_id for article in articles[:5]}
        seen = [e for e in examples if e.question.document_id not in held]
        unseen = [e for e in examples if e.question.document_id in held]
        report(f"{name}, 5 unseen articles", unseen, fit(seen))
        weights[name] = fit(examples)
        for feature, value in zip((*UNIT_FEATURES, "constant"), weights[name]["unit"], strict=True):
            print(f"   unit {feature:24} {value:8.3f}")
        for feature, value in zip(
            (*ANSWER_FEATURES, "constant"), weights[name]["answer"], strict=True
        ):
            print(f"   answer {feature:24} {value:8.3f}")
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(weights, indent=1) + "\n")


if __name__ == "__main__":
    main()
