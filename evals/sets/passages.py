"""Sets whose questions come with passages: CLAPNQ and NoMIRACL.

All passages of a set are one book, those of a question one page of it, and the question is asked within
that page: retrieval scores the passages and the judge reads them, as in any book.
"""

from collections.abc import Sequence
from pathlib import Path

from bythebook.ask.plan.make_plan import make_plan
from bythebook.domain.books import Block, Document, Section
from bythebook.domain.questions import Question, Scope, SectionSpan
from bythebook.evaluate.figures import share
from bythebook.evaluate.run import holds_gold
from bythebook.evaluate.sets import EvalQuestion, Kind
from evals.harness import Harness
from evals.report.figures import (
    drop_empty_figures,
    make_decision_figure,
    make_mistake_figures,
    make_share_figure,
)
from evals.report.results import Decision, SetResult
from evals.sets.articles import Article, ArticleReader
from evals.sets.json_lines import Row, read_json_lines

QUICK = 20  # questions of each kind in a quick run
_PUBLISHED = {
    "GPT-4": "gpt-4-azure",
    "Mixtral": "Mixtral-8x7B-Instruct-v0.1",
    "Mistral-7B": "Mistral-7B-Instruct-v0.2",
}


def make_page(
    name: str, question: str, passages: Sequence[tuple[str, str]], golds: Sequence[str] | None
) -> Article:
    """Make a page of titles and passages, with its question; golds are None if nothing answers."""
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


async def ask_pages(pages: Sequence[Article], book_id: str, harness: Harness) -> list[Decision]:
    """Publish pages as a book, and ask each page its question."""
    name = harness.name_book(book_id)
    await harness.publish(name, ArticleReader(tuple(pages)))
    decisions = []
    for number, page in enumerate(pages, 1):
        decisions.append(await _ask_page(page, name, harness))
        harness.on_progress(number, len(pages))
    return decisions


async def _ask_page(page: Article, book_id: str, harness: Harness) -> Decision:
    (question,) = page.questions
    document = page.document
    span = SectionSpan(book_id, document.document_id, 0, len(document.text))
    plan = make_plan(Question(question.question, Scope(book_id, section=span)))
    passages = await harness.retrieve(plan)
    judged = await harness.judge(plan, passages)
    good = question.kind == "answered"
    right = nearest_right = good
    if question.golds:
        units = [text for passage in passages for text in passage.chunk.unit_texts()]
        nearest = await harness.cosines.find_nearest(question.question, units, 1)
        evidence = judged.judgement.evidence[:1] if judged.judgement else ()
        right = any(holds_gold(found.quote, question.golds) for found in evidence)
        nearest_right = any(holds_gold(text, question.golds) for text in nearest)
    return Decision(judged.answerable, judged.cosine, good, right, nearest_right, judged.answered)


async def measure_clapnq(folder: Path, harness: Harness) -> list[SetResult]:
    """Ask each question of the passage that it comes with."""
    pages = []
    for kind in ("answerable", "unanswerable"):
        rows = read_json_lines(folder / "clapnq" / f"clapnq_dev_{kind}.jsonl")
        for row in harness.sample(rows, QUICK):
            texts = [(passage["title"], passage["text"].strip()) for passage in row["passages"]]
            golds = [text for output in row["output"] for text in output["selected_sentences"]]
            chosen = golds if kind == "answerable" else None
            pages.append(make_page(str(row["id"]), row["input"], texts, chosen))
    decisions = await ask_pages(pages, "clapnq", harness)
    positive = [one for one in decisions if one.positive]
    right = make_share_figure(
        "the first sentence chosen is one that people chose",
        [one.right for one in positive],
        [one.cosine_right for one in positive],
    )
    figures = (
        make_decision_figure("answerable, AUROC of the judge", decisions),
        *make_mistake_figures(decisions, harness.cosine_threshold),
        right,
    )
    about = (
        f"{len(decisions)} questions, each asked of its one passage; half of the passages answer."
    )
    return [SetResult("CLAPNQ", about, drop_empty_figures(figures), tuple(decisions))]


async def measure_nomiracl(folder: Path, harness: Harness) -> list[SetResult]:
    """Ask each question of its ten passages, none of which is relevant in half of the cases."""
    rows = read_json_lines(folder / "nomiracl" / "en_public.jsonl")
    chosen = [
        row
        for answerable in (True, False)
        for row in harness.sample([row for row in rows if row["answerable"] is answerable], QUICK)
    ]
    pages = [
        make_page(
            f"question-{number}",
            row["question"],
            [_split_title(text) for text in row["passages"]],
            () if row["answerable"] else None,
        )
        for number, row in enumerate(chosen)
    ]
    decisions = await ask_pages(pages, "nomiracl", harness)
    figures = (
        *make_mistake_figures(decisions, harness.cosine_threshold),
        make_decision_figure("answerable, AUROC of the judge", decisions),
    )
    about = (
        f"{len(chosen)} questions, each asked of its ten passages; for half of the questions no passage is "
        "relevant. The judge reads the passages that retrieval ranks first."
    )
    notes = (f"Wrongly answered / wrongly refused by language models: {describe_models(chosen)}.",)
    figures_shown = drop_empty_figures(figures)
    return [SetResult("NoMIRACL, English", about, figures_shown, tuple(decisions), notes)]


def _split_title(text: str) -> tuple[str, str]:
    title, mark, body = text.partition(": ")
    return (title, body) if mark and body.strip() else ("Untitled", text)


def describe_models(rows: Sequence[Row]) -> str:
    """Describe how often language models were wrong on the same questions, from their stored replies."""
    described = []
    for name, key in _PUBLISHED.items():
        said = [(row["answerable"], _says_yes(row["model_outputs"][key])) for row in rows]
        wrong = share([yes for answerable, yes in said if not answerable])
        missed = share([not yes for answerable, yes in said if answerable])
        described.append(f"{name} {100 * wrong:.0f} / {100 * missed:.0f} %")
    return ", ".join(described)


def _says_yes(reply: str) -> bool:
    """Read a model's reply: "Yes, answer is present" or "I don't know"."""
    lowered = reply.lower()
    return "yes" in lowered and "i don't know" not in lowered
