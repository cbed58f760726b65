import json
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from evals.readers_books import (
    SET,
    Gold,
    ReaderQuestion,
    hash_words,
    holds_gold,
    load_readers_questions,
    make_eval_question,
    resolve_golds,
)

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.errors import BadQuestions

BOOKS = ("turing-way", "quantecon-intro")
DEMANDING = {"list", "how-to", "code", "why", "comparison"}
FIELDS = {"id", "split", "kind", "form", "book", "page", "question", "golds"}


@cache
def questions() -> list[ReaderQuestion]:
    return load_readers_questions()


def answerable_questions() -> list[ReaderQuestion]:
    return [question for question in questions() if question.kind == "answered"]


def test_there_are_enough_questions_of_each_kind_on_each_book() -> None:
    counts = Counter((question.book, question.kind) for question in questions())
    assert len(questions()) >= 170
    for book in BOOKS:
        assert counts[book, "answered"] >= 60
        assert counts[book, "look-alike"] >= 15
        assert counts[book, "foreign"] >= 10


def test_at_least_a_third_ask_for_more_than_a_sentence_of_fact() -> None:
    forms = Counter[str](question.form for question in answerable_questions())
    assert sum(forms[form] for form in DEMANDING) >= len(answerable_questions()) / 3
    assert all(forms[form] >= 8 for form in (*DEMANDING, "table", "notation", "definition"))


@pytest.mark.parametrize("book", BOOKS)
@pytest.mark.parametrize("kind", ["answered", "look-alike", "foreign"])
def test_about_two_fifths_are_for_development(book: str, kind: str) -> None:
    splits = [one.split for one in questions() if (one.book, one.kind) == (book, kind)]
    assert splits.count("dev") / len(splits) == pytest.approx(0.4, abs=0.06)


def test_the_questions_on_a_page_are_in_one_split() -> None:
    splits = defaultdict(set)
    for question in questions():
        for page in {question.page, *(gold.page for gold in question.golds)} - {""}:
            splits[question.book, page].add(question.split)
    assert [page for page, found in splits.items() if len(found) > 1] == []


def test_ids_and_questions_are_unique() -> None:
    assert len({question.question_id for question in questions()}) == len(questions())
    assert len({question.question.casefold() for question in questions()}) == len(questions())


def test_only_answered_questions_have_golds() -> None:
    for question in questions():
        assert bool(question.golds) == (question.kind == "answered"), question
        assert bool(question.page) == (question.kind != "foreign"), question


def test_the_set_holds_places_and_no_text_of_the_books() -> None:
    for line in SET.read_text("utf-8").splitlines():
        entry = json.loads(line)
        assert set(entry) == FIELDS
        for gold in entry["golds"]:
            assert set(gold) == {"page", "section", "start", "words", "sha256"}
            assert len(gold["sha256"]) == 16
            assert int(gold["sha256"], 16) >= 0


GOLD = Gold("page.md", "Use", start=4, words=3, sha256=hash_words(["it", "runs", "tests"]))


def make_question(gold: Gold = GOLD) -> ReaderQuestion:
    """Ask about the second sentence of a small page."""
    return ReaderQuestion("q1", "dev", "answered", "fact", "book", "page.md", "What for?", (gold,))


@pytest.fixture
def books(tmp_path: Path) -> Path:
    page = tmp_path / "book" / "page.md"
    page.parent.mkdir()
    page.write_text("Use it now.\n\n# Use\n\nIt *runs* tests.\n", "utf-8")
    return tmp_path


def test_a_gold_is_found_again_by_its_place(books: Path) -> None:
    question = make_question()
    assert list(resolve_golds([question], books)) == [(question, ("it runs tests",))]


@pytest.mark.parametrize(
    "gold", [replace(GOLD, start=3), replace(GOLD, words=2), replace(GOLD, section="Other")]
)
def test_a_gold_whose_words_moved_is_reported(books: Path, gold: Gold) -> None:
    with pytest.raises(BadQuestions, match=r"q1 .* page\.md"):
        list(resolve_golds([make_question(gold)], books))


def test_an_unknown_kind_is_reported(tmp_path: Path) -> None:
    entry = json.loads(SET.read_text("utf-8").splitlines()[0])
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(entry | {"kind": "other"}), "utf-8")
    with pytest.raises(BadQuestions, match="kind 'other'"):
        load_readers_questions(path)


def test_an_answer_holds_a_gold_if_its_words_stand_in_one_run() -> None:
    assert holds_gold("Indeed: it runs **tests**.", ("other words", "it runs tests"))
    assert not holds_gold("It runs the tests.", ("it runs tests",))


def test_a_question_becomes_one_of_the_product(books: Path) -> None:
    (resolved,) = resolve_golds([make_question()], books)
    made = make_eval_question(*resolved)
    assert (made.kind, made.document_id, made.section) == ("answered", "page", "Use")
    look_alike = replace(resolved[0], kind="look-alike", golds=())
    assert make_eval_question(look_alike, ()).kind == "look_alike"


def test_every_gold_stands_where_the_set_says(eval_data: Path) -> None:
    resolved = list(resolve_golds(questions(), eval_data / "books"))
    assert all(len(texts) == len(question.golds) and all(texts) for question, texts in resolved)


@pytest.mark.parametrize("book", BOOKS)
def test_every_gold_stands_in_the_page_as_the_product_reads_it(eval_data: Path, book: str) -> None:
    folder = eval_data / "books" / book
    source = MarkdownReader().read(str(folder), title=None, base_url=None)
    documents = source.documents  # named from where the book's own folder begins

    @cache
    def text(page: str) -> str:
        name = f"/{page.removesuffix('.md')}"
        return next(d for d in documents if name.endswith(f"/{d.document_id}")).read().text

    asked = [question for question in answerable_questions() if question.book == book]
    missing = [
        (question.question_id, gold)
        for question, golds in resolve_golds(asked, eval_data / "books")
        for place, gold in zip(question.golds, golds, strict=True)
        if not holds_gold(text(place.page), (gold,))
    ]
    assert missing == []
