"""MTRAG: turns of conversations, looked for in two corpora, each of them a book."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bythebook.ask.conversation.standalone import standalone_question
from bythebook.ask.retrieve import CANDIDATES, retrieve
from bythebook.domain.answers import Passage
from bythebook.domain.books import Block, Document, Section, SourceBook, SourceDocument
from bythebook.domain.conversations import Turn
from bythebook.evaluate.bench import Bench, look, plan_for
from bythebook.evaluate.measured import Figure, Measured, Verdict, known, mistakes, verdicts_apart
from bythebook.evaluate.sets import read_lines

QUICK, QUICK_PASSAGES = 10, 60  # turns and further passages of each corpus in a quick run
_PART = re.compile(r"\n\s*\n")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CorpusReader:
    """A book reader that makes each passage of a corpus a page."""

    rows: tuple[Row, ...]

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Give the passages as one book."""
        documents = tuple(
            SourceDocument(row["_id"], f"{row['_id']}\n{row['text']}", partial(page, row))
            for row in self.rows
        )
        return SourceBook(title or source, "MTRAG corpus", base_url or "", documents)


def page(row: Row) -> Document:
    """Make a page of a passage, its first line being its heading."""
    heading, _, body = row["text"].strip().partition("\n")
    heading = heading.strip()
    text, blocks = heading, [Block("heading", 0, len(heading), level=1)]
    for part in filter(None, map(str.strip, _PART.split(body))) if body.strip() else [heading]:
        text += "\n\n"
        blocks.append(Block("paragraph", len(text), len(text) + len(part)))
        text += part
    section = Section(heading, "", (heading,), 0, len(text))
    return Document(row["_id"], heading, heading, text, tuple(blocks), (section,))


async def measure_mtrag(folder: Path, bench: Bench) -> list[Measured]:
    """Look for turns as asked, as the product rewrites them and as people did; then decide."""
    rows = read_lines(folder / "mtrag" / "turns_public.jsonl")
    found: dict[str, list[tuple[float, float]]] = {}
    verdicts: list[Verdict] = []
    passages = 0
    for domain in sorted({row["domain"] for row in rows}):
        turns = bench.draw([row for row in rows if row["domain"] == domain], QUICK)
        corpus = _corpus(read_lines(folder / "mtrag" / f"corpus_{domain}.jsonl"), turns, bench)
        passages += len(corpus)
        book_id = f"mtrag-{domain}{'-quick' if bench.quick else ''}"
        await bench.publish(book_id, CorpusReader(tuple(corpus)))
        for number, row in enumerate(turns, 1):
            for way, question in questions_of(row).items() if row["relevant"] else ():
                found.setdefault(way, []).append(await _recall(question, row, book_id, bench))
            verdicts.extend(await _verdict(row, book_id, bench))
            bench.on_done(number, len(turns))
    figures = (
        *(_recall_figure(way, values) for way, values in found.items()),
        verdicts_apart("answerable told by the judge", verdicts),
        *mistakes(verdicts, bench.cosine_from),
    )
    about = (
        f"Turns of conversations over {passages:,} passages in two books. Recall is the share of the relevant "
        "passages among the first five, beside the order by cosine alone. Turns are decided as the product "
        "rewrites them; turns answered in part are left out there. Published recall on the full corpora, as "
        "asked / human rewrite: BM25 .20 / .25, BGE-base .30 / .37, Elser .49 / .52."
    )
    return [Measured("MTRAG turns", about, known(figures), tuple(verdicts))]


def _corpus(rows: Sequence[Row], turns: Sequence[Row], bench: Bench) -> list[Row]:
    """Take all passages, or in a quick run the relevant ones and a few others."""
    wanted = {name for turn in turns for name in turn["relevant"]}
    others = bench.draw([row for row in rows if row["_id"] not in wanted], QUICK_PASSAGES)
    return [*(row for row in rows if row["_id"] in wanted), *others]


def questions_of(row: Row) -> dict[str, str]:
    """Give what is looked for: the turn as asked, rewritten by the product, rewritten by people."""
    said = [str(message["content"]) for message in row["history"]]
    turns = [Turn(*pair) for pair in zip(said[::2], said[1::2], strict=True)]
    asked = str(row["question"])
    return {
        "as asked": asked,
        "rewritten": standalone_question(asked, turns),
        "human rewrite": str(row["standalone"] or asked),
    }


async def _recall(question: str, row: Row, book_id: str, bench: Bench) -> tuple[float, float]:
    """Give recall at five by the product's order and by the cosine alone."""
    passages = await retrieve(plan_for(question, book_id, 2 * CANDIDATES), bench.ask)
    by_cosine = sorted(passages, key=lambda passage: -(passage.cosine or 0.0))
    relevant = set(row["relevant"])
    return _found(passages, relevant), _found(by_cosine, relevant)


def _found(passages: Sequence[Passage], relevant: set[str], most: int = 5) -> float:
    first = list(dict.fromkeys(passage.chunk.document_id for passage in passages))[:most]
    return len(relevant.intersection(first)) / len(relevant)


def _recall_figure(way: str, values: Sequence[tuple[float, float]]) -> Figure:
    ours, cosine = np.asarray(values).T
    error = float(ours.std(ddof=1) / len(ours) ** 0.5) if len(ours) > 1 else None
    return Figure(
        f"recall at 5, {way}", float(ours.mean()), len(values), error, float(cosine.mean())
    )


async def _verdict(row: Row, book_id: str, bench: Bench) -> list[Verdict]:
    if row["answerability"] == "PARTIAL":
        return []
    plan = plan_for(questions_of(row)["rewritten"], book_id)
    seen = await look(plan, await retrieve(plan, bench.ask), bench.ask)
    good = row["answerability"] == "ANSWERABLE"
    return [Verdict(seen.answerable, seen.cosine, good, good, good, seen.answered)]
