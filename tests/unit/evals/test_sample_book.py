import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.bootstrap import sample_book
from bythebook.domain.books import Document, SourceBook
from bythebook.evaluate.sets import EvalQuestion, load_questions

EVALS = Path(__file__).parents[3] / "evals" / "sample-book.jsonl"
SEEDS = [
    "What is ROS 2?",
    "How does ROS 2 work?",
    "How do ROS 2 nodes communicate?",
    "What are topics?",
    "How does ROS 2 compare to ROS 1?",
    "How do I create a ROS 2 publisher in Python?",
    "What is URDF?",
    "How do I train GPT-4?",
]


@cache
def book() -> SourceBook:
    return MarkdownReader().read(str(sample_book()), title=None, base_url=None)


@cache
def documents() -> list[Document]:
    return [document.read() for document in book().documents]


@cache
def questions() -> list[EvalQuestion]:
    return load_questions(EVALS)


@cache
def source() -> str:
    return "\n".join(
        path.read_text("utf-8") for path in sorted((sample_book() / "docs").rglob("*.md*"))
    )


def document_of(page: str) -> Document:
    """Find the document that was read from a file of the docs folder."""
    text = (sample_book() / "docs" / page).read_text("utf-8")
    title = text.split("title:", 1)[1].partition("\n")[0].strip().strip("\"'")
    (found,) = [document for document in documents() if document.title == title]
    return found


def test_the_sample_book_is_a_short_course_of_enough_chapters_and_words() -> None:
    chapters = {d.chapter for d in documents() if d.chapter.startswith("Chapter ")}
    assert book().title == "Physical AI and Humanoid Robotics: a short course"
    assert book().reader == "Docusaurus"
    assert len(chapters) >= 9
    assert sum(len(document.text.split()) for document in documents()) >= 14_000


def test_the_chapters_stand_in_the_order_of_their_numbers() -> None:
    numbered = [d.chapter for d in documents() if d.chapter.startswith("Chapter ")]
    numbers = [int(chapter.split()[1].rstrip(":")) for chapter in numbered]
    assert numbers == sorted(numbers)


def test_the_sample_book_has_every_kind_of_block() -> None:
    kinds = Counter(block.kind for document in documents() for block in document.blocks)
    assert all(
        kinds[kind] >= 5 for kind in ("code", "table", "formula", "caption", "list", "paragraph")
    )


@pytest.mark.parametrize("mark", [":::tip", ":::note", "<TabItem", "```python", "$$", "!["])
def test_the_sample_book_shows_what_docusaurus_can_do(mark: str) -> None:
    assert mark in source()


def test_every_image_has_alt_text_and_a_file() -> None:
    for line in source().splitlines():
        if line.startswith("!["):
            alt, _, target = line.removeprefix("![").partition("](")
            assert len(alt.split()) >= 3, line
            assert (sample_book() / "static" / target.rstrip(")").lstrip("/")).is_file(), line


def test_no_markup_is_left_in_the_text() -> None:
    for document in documents():
        for block in document.blocks:
            body = document.text[block.start : block.end]
            if block.kind != "code":
                assert not any(mark in body for mark in (":::", "<Tab", "@theme", "**", "](")), body


def test_there_are_enough_questions_of_each_kind() -> None:
    kinds = Counter(question.kind for question in questions())
    answered = [question for question in questions() if question.kind == "answered"]
    assert len(questions()) >= 260
    assert kinds["answered"] >= 150
    assert kinds["look_alike"] >= 60
    assert kinds["foreign"] >= 50
    assert sum(question.reworded for question in answered) >= len(answered) / 2


def test_about_a_third_of_each_kind_is_for_development() -> None:
    assert {question.split for question in questions()} == {"dev", "test"}
    for kind in ("answered", "look_alike", "foreign"):
        splits = [question.split for question in questions() if question.kind == kind]
        assert splits.count("dev") / len(splits) == pytest.approx(1 / 3, abs=0.03)


def test_ids_and_questions_are_unique() -> None:
    assert len({question.question_id for question in questions()}) == len(questions())
    assert len({question.question.casefold() for question in questions()}) == len(questions())


def test_every_gold_quote_stands_verbatim_under_its_section() -> None:
    for line in EVALS.read_text("utf-8").splitlines():
        entry = json.loads(line)
        if entry["kind"] == "answered":
            document = document_of(entry["page"])
            sections = [s for s in document.sections if s.title == entry["section"]]
            assert sections, entry
            assert any(entry["quote"] in document.text[s.start : s.end] for s in sections), entry


def test_the_examples_of_the_seeds_are_among_the_questions() -> None:
    kinds = {question.question: question.kind for question in questions()}
    assert [kinds.get(seed) for seed in SEEDS] == ["answered"] * 7 + ["foreign"]
