"""Figures of books in SQuAD's form: which paragraph is found, and which question is foreign."""

from collections.abc import Mapping, Sequence

from bythebook.ask.pipeline import AskPorts
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Question, Scope
from bythebook.evaluate.figures import auroc, share
from bythebook.evaluate.sets import Article, EvalQuestion

_DEPTH = 20  # passages asked for, so that five distinct paragraphs are among them


async def passages_of(question: EvalQuestion, book_id: str, ports: AskPorts) -> tuple[Passage, ...]:
    """Retrieve by the product's own path, deep enough to count paragraphs."""
    plan = make_plan(Question(question.question, Scope(book_id), top_k=_DEPTH))
    return await retrieve(plan, library=ports.library, embedder=ports.embedder, index=ports.index)


async def paragraph_recall(
    articles: Sequence[Article],
    book_id: str,
    ports: AskPorts,
    spans: Mapping[str, Sequence[tuple[int, int]]],
) -> float:
    """Give the share of answerable questions whose paragraph is among the first five distinct ones."""
    found = []
    for article in articles:
        for question in _answerable(article):
            first = _first_paragraphs(await passages_of(question, book_id, ports), spans)
            found.append((question.document_id, question.paragraph) in first)
    return share(found)


def _first_paragraphs(
    passages: Sequence[Passage], spans: Mapping[str, Sequence[tuple[int, int]]], most: int = 5
) -> list[tuple[str, tuple[int, int]]]:
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
    inside: list[Passage] = []
    outside: list[Passage] = []
    for article in report:
        book_id = books_without[article.document.document_id]
        for other in report:
            pool = outside if other is article else inside
            for question in _answerable(other):
                pool.append((await passages_of(question, book_id, ports))[0])
    return {
        "foreign questions: AUROC of relevance": auroc(
            [passage.relevance for passage in inside], [passage.relevance for passage in outside]
        ),
    }


def _answerable(article: Article) -> list[EvalQuestion]:
    return [question for question in article.questions if question.kind == "answered"]
