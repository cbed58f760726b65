"""Articles with questions, read from files in SQuAD's format, as a book."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bythebook.domain.books import Block, Document, Section, SourceBook, SourceDocument
from bythebook.errors import BadQuestions
from bythebook.evaluate.sets import EvalQuestion, read_set


@dataclass(frozen=True, slots=True)
class Article:
    """A document, and the questions about it."""

    document: Document
    paragraphs: tuple[tuple[int, int], ...]
    questions: tuple[EvalQuestion, ...]

    def read(self) -> Document:
        """Return the document, as a source does."""
        return self.document


@dataclass(frozen=True, slots=True)
class ArticleReader:
    """Reads articles that are already in memory as one book."""

    articles: tuple[Article, ...]

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Return the articles as one book."""
        documents = tuple(
            SourceDocument(article.document.document_id, article.document.text, article.read)
            for article in self.articles
        )
        return SourceBook(title or source, "SQuAD articles", base_url or "", documents)


def load_articles(path: Path) -> list[Article]:
    """Read a file in SQuAD's format."""
    try:
        return [_make_article(value) for value in json.loads(read_set(path))["data"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadQuestions(
            f"{path.name} is not in SQuAD's format.", 'It needs {"data": [articles]}.'
        ) from error


def _make_article(value: dict[str, Any]) -> Article:
    name = value["title"]
    contexts = [paragraph["context"].replace("\n", " ") for paragraph in value["paragraphs"]]
    document, spans = make_document(name, name.replace("_", " "), contexts)
    questions = tuple(
        question
        for paragraph, span in zip(value["paragraphs"], spans, strict=True)
        for question in _make_questions(paragraph, span, name)
    )
    return Article(document, spans, questions)


def make_document(
    document_id: str, title: str, paragraphs: list[str]
) -> tuple[Document, tuple[tuple[int, int], ...]]:
    """Make a document of a title and paragraphs, and return where each paragraph is in its text."""
    text, spans = title, []
    for paragraph in paragraphs:
        text += "\n\n"
        spans.append((len(text), len(text) + len(paragraph)))
        text += paragraph
    blocks = (
        Block("heading", 0, len(title), level=1),
        *(Block("paragraph", *span) for span in spans),
    )
    section = Section(title, "", (title,), 0, len(text))
    return Document(document_id, title, title, text, blocks, (section,)), tuple(spans)


def _make_questions(
    paragraph: dict[str, Any], span: tuple[int, int], document_id: str
) -> Iterator[EvalQuestion]:
    for entry in paragraph["qas"]:
        impossible = bool(entry.get("is_impossible", False))
        yield EvalQuestion(
            question_id=str(entry["id"]),
            split="all",
            kind="look_alike" if impossible else "answered",
            question=entry["question"],
            golds=() if impossible else tuple(dict.fromkeys(a["text"] for a in entry["answers"])),
            document_id=document_id,
            paragraph=span,
        )
