"""SQuAD: questions, look-alikes and foreign questions over one book of articles."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from bythebook.ask.pipeline import AskPorts
from bythebook.ask.retrieve import retrieve
from bythebook.domain.answers import Passage
from bythebook.evaluate.bench import Bench, Seen, look, plan_for
from bythebook.evaluate.book_sets import (
    Compared,
    ask_book,
    book_figures,
    verdicts_of,
)
from bythebook.evaluate.figures import auroc, share
from bythebook.evaluate.measured import Figure, Measured, apart, known, rate
from bythebook.evaluate.sets import Article, ArticleReader, EvalQuestion, load_articles

_DEPTH = 20  # passages asked for, so that five distinct paragraphs are among them
QUICK = 25  # questions of each kind in a quick run
BOOK = "squad"
Spans = Mapping[str, Sequence[tuple[int, int]]]


async def measure_squad(folder: Path, bench: Bench) -> list[Measured]:
    """Ask the report articles' questions of a book of all articles."""
    report = load_articles(folder / "squad2" / "squad2_report.json")
    more = [] if bench.quick else load_articles(folder / "squad2" / "squad2_train.json")
    articles = [*report, *more]
    await bench.publish(_name(BOOK, bench), ArticleReader(tuple(articles)))
    own = bench.draw([one for article in report for one in answerable(article)], QUICK)
    alike = bench.draw([one for article in report for one in look_alikes(article)], QUICK)
    compared = await ask_book([*own, *alike], _name(BOOK, bench), bench)
    figures = (
        *book_figures(compared, bench),
        *await _passage_figures(compared[: len(own)], articles, bench),
        *await _foreign_figures(own, report, articles, bench),
    )
    about = (
        f"{len(own)} questions and {len(alike)} look-alikes of {len(report)} articles, asked of a book of "
        f"{len(articles)} from end to end; right is a sentence that holds a gold answer."
    )
    verdicts = verdicts_of(compared)
    return [Measured("SQuAD report", about, known(figures), verdicts)]


def _name(book_id: str, bench: Bench) -> str:
    return f"{book_id}-quick" if bench.quick else book_id


async def _passage_figures(
    own: Sequence[Compared], articles: Sequence[Article], bench: Bench
) -> list[Figure]:
    """Judge again without the passages of the answer's paragraph what was judged with them."""
    spans = {article.document.document_id: article.paragraphs for article in articles}
    found, without = [], []
    for number, one in enumerate(own, 1):
        question = one.asked.question
        plan = plan_for(question.question, _name(BOOK, bench), _DEPTH)
        passages = await retrieve(plan, bench.ask)
        found.append(
            (question.document_id, question.paragraph) in first_paragraphs(passages, spans)
        )
        rest = tuple(passage for passage in passages if not _is_of(passage, question))
        without.append(await look(plan, rest, bench.ask))
        bench.on_done(number, len(own))
    return [
        rate("gold paragraph among the first five", found),
        apart(
            "passages without the answer told by the judge",
            [one.asked.answerable for one in own],
            [seen.answerable for seen in without],
            ([one.cosine for one in own], [seen.cosine for seen in without]),
        ),
    ]


async def _foreign_figures(
    own: Sequence[EvalQuestion],
    report: Sequence[Article],
    articles: Sequence[Article],
    bench: Bench,
) -> list[Figure]:
    """Leave out one article at a time: each question is foreign there, and the book's in another."""
    books = await publish_without(report, articles, bench)
    draw = random.Random(1)  # noqa: S311 - a fixed draw
    inside, outside = [], []
    for number, question in enumerate(own, 1):
        others = [name for left_out, name in books.items() if left_out != question.document_id]
        outside.append(await _look_in(question, books[question.document_id], bench.ask))
        inside.append(await _look_in(question, draw.choice(others), bench.ask))
        bench.on_done(number, len(own))
    baseline = [seen.cosine for seen in inside], [seen.cosine for seen in outside]
    return [
        apart(
            "foreign questions told by relevance",
            [seen.relevance for seen in inside],
            [seen.relevance for seen in outside],
            baseline,
        ),
        apart(
            "foreign questions told by relevance x judge",
            [seen.relevance * seen.answerable for seen in inside],
            [seen.relevance * seen.answerable for seen in outside],
            baseline,
        ),
    ]


async def publish_without(
    report: Sequence[Article], articles: Sequence[Article], bench: Bench
) -> dict[str, str]:
    """Make a book without each article; give its id by the article left out."""
    books = {}
    for number, article in enumerate(report):
        book_id = _name(f"{BOOK}-without-{number}", bench)
        others = tuple(other for other in articles if other is not article)
        await bench.publish(book_id, ArticleReader(others))
        books[article.document.document_id] = book_id
    return books


async def _look_in(question: EvalQuestion, book_id: str, ports: AskPorts) -> Seen:
    plan = plan_for(question.question, book_id)
    return await look(plan, await retrieve(plan, ports), ports)


def _is_of(passage: Passage, question: EvalQuestion) -> bool:
    """Say whether a passage holds some of the paragraph that answers."""
    chunk = passage.chunk
    if question.paragraph is None or chunk.document_id != question.document_id:
        return False
    start, end = question.paragraph
    return start < chunk.char_end and chunk.char_start < end


async def paragraph_recall(
    articles: Sequence[Article], book_id: str, ports: AskPorts, spans: Spans
) -> float:
    """Give the share of answerable questions whose paragraph is among the first five distinct ones."""
    found = []
    for article in articles:
        for question in answerable(article):
            passages = await retrieve(plan_for(question.question, book_id, _DEPTH), ports)
            first = first_paragraphs(passages, spans)
            found.append((question.document_id, question.paragraph) in first)
    return share(found)


def first_paragraphs(
    passages: Sequence[Passage], spans: Spans, most: int = 5
) -> list[tuple[str, tuple[int, int]]]:
    """Give the first distinct paragraphs that passages touch, in the order found."""
    first: dict[tuple[str, tuple[int, int]], None] = {}
    for passage in passages:
        chunk = passage.chunk
        for start, end in spans[chunk.document_id]:
            if start < chunk.char_end and chunk.char_start < end:
                first.setdefault((chunk.document_id, (start, end)))
    return list(first)[:most]


async def foreign_auroc(
    report: Sequence[Article], books_without: Mapping[str, str], ports: AskPorts
) -> Mapping[str, float]:
    """Leave out one article at a time: its questions are foreign, the others' are the book's; pool."""
    inside: list[float] = []
    outside: list[float] = []
    for article in report:
        book_id = books_without[article.document.document_id]
        for other in report:
            pool = outside if other is article else inside
            for question in answerable(other):
                plan = plan_for(question.question, book_id)
                pool.append((await retrieve(plan, ports))[0].relevance)
    return {"foreign questions: AUROC of relevance": auroc(inside, outside)}


def answerable(article: Article) -> list[EvalQuestion]:
    """Give the questions that the article answers."""
    return [question for question in article.questions if question.kind == "answered"]


def look_alikes(article: Article) -> list[EvalQuestion]:
    """Give the questions that only look as if it did."""
    return [question for question in article.questions if question.kind == "look_alike"]
