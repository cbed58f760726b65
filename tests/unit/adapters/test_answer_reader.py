"""A model's answer, read as it comes: sentences are given as soon as they are whole."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.adapters.providers.agents.replies.answer_reader import (
    AnswerReader,
    UnusableAnswer,
    WrittenSentence,
    find_first_object,
)

WALK = {"text": "Robots walk.", "quotes": [{"passage": 1, "quote": "robots walk"}]}
FALL = {"text": 'They "fall" {often}.', "quotes": [{"passage": 2, "quote": "fall \\ [often]"}]}
READ = [
    WrittenSentence("Robots walk.", ((1, "robots walk"),)),
    WrittenSentence('They "fall" {often}.', ((2, "fall \\ [often]"),)),
]


def answer(*sentences: object) -> str:
    return json.dumps({"sentences": sentences})


def read(text: str, size: int = 1) -> list[WrittenSentence]:
    reader = AnswerReader()
    for at in range(0, len(text), size):
        reader.feed(text[at : at + size])
    reader.finish()
    return reader.sentences


@given(st.integers(1, 40))
def test_reads_the_same_however_the_answer_is_cut_into_pieces(size: int) -> None:
    assert read(answer(WALK, FALL), size) == READ


def test_gives_a_sentence_as_soon_as_it_is_whole() -> None:
    reader = AnswerReader()
    whole = answer(WALK, FALL)
    cut = whole.index("}]}") + 3
    assert reader.feed(whole[: cut - 1]) == []
    assert reader.feed(whole[cut - 1 : cut]) == READ[:1]
    assert not reader.complete
    assert reader.feed(whole[cut:]) == READ[1:]
    assert reader.complete


@pytest.mark.parametrize(
    "around",
    [
        "```json\n{}\n```",
        "Sure! Here is the JSON you asked for:\n\n{}\n\nI hope this helps {{you}} [a lot].",
        '<think>Maybe {{"sentences": [{{"text": 1}}]}}? No.</think>\n{}',
        "\n\n  {}  ",
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_what_stands_around_the_answer_does_not_matter(around: str, size: int) -> None:
    assert read(around.format(answer(WALK, FALL)), size) == READ


def test_a_bare_list_or_a_bare_sentence_is_an_answer_too() -> None:
    assert read(json.dumps([WALK, FALL])) == READ
    assert read(json.dumps(WALK)) == READ[:1]


def test_an_empty_list_is_the_verdict_that_nothing_answers() -> None:
    assert read(answer()) == []


def test_a_line_break_in_a_quote_is_no_fault() -> None:
    text = answer(WALK).replace("robots walk", "robots\nwalk")
    assert read(text)[0].quotes == ((1, "robots\nwalk"),)


@pytest.mark.parametrize("number", ["1", "[1]", "passage 1", "Passage 1:"])
def test_a_passage_may_be_named_in_words(number: str) -> None:
    named = {"text": "Robots walk.", "quotes": [{"passage": number, "quote": "robots walk"}]}
    assert read(answer(named)) == READ[:1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "I cannot answer that.",
        "{",
        '{"sentences": "none"}',
        '{"sentences": ["Robots walk."]}',
        '{"sentences": [{"sentence": "Robots walk."}]}',
        answer({"text": "Robots walk."}),
        answer({"text": "", "quotes": []}),
        answer({"text": "Robots walk.", "quotes": "robots walk"}),
        answer({"text": "Robots walk.", "quotes": ["robots walk"]}),
        answer({"text": "Robots walk.", "quotes": [{"passage": "the first", "quote": "walk"}]}),
        answer({"text": "Robots walk.", "quotes": [{"passage": True, "quote": "walk"}]}),
        '{"sentences": [{"text": "a", "quotes": [}]}',
        '{"sentences": [{"text": ' + "[" * 10_000,
        "[" * 10_000,
        '{"answer": "Robots walk."}',
        answer(WALK)[:-2],
        answer(WALK, FALL)[:-10],
    ],
)
@pytest.mark.parametrize("size", [1, 10_000])
def test_what_is_no_answer_cannot_be_used(text: str, size: int) -> None:
    with pytest.raises(UnusableAnswer):
        read(text, size)


@given(st.text())
def test_any_text_is_an_answer_or_cannot_be_used(text: str) -> None:
    with suppress(UnusableAnswer):
        read(text, 3)


def test_a_long_answer_costs_no_more_than_its_length() -> None:
    long = {"text": "word " * 20_000, "quotes": []}
    assert len(read("x" * 100_000 + answer(long))) == 1


def test_finds_the_first_object_in_prose() -> None:
    assert find_first_object('Yes [1]: ```{"answers": true}```') == {"answers": True}
    with pytest.raises(UnusableAnswer):
        find_first_object("yes")
