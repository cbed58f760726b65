"""The hand-written dialogues: their structure, and golds that stand where they say."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.bootstrap import sample_book
from bythebook.domain.books import Document

PATH = Path(__file__).parents[3] / "evals" / "dialogues.jsonl"
LEAST = {"sample": 45, "turing-way": 25}  # dialogues about each book
TURN_FIELDS = {"question", "standalone", "kind", "leans", "gold"}
QUOTE_FIELDS = {"page", "section", "quote"}
PLACE_FIELDS = {"page", "section", "start", "words", "sha256"}


@cache
def dialogues() -> list[dict[str, Any]]:
    return [json.loads(line) for line in PATH.read_text("utf-8").splitlines()]


def turns() -> list[dict[str, Any]]:
    return [turn for dialogue in dialogues() for turn in dialogue["turns"]]


def follow_ups() -> list[dict[str, Any]]:
    return [turn for dialogue in dialogues() for turn in dialogue["turns"][1:]]


def golds(book: str) -> Iterator[dict[str, Any]]:
    for dialogue in dialogues():
        if dialogue["book"] == book:
            yield from (turn["gold"] for turn in dialogue["turns"] if turn["gold"])


def page_words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


@cache
def sample_documents() -> dict[str, Document]:
    book = MarkdownReader().read(str(sample_book()), title=None, base_url=None)
    documents = [document.read() for document in book.documents]
    return {document.title: document for document in documents}


def sample_document(page: str) -> Document:
    text = (sample_book() / "docs" / page).read_text("utf-8")
    title = text.split("title:", 1)[1].partition("\n")[0].strip().strip("\"'")
    return sample_documents()[title]


def test_there_are_enough_dialogues_about_each_book() -> None:
    counts = Counter(dialogue["book"] for dialogue in dialogues())
    assert counts.keys() == LEAST.keys()
    assert all(counts[book] >= least for book, least in LEAST.items())


def test_ids_are_unique_and_dialogues_have_two_to_four_turns() -> None:
    assert len({dialogue["id"] for dialogue in dialogues()}) == len(dialogues())
    assert {len(dialogue["turns"]) for dialogue in dialogues()} <= {2, 3, 4}


def test_half_of_the_dialogues_about_each_book_are_for_development() -> None:
    for book in LEAST:
        splits = Counter(d["split"] for d in dialogues() if d["book"] == book)
        assert splits.keys() == {"dev", "test"}
        assert abs(splits["dev"] - splits["test"]) <= 2


def test_every_page_belongs_to_one_split() -> None:
    splits = defaultdict(set)
    for dialogue in dialogues():
        for turn in dialogue["turns"]:
            if turn["gold"]:
                splits[dialogue["book"], turn["gold"]["page"]].add(dialogue["split"])
    assert [page for page, names in splits.items() if len(names) > 1] == []


def test_every_turn_has_its_fields_and_a_gold_exactly_when_it_is_answered() -> None:
    for turn in turns():
        assert turn.keys() == TURN_FIELDS, turn
        assert turn["kind"] in {"answered", "unanswered"}, turn
        assert (turn["gold"] is not None) == (turn["kind"] == "answered"), turn


def test_a_question_that_leans_differs_from_its_standalone_form_and_no_other_does() -> None:
    for turn in turns():
        assert (turn["question"] != turn["standalone"]) == turn["leans"], turn


def test_first_questions_stand_alone_and_are_answered() -> None:
    for dialogue in dialogues():
        first = dialogue["turns"][0]
        assert not first["leans"], dialogue["id"]
        assert first["kind"] == "answered", dialogue["id"]


def test_no_standalone_question_is_asked_twice() -> None:
    counts = Counter(turn["standalone"].casefold() for turn in turns())
    assert [question for question, count in counts.items() if count > 1] == []


def test_most_follow_ups_lean_while_some_change_the_topic_or_have_no_answer() -> None:
    leaning = [turn for turn in follow_ups() if turn["leans"]]
    assert 0.85 <= len(leaning) / len(follow_ups()) <= 0.95
    assert sum(turn["kind"] == "unanswered" for turn in leaning) >= 20
    assert sum(not turn["leans"] for turn in follow_ups()) >= 15


def test_golds_of_the_sample_book_stand_verbatim_under_their_section() -> None:
    for gold in golds("sample"):
        assert gold.keys() == QUOTE_FIELDS, gold
        document = sample_document(gold["page"])
        sections = [s for s in document.sections if s.title == gold["section"]]
        assert any(gold["quote"] in document.text[s.start : s.end] for s in sections), gold


def test_golds_of_the_other_book_are_places_and_hashes_without_prose() -> None:
    for gold in golds("turing-way"):
        assert gold.keys() == PLACE_FIELDS, gold
        assert gold["start"] >= 0, gold
        assert gold["words"] > 0, gold
        assert re.fullmatch("[0-9a-f]{16}", gold["sha256"]), gold


def test_golds_of_the_other_book_have_the_words_that_were_hashed(eval_data: Path) -> None:
    for gold in golds("turing-way"):
        words = page_words(source_text(eval_data, gold["page"]))
        answer = words[gold["start"] : gold["start"] + gold["words"]]
        digest = hashlib.sha256(" ".join(answer).encode()).hexdigest()
        assert digest[:16] == gold["sha256"], gold


def test_golds_of_the_other_book_stand_below_their_heading(eval_data: Path) -> None:
    for gold in golds("turing-way"):
        text = source_text(eval_data, gold["page"])
        headings = re.finditer(rf"^#+ +{re.escape(gold['section'])} *$", text, re.MULTILINE)
        starts = [len(page_words(text[: heading.end()])) for heading in headings]
        assert any(start <= gold["start"] for start in starts), gold


def source_text(eval_data: Path, page: str) -> str:
    path = eval_data / "books" / "turing-way" / page
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path.read_text("utf-8")
