"""Fit how the judge's readings are put together: `python -m training.fit WORK`.

Reads WORK/judge/model.onnx, the groups that training held back (never the report sets) and the `dev` questions
of the sample book (never the `test` ones), and writes WORK/judge/weights.json. Needs nothing beyond the
product's own requirements.
"""

import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bythebook.adapters.models.inference import Crew
from bythebook.adapters.models.judge_model import JudgeModel
from bythebook.adapters.models.minilm import MiniLm
from bythebook.ask.read.features import (
    ANSWER_FEATURES,
    SUPPORT_FEATURES,
    UNIT_FEATURES,
    Candidate,
    Measures,
)
from bythebook.ask.retrieve.passages import READ_AT_MOST, selection_passage
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.answers import Passage
from bythebook.evaluate.figures import auroc
from bythebook.evaluate.run import overlaps
from bythebook.evaluate.sets import load_questions
from bythebook.settings import Settings
from training.examples import Example, crop, plain, read_prepared
from training.mine import retrieve_passages
from training.prepare import publish

Matrix = NDArray[np.float64]
Weights = dict[str, list[float]]
SEED = 20261116
ROOT = Path(__file__).resolve().parents[1]
FOLDS = 5
MOST = 1500  # questions asked of books
CUTS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)
KINDS = ("answered", "look_alike", "withheld", "foreign")
ANSWERS = 20_000  # put together from claims
CROPPED = 0.5  # share of selections that are part of a passage


@dataclass(frozen=True, slots=True)
class Readers:
    """The models that the judge reads with."""

    model: JudgeModel
    encoder: MiniLm

    def measures(self, text: str, passages: Sequence[Passage]) -> Measures:
        """Measure a question or claim over passages."""
        return Measures(text, passages, self.model.read(text, passages), self.encoder)


@dataclass(frozen=True, slots=True)
class Measured:
    """A question over passages: its measures, and what is true of it."""

    source: str
    group: str  # what must not be in fitting and in checking at once
    kind: str
    candidates: list[Candidate]
    measures: Measures
    holds: tuple[bool, ...]  # per candidate: is it the answer?
    answerable: bool  # do the passages hold the answer at all?


def main() -> None:
    """Gather, report by cross-validation, fit on everything, write."""
    work = Path(sys.argv[1])
    core = Core(Settings(data_dir=work / "books"))
    publish(core, "sample", str(sample_book()))
    readers = Readers(JudgeModel(Crew(2), work / "judge" / "model.onnx"), core.encoder)
    held_back = [
        example
        for example in read_prepared(work)
        if example.split == "tune" and example.kind != "retrieved"
    ]
    asked = [
        example
        for example in held_back
        if example.task == "question" and example.source not in {"tales", "covid"}
        if example.kind != "taken away"  # a book still holds what was taken from the passage
    ]
    asked = random.Random(SEED).sample(asked, min(MOST, len(asked)))
    book = [*from_books(asked, core, readers), *from_sample(core, readers)]
    selection = list(from_passages([e for e in held_back if e.task == "question"], readers))
    core.close()
    weights: dict[str, object] = {}
    for name, examples in (("book", book), ("selection", selection)):
        report(name, cross_validated(examples))
        fitted = fit(examples)
        show(fitted)
        weights[name] = fitted
    weights["support"] = fit_support([e for e in held_back if e.task == "claim"], readers)
    (work / "judge" / "weights.json").write_text(json.dumps(weights, indent=1) + "\n")


def from_books(asked: Sequence[Example], core: Core, readers: Readers) -> Iterator[Measured]:
    """Ask questions of their own book, of what else is found there, and of a book to which they are foreign."""
    chooser = random.Random(SEED)
    books = sorted({_book(example) for example in asked})
    for example in asked:
        source, kind = _source(example), "answered" if example.holds else "look_alike"
        passages = retrieve_passages(example.text, _book(example), core)[:READ_AT_MOST]
        yield measure_question(source, kind, example, passages, readers)
        rest = without_answer(example, passages)
        if example.holds and rest and chooser.random() < 0.4:
            yield measure_question(source, "withheld", example, rest, readers)
        if example.holds and chooser.random() < 0.25:
            other = chooser.choice([name for name in books if name != _book(example)])
            passages = retrieve_passages(example.text, other, core)[:READ_AT_MOST]
            yield measure_question(source, "foreign", example, passages, readers)


def without_answer(example: Example, passages: Sequence[Passage]) -> list[Passage]:
    """Leave out the passages that hold a sentence which answers."""
    wanted = [plain(example.passage[slice(*example.units[n])]) for n in example.evidence]
    wanted = wanted or [plain(example.passage)]
    return [p for p in passages if not any(one in plain(p.chunk.text) for one in wanted)]


def _book(example: Example) -> str:
    return example.group.split(" ")[0]


def _source(example: Example) -> str:
    if example.source.startswith("corrupted"):
        return "corrupted"
    known = {"squad", "written squad", "wice", "claims"}
    return example.source if example.source in known else "books"


def from_sample(core: Core, readers: Readers) -> Iterator[Measured]:
    """Ask the sample book its dev questions."""
    for question in load_questions(ROOT / "evals" / "sample-book.jsonl"):
        if question.split == "dev":
            passages = retrieve_passages(question.question, "sample", core)[:READ_AT_MOST]
            measures = readers.measures(question.question, passages)
            found = measures.candidates()
            texts = [passages[c.passage].chunk.text[c.unit.start : c.unit.end] for c in found]
            holds = tuple(any(overlaps(text, gold) for gold in question.golds) for text in texts)
            group = question.question_id
            yield Measured("sample", group, question.kind, found, measures, holds, any(holds))


def from_passages(asked: Sequence[Example], readers: Readers) -> Iterator[Measured]:
    """Ask questions of their passage as a selection, whole or in part: readers select a sentence or a page."""
    chooser = random.Random(SEED)
    for whole in chooser.sample(list(asked), min(MOST, len(asked))):
        example = crop(whole, chooser) if chooser.random() < CROPPED else whole
        kind = "answered" if example.holds else "look_alike"
        passages = (selection_passage(example.passage),)
        found = measure_question(_source(example), kind, example, passages, readers)
        if found.candidates:  # a part may hold no word
            yield found


def measure_question(
    source: str, kind: str, example: Example, passages: Sequence[Passage], readers: Readers
) -> Measured:
    """Measure a question over passages and mark the units that hold its answer."""
    measures = readers.measures(example.text, passages)
    candidates = measures.candidates()
    wanted = [plain(example.passage[slice(*example.units[n])]) for n in example.evidence]
    here = [_answers(passages[c.passage], c, wanted) for c in candidates]
    holds = tuple(kind == "answered" and found for found in here)
    present = any(holds) or (
        kind == "answered"
        and not wanted
        and any(plain(p.chunk.text) == plain(example.passage) for p in passages)
    )
    return Measured(source, example.group, kind, candidates, measures, holds, present)


def _answers(passage: Passage, candidate: Candidate, wanted: list[str]) -> bool:
    text = plain(passage.chunk.text[candidate.unit.start : candidate.unit.end])
    return any(text and (text in one or one in text) and _is_near(text, one) for one in wanted)


def _is_near(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= 0.5 * max(len(one), len(other))


def fit_support(claims: Sequence[Example], readers: Readers) -> list[float]:
    """Fit the odds of support, over claims that training held back; each source counts as much."""
    values = np.array([support_measures(claim, readers) for claim in claims])
    labels = np.array([float(claim.holds) for claim in claims])
    names = [f"{_source(claim)} {claim.holds}" for claim in claims]
    print(f"support: {len(claims)} claims, AUROC of the model alone and of all measures, held out")
    groups = sorted({claim.group for claim in claims})
    random.Random(SEED).shuffle(groups)
    told = np.zeros(len(claims))
    for fold in range(FOLDS):
        held = np.array([claim.group in set(groups[fold::FOLDS]) for claim in claims])
        kept = [name for name, out in zip(names, held, strict=True) if not out]
        fitted = logistic(values[~held], labels[~held], even_weights(kept))
        told[held] = values[held] @ fitted[:-1] + fitted[-1]
    for source in sorted({_source(claim) for claim in claims}):
        here = np.array([_source(claim) == source for claim in claims])
        yes, no = here & (labels == 1), here & (labels == 0)
        alone = auroc(values[yes, 0].tolist(), values[no, 0].tolist())
        print(
            f"   {source:16}{here.sum():6}  {alone:.3f}  {auroc(told[yes].tolist(), told[no].tolist()):.3f}"
        )
    report_answers(1 / (1 + np.exp(-told)), labels)
    fitted = logistic(values, labels, even_weights(names))
    for name, value in zip((*SUPPORT_FEATURES, "constant"), fitted, strict=True):
        print(f"   support {name:26}{value:9.3f}")
    return [float(value) for value in fitted]


def report_answers(told: Matrix, labels: Matrix) -> None:
    """Print how well whole answers are told apart by their worst sentence, from each threshold on.

    The answers are put together from claims held out: of three to eight sentences, one answer in five with one
    that is not supported.
    """
    chooser = np.random.default_rng(SEED)
    good, bad = told[labels == 1], told[labels == 0]
    spoilt = chooser.random(ANSWERS) < 0.2
    worst = np.array([chooser.choice(good, chooser.integers(3, 9)).min() for _ in range(ANSWERS)])
    worst[spoilt] = np.minimum(worst[spoilt], chooser.choice(bad, int(spoilt.sum())))
    print("   F1 of finding answers with an unsupported sentence, by the threshold of the worst")
    for cut in (0.02, 0.05, 0.1, 0.15, *CUTS):
        called = worst < cut
        both = (called & spoilt).sum()
        print(f"   {cut:6.2f}  {2 * both / max(1, called.sum() + spoilt.sum()):.3f}")


def support_measures(claim: Example, readers: Readers) -> tuple[float, ...]:
    """Measure a claim over its passage."""
    return readers.measures(claim.text, (selection_passage(claim.passage),)).support()


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


def listwise(examples: Sequence[Measured], ridge: float = 1.0) -> Matrix:
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


def fit(examples: Sequence[Measured]) -> Weights:
    """Fit the unit weights within each question, then the answer weights over all questions."""
    unit = listwise([e for e in examples if any(e.holds)])
    answers = np.array([e.measures.answer(e.candidates, scores(e, unit)) for e in examples])
    labels = np.array([float(e.answerable) for e in examples])
    balance = even_weights([f"{e.source} {e.answerable}" for e in examples])
    return {"unit": unit.tolist(), "answer": logistic(answers, labels, balance).tolist()}


def scores(example: Measured, unit: Matrix) -> list[float]:
    """Score an example's candidates."""
    return [float(np.dot(c.measures, unit)) for c in example.candidates]


@dataclass(frozen=True, slots=True)
class Checked:
    """What weights that never saw an example made of it."""

    example: Measured
    answerable: float
    ranked: list[bool]  # whether each candidate is the answer, best first


def cross_validated(examples: Sequence[Measured]) -> list[Checked]:
    """Judge each example by weights fitted without its group."""
    groups = sorted({e.group for e in examples})
    random.Random(SEED).shuffle(groups)
    checked = []
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        weights = fit([e for e in examples if e.group not in held])
        checked += [check(e, weights) for e in examples if e.group in held]
    return checked


def check(example: Measured, weights: Weights) -> Checked:
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
        for kind in KINDS[1:]:
            others = [c.answerable for c in here if c.example.kind == kind]
            line.append(f"AUROC {kind} {auroc(told, others):.3f}")
        print("  ".join(line))
        print("   share let through, from a chance of", *(f"{cut:6.2f}" for cut in CUTS))
        for kind in KINDS:
            chances = np.array([chance(c.answerable) for c in here if c.example.kind == kind])
            shares = [f"{np.mean(chances >= cut):6.2f}" for cut in CUTS] if len(chances) else []
            print(f"   {kind:12}{len(chances):6} {'':16}", *shares)


def chance(odds: float) -> float:
    """Give the probability of log odds."""
    return float(1 / (1 + np.exp(-odds)))


def show(weights: Weights) -> None:
    """Print the weights by name."""
    for part, names in (("unit", UNIT_FEATURES), ("answer", (*ANSWER_FEATURES, "constant"))):
        for name, value in zip(names, weights[part], strict=True):
            print(f"   {part:7}{name:26}{value:9.3f}")


if __name__ == "__main__":
    main()
