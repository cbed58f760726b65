"""MTRAG: turns of conversations, searched in two corpora, each of them a book."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.retrieve.passages import CANDIDATES
from bythebook.domain.answers import Passage
from bythebook.domain.books import Block, Document, Section, SourceBook, SourceDocument
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from evals.harness import Harness
from evals.report.figures import drop_empty_figures, make_decision_figure, make_mistake_figures
from evals.report.results import Decision, Figure, SetResult
from evals.sets.json_lines import Row, read_json_lines

QUICK, QUICK_PASSAGES = 10, 60  # turns and further passages of each corpus in a quick run
IN_CONVERSATION = "in the conversation"
_BLANK_LINE = re.compile(r"\n\s*\n")
_ABOUT = (
    "Turns of conversations over {passages:,} passages in two books. Recall is the share of the relevant "
    "passages among the first five; the baseline orders by cosine alone. Decisions are made on turns "
    "after those before them, without turns that are answered in part. Published recall on the full corpora, "
    "as asked / human rewrite: BM25 .20 / .25, BGE-base .30 / .37, Elser .49 / .52."
)


@dataclass(frozen=True, slots=True)
class CorpusReader:
    """Reads a corpus as a book, each passage a page."""

    rows: tuple[Row, ...]

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Return the passages as one book."""
        documents = tuple(
            SourceDocument(row["_id"], f"{row['_id']}\n{row['text']}", partial(make_page, row))
            for row in self.rows
        )
        return SourceBook(title or source, "MTRAG corpus", base_url or "", documents)


def make_page(row: Row) -> Document:
    """Make a page of a passage, with its first line as the heading."""
    heading, _, body = row["text"].strip().partition("\n")
    heading = heading.strip()
    text, blocks = heading, [Block("heading", 0, len(heading), level=1)]
    for part in (
        filter(None, map(str.strip, _BLANK_LINE.split(body))) if body.strip() else [heading]
    ):
        text += "\n\n"
        blocks.append(Block("paragraph", len(text), len(text) + len(part)))
        text += part
    section = Section(heading, "", (heading,), 0, len(text))
    return Document(row["_id"], heading, heading, text, tuple(blocks), (section,))


async def measure_mtrag(folder: Path, harness: Harness) -> list[SetResult]:
    """Search for turns by themselves, in the conversation and as people rewrote them; then decide."""
    rows = read_json_lines(folder / "mtrag" / "turns_public.jsonl")
    recalls: dict[str, list[tuple[float, float]]] = {}
    decisions: list[Decision] = []
    passages = 0
    for domain in sorted({row["domain"] for row in rows}):
        turns = harness.sample([row for row in rows if row["domain"] == domain], QUICK)
        corpus = read_json_lines(folder / "mtrag" / f"corpus_{domain}.jsonl")
        kept = _choose_passages(corpus, turns, harness)
        passages += len(kept)
        book_id = harness.name_book(f"mtrag-{domain}")
        await harness.publish(book_id, CorpusReader(tuple(kept)))
        for number, row in enumerate(turns, 1):
            forms = make_questions(row, book_id, 2 * CANDIDATES)
            for form, question in forms.items() if row["relevant"] else ():
                recall = await _measure_recall(question, row, harness)
                recalls.setdefault(form, []).append(recall)
            decisions.extend(await _decide_turn(row, book_id, harness))
            harness.on_progress(number, len(turns))
    figures = (
        *(_make_recall_figure(form, values) for form, values in recalls.items()),
        make_decision_figure("answerable, AUROC of the judge", decisions),
        *make_mistake_figures(decisions, harness.cosine_threshold),
    )
    about = _ABOUT.format(passages=passages)
    return [SetResult("MTRAG turns", about, drop_empty_figures(figures), tuple(decisions))]


def _choose_passages(rows: Sequence[Row], turns: Sequence[Row], harness: Harness) -> list[Row]:
    """Take all passages, or in a quick run the relevant ones and a few others."""
    relevant = {name for turn in turns for name in turn["relevant"]}
    others = [row for row in rows if row["_id"] not in relevant]
    kept = [row for row in rows if row["_id"] in relevant]
    return [*kept, *harness.sample(others, QUICK_PASSAGES)]


def make_questions(row: Row, book_id: str, top_k: int = 5) -> dict[str, Question]:
    """Return the turn by itself, after the turns before it, joined with the last one and as people rewrote it."""
    messages = [str(message["content"]) for message in row["history"]]
    turns = tuple(Turn(*pair) for pair in zip(messages[::2], messages[1::2], strict=True))
    question = str(row["question"])
    return {
        "by itself": Question(question, Scope(book_id), top_k),
        IN_CONVERSATION: Question(question, Scope(book_id), top_k, turns=turns),
        "joined with the question before": Question(
            " ".join([*(turn.question for turn in turns[-1:]), question]), Scope(book_id), top_k
        ),
        "human rewrite": Question(str(row["standalone"] or question), Scope(book_id), top_k),
    }


async def _measure_recall(question: Question, row: Row, harness: Harness) -> tuple[float, float]:
    """Measure recall at five by the product's order and by the cosine alone."""
    passages = await harness.retrieve(make_plan(question))
    by_cosine = sorted(passages, key=lambda passage: -(passage.cosine or 0.0))
    relevant = set(row["relevant"])
    return _compute_recall(passages, relevant), _compute_recall(by_cosine, relevant)


def _compute_recall(passages: Sequence[Passage], relevant: set[str], most: int = 5) -> float:
    first = list(dict.fromkeys(passage.chunk.document_id for passage in passages))[:most]
    return len(relevant.intersection(first)) / len(relevant)


def _make_recall_figure(form: str, values: Sequence[tuple[float, float]]) -> Figure:
    ours, cosine = np.asarray(values).T
    error = float(ours.std(ddof=1) / len(ours) ** 0.5) if len(ours) > 1 else None
    return Figure(
        f"recall at 5, {form}", float(ours.mean()), len(values), error, float(cosine.mean())
    )


async def _decide_turn(row: Row, book_id: str, harness: Harness) -> list[Decision]:
    if row["answerability"] == "PARTIAL":
        return []
    plan = make_plan(make_questions(row, book_id)[IN_CONVERSATION])
    judged = await harness.judge(plan, await harness.retrieve(plan))
    good = row["answerability"] == "ANSWERABLE"
    return [Decision(judged.answerable, judged.cosine, good, good, good, judged.answered)]
