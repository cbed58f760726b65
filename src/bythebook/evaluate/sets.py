"""Question sets: our own JSON lines, and books with questions in SQuAD's form."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bythebook.domain.books import Block, Document, Section, SourceBook, SourceDocument
from bythebook.errors import BadQuestions

Kind = Literal["answered", "look_alike", "foreign"]


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with what is known of its answer."""

    question_id: str
    split: str
    kind: Kind
    question: str
    golds: tuple[str, ...] = ()  # quotes or answers, each enough
    document_id: str = ""
    paragraph: tuple[int, int] | None = None  # where the gold stands, when the set says so
    section: str = ""
    reworded: bool = False


def load_questions(path: Path) -> list[EvalQuestion]:
    """Read a set of JSON lines: {id, split, kind, question, quote, section, reworded}."""
    questions = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        if line.strip():
            try:
                questions.append(_question(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise BadQuestions(
                    f"Line {number} of {path.name} is not a question ({error}).",
                    "Each line is a JSON object with id, kind and question; answered ones have a quote.",
                ) from error
    if not questions:
        raise BadQuestions(f"{path.name} holds no question.", "Give a file of JSON lines.")
    return questions


def _question(value: dict[str, Any]) -> EvalQuestion:
    if value["kind"] not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}")
    if not isinstance(value["question"], str):
        raise TypeError("question must be text")
    return EvalQuestion(
        question_id=str(value["id"]),
        split=str(value.get("split", "all")),
        kind=value["kind"],
        question=value["question"],
        golds=(value["quote"],) if value["kind"] == "answered" else (),
        section=value.get("section", ""),
        reworded=bool(value.get("reworded", False)),
    )


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON lines of a published set, whose fields its own module knows."""
    try:
        return [json.loads(line) for line in _text(path).split("\n") if line.strip()]
    except ValueError as error:
        raise BadQuestions(f"{path.name} is not JSON lines.", "Fetch the set again.") from error


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestions(f"{path} cannot be read as text.", "Check the path.") from error


@dataclass(frozen=True, slots=True)
class Article:
    """A SQuAD article as a document, with the questions asked of it."""

    document: Document
    paragraphs: tuple[tuple[int, int], ...]
    questions: tuple[EvalQuestion, ...]

    def read(self) -> Document:
        """Give the document, as a source does."""
        return self.document


def load_articles(path: Path) -> list[Article]:
    """Read a file in SQuAD's form."""
    try:
        return [_article(value) for value in json.loads(_text(path))["data"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadQuestions(
            f"{path.name} is not in SQuAD's form.", 'It needs {"data": [articles]}.'
        ) from error


def _article(value: dict[str, Any]) -> Article:
    title = value["title"].replace("_", " ")
    text = title
    spans = []
    for paragraph in value["paragraphs"]:
        text += "\n\n"
        context = paragraph["context"].replace("\n", " ")
        spans.append((len(text), len(text) + len(context)))
        text += context
    blocks = (
        Block("heading", 0, len(title), level=1),
        *(Block("paragraph", *span) for span in spans),
    )
    section = Section(title, "", (title,), 0, len(text))
    document = Document(value["title"], title, title, text, blocks, (section,))
    questions = tuple(
        question
        for paragraph, span in zip(value["paragraphs"], spans, strict=True)
        for question in _paragraph_questions(paragraph, span, value["title"])
    )
    return Article(document, tuple(spans), questions)


def _paragraph_questions(
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


@dataclass(frozen=True, slots=True)
class ArticleReader:
    """A book reader over articles that are in memory already."""

    articles: tuple[Article, ...]

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Give the articles as one book."""
        documents = tuple(
            SourceDocument(article.document.document_id, article.document.text, article.read)
            for article in self.articles
        )
        return SourceBook(title or source, "SQuAD articles", base_url or "", documents)
