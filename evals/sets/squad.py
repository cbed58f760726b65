"""SQuAD: questions, look-alikes and foreign questions about one book of articles."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from bythebook.domain.answers import Passage
from bythebook.evaluate.sets import EvalQuestion
from evals.funnel import touches_paragraph
from evals.harness import Harness, JudgedQuestion, make_book_plan
from evals.report.figures import make_auroc_figure, make_share_figure
from evals.report.results import Figure, SetResult
from evals.sets.articles import Article, ArticleReader, load_articles
from evals.sets.book_questions import AskedQuestion, ask_book, make_set_result

_DEPTH = 20  # passages requested, so that they touch five distinct paragraphs
QUICK = 25  # questions of each kind in a quick run
BOOK = "squad"
Spans = Mapping[str, Sequence[tuple[int, int]]]


async def measure_squad(folder: Path, harness: Harness) -> list[SetResult]:
    """Ask the report articles' questions of a book of all articles."""
    report = load_articles(folder / "squad2" / "squad2_report.json")
    more = [] if harness.quick else load_articles(folder / "squad2" / "squad2_train.json")
    articles = [*report, *more]
    book_id = harness.name_book(BOOK)
    await harness.publish(book_id, ArticleReader(tuple(articles)))
    answered = _sample_kind(report, "answered", harness)
    look_alikes = _sample_kind(report, "look_alike", harness)
    asked = await ask_book([*answered, *look_alikes], book_id, harness)
    figures = (
        *await _make_passage_figures(asked[: len(answered)], articles, book_id, harness),
        *await _make_foreign_figures(answered, report, articles, harness),
    )
    about = (
        f"{len(answered)} questions and {len(look_alikes)} look-alikes from {len(report)} articles, put to a book "
        f"of {len(articles)} and answered in full; a sentence is right if it holds a gold answer."
    )
    return [make_set_result("SQuAD report", about, asked, harness, more_figures=figures)]


def _sample_kind(articles: Sequence[Article], kind: str, harness: Harness) -> list[EvalQuestion]:
    questions = [one for article in articles for one in article.questions if one.kind == kind]
    return harness.sample(questions, QUICK)


async def _make_passage_figures(
    asked: Sequence[AskedQuestion], articles: Sequence[Article], book_id: str, harness: Harness
) -> list[Figure]:
    """Judge each question again without the passages of the paragraph that answers."""
    spans = {article.document.document_id: article.paragraphs for article in articles}
    found, without = [], []
    for number, one in enumerate(asked, 1):
        question = one.result.question
        plan = make_book_plan(question.question, book_id, _DEPTH)
        passages = await harness.retrieve(plan)
        first = find_first_paragraphs(passages, spans)
        found.append((question.document_id, question.paragraph) in first)
        rest = tuple(passage for passage in passages if not touches_paragraph(passage, question))
        without.append(await harness.judge(plan, rest))
        harness.on_progress(number, len(asked))
    return [
        make_share_figure("gold paragraph among the first five", found),
        make_auroc_figure(
            "passages without the answer, AUROC of the judge",
            [one.result.answerable for one in asked],
            [one.answerable for one in without],
            ([one.cosine for one in asked], [one.cosine for one in without]),
        ),
    ]


async def _make_foreign_figures(
    questions: Sequence[EvalQuestion],
    report: Sequence[Article],
    articles: Sequence[Article],
    harness: Harness,
) -> list[Figure]:
    """Ask each question of the book without its article, where it is foreign, and of another book."""
    books = await _publish_without_each(report, articles, harness)
    choice = random.Random(1)  # noqa: S311 - a fixed seed
    inside, outside = [], []
    for number, question in enumerate(questions, 1):
        others = [name for omitted, name in books.items() if omitted != question.document_id]
        outside.append(await _judge_in(question, books[question.document_id], harness))
        inside.append(await _judge_in(question, choice.choice(others), harness))
        harness.on_progress(number, len(questions))
    baseline = [one.cosine for one in inside], [one.cosine for one in outside]
    return [
        make_auroc_figure(
            "foreign questions, AUROC of relevance",
            [one.relevance for one in inside],
            [one.relevance for one in outside],
            baseline,
        ),
        make_auroc_figure(
            "foreign questions, AUROC of relevance x judge",
            [one.relevance * one.answerable for one in inside],
            [one.relevance * one.answerable for one in outside],
            baseline,
        ),
    ]


async def _publish_without_each(
    report: Sequence[Article], articles: Sequence[Article], harness: Harness
) -> dict[str, str]:
    """Publish a book without each report article, and return its id by the article omitted."""
    books = {}
    for number, article in enumerate(report):
        book_id = harness.name_book(f"{BOOK}-without-{number}")
        others = tuple(other for other in articles if other is not article)
        await harness.publish(book_id, ArticleReader(others))
        books[article.document.document_id] = book_id
    return books


async def _judge_in(question: EvalQuestion, book_id: str, harness: Harness) -> JudgedQuestion:
    plan = make_book_plan(question.question, book_id)
    return await harness.judge(plan, await harness.retrieve(plan))


def find_first_paragraphs(
    passages: Sequence[Passage], spans: Spans, most: int = 5
) -> list[tuple[str, tuple[int, int]]]:
    """Find the first distinct paragraphs that passages share text with, in the order of passages."""
    first: dict[tuple[str, tuple[int, int]], None] = {}
    for passage in passages:
        chunk = passage.chunk
        for start, end in spans[chunk.document_id]:
            if start < chunk.char_end and chunk.char_start < end:
                first.setdefault((chunk.document_id, (start, end)))
    return list(first)[:most]
