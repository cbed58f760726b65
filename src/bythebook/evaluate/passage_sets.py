"""Sets that come with passages: CLAPNQ and NoMIRACL.

All passages of a set are one book, those of a question a page of it, and the question is asked within
that page: retrieval scores the passages, and the judge reads them, as in any book.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve
from bythebook.domain.books import Block, Document, Section
from bythebook.domain.questions import Question, Scope, SectionSpan
from bythebook.evaluate.bench import Bench, look
from bythebook.evaluate.measured import Measured, Verdict, known, mistakes, rate, verdicts_apart
from bythebook.evaluate.run import holds_gold
from bythebook.evaluate.sets import Article, ArticleReader, EvalQuestion, Kind, read_lines

QUICK = 20  # questions of each kind in a quick run
_PUBLISHED = {
    "GPT-4": "gpt-4-azure",
    "Mixtral": "Mixtral-8x7B-Instruct-v0.1",
    "Mistral-7B": "Mistral-7B-Instruct-v0.2",
}


def make_page(
    name: str, question: str, passages: Sequence[tuple[str, str]], golds: Sequence[str] | None
) -> Article:
    """Make a page of titles and passages, with its question; golds are none if nothing answers."""
    text = ""
    blocks: list[Block] = []
    sections: list[Section] = []
    for title, body in passages:
        text += "\n\n" if text else ""
        start = len(text)
        blocks.append(Block("heading", start, start + len(title), level=1))
        text += f"{title}\n\n"
        blocks.append(Block("paragraph", len(text), len(text) + len(body)))
        text += body
        sections.append(Section(title, "", (title,), start, len(text)))
    document = Document(name, name, name, text, tuple(blocks), tuple(sections))
    kind: Kind = "look_alike" if golds is None else "answered"
    asked = EvalQuestion(name, "all", kind, question, tuple(golds or ()), name)
    return Article(document, tuple((block.start, block.end) for block in blocks[1::2]), (asked,))


async def ask_pages(pages: Sequence[Article], book_id: str, bench: Bench) -> list[Verdict]:
    """Publish pages as a book and ask each its question."""
    name = f"{book_id}-quick" if bench.quick else book_id
    await bench.publish(name, ArticleReader(tuple(pages)))
    verdicts = []
    for number, page in enumerate(pages, 1):
        verdicts.append(await _verdict(page, name, bench))
        bench.on_done(number, len(pages))
    return verdicts


async def _verdict(page: Article, book_id: str, bench: Bench) -> Verdict:
    (question,) = page.questions
    document = page.document
    span = SectionSpan(book_id, document.document_id, 0, len(document.text))
    plan = make_plan(Question(question.question, Scope(book_id, section=span)))
    passages = await retrieve(plan, bench.ask)
    seen = await look(plan, passages, bench.ask)
    good = question.kind == "answered"
    right = nearest_right = good
    if question.golds:
        units = [text for passage in passages for text in passage.chunk.unit_texts()]
        nearest = await bench.cosines.nearest(question.question, units, 1)
        chosen = [found.quote for found in seen.judgement.evidence[:1]] if seen.judgement else []
        right = any(holds_gold(text, question.golds) for text in chosen)
        nearest_right = any(holds_gold(text, question.golds) for text in nearest)
    return Verdict(seen.answerable, seen.cosine, good, right, nearest_right, seen.answered)


async def measure_clapnq(folder: Path, bench: Bench) -> list[Measured]:
    """Ask each question of the passage that it comes with."""
    pages = []
    for kind in ("answerable", "unanswerable"):
        for row in bench.draw(read_lines(folder / "clapnq" / f"clapnq_dev_{kind}.jsonl"), QUICK):
            texts = [(passage["title"], passage["text"].strip()) for passage in row["passages"]]
            golds = [text for output in row["output"] for text in output["selected_sentences"]]
            chosen = golds if kind == "answerable" else None
            pages.append(make_page(str(row["id"]), row["input"], texts, chosen))
    verdicts = await ask_pages(pages, "clapnq", bench)
    own = [one for one in verdicts if one.positive]
    right = rate(
        "the first sentence chosen is one that people chose",
        [one.right for one in own],
        [one.cosine_right for one in own],
    )
    figures = (
        verdicts_apart("answerable told by the judge", verdicts),
        *mistakes(verdicts, bench.cosine_from),
        right,
    )
    about = f"{len(verdicts)} questions, each asked of its one passage, which answers in half of the cases."
    return [Measured("CLAPNQ", about, known(figures), tuple(verdicts))]


async def measure_nomiracl(folder: Path, bench: Bench) -> list[Measured]:
    """Ask each question of its ten passages, none of which is relevant in half of the cases."""
    rows = read_lines(folder / "nomiracl" / "en_public.jsonl")
    chosen = [
        row
        for wanted in (True, False)
        for row in bench.draw([row for row in rows if row["answerable"] is wanted], QUICK)
    ]
    pages = [
        make_page(
            f"question-{number}",
            row["question"],
            [_titled(text) for text in row["passages"]],
            () if row["answerable"] else None,
        )
        for number, row in enumerate(chosen)
    ]
    verdicts = await ask_pages(pages, "nomiracl", bench)
    figures = (
        *mistakes(verdicts, bench.cosine_from),
        verdicts_apart("answerable told by the judge", verdicts),
    )
    about = (
        f"{len(chosen)} questions, each asked of its ten passages, none of them relevant in half of the cases; "
        "the judge reads those that retrieval puts first."
    )
    notes = (f"Wrongly answered / wrongly refused by others here: {published(chosen)}.",)
    return [Measured("NoMIRACL, English", about, known(figures), tuple(verdicts), notes)]


def _titled(text: str) -> tuple[str, str]:
    title, mark, body = text.partition(": ")
    return (title, body) if mark and body.strip() else ("Untitled", text)


def published(rows: Sequence[dict[str, Any]]) -> str:
    """Say how often language models were wrong on the same questions, from their stored replies."""
    shown = []
    for name, key in _PUBLISHED.items():
        answered, refused = (
            [row for row in rows if row["answerable"] is wanted] for wanted in (False, True)
        )
        wrong = rate("", [_says_yes(row["model_outputs"][key]) for row in answered]).value
        missed = rate("", [not _says_yes(row["model_outputs"][key]) for row in refused]).value
        shown.append(f"{name} {100 * wrong:.0f} / {100 * missed:.0f} %")
    return ", ".join(shown)


def _says_yes(reply: str) -> bool:
    """Read a model's reply, which was to be "Yes, answer is present" or "I don't know"."""
    lowered = reply.lower()
    return "yes" in lowered and "i don't know" not in lowered
