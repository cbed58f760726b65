from dataclasses import replace

import pytest
from tests.unit.fakes import make_chunk

from bythebook.ask.compose.context import MOST_LEAD, add_context, announces, points_back
from bythebook.domain.books import Chunk, UnitKind


def context_texts(chunk: Chunk, at: int, *, steps: bool = False) -> list[str]:
    return [chunk.text[unit.start : unit.end] for unit in add_context(chunk, at, steps=steps)]


def rows(*texts: str) -> list[tuple[UnitKind, str]]:
    return [("row", text) for text in texts]


@pytest.mark.parametrize(
    "sentence",
    [
        "It repeats.",
        "They are slow.",
        "This makes it fall.",
        "These parts wear out.",
        "Such a gait is static.",
        "The former is cheaper.",
        "Therefore the robot falls.",
        "However, this is rare.",
        "For example, a dog trots.",
        "“It” is short.",
    ],
)
def test_a_sentence_points_back_by_how_it_opens(sentence: str) -> None:
    assert points_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "A gait repeats.",
        "Item one is first.",
        "Thisbe loved Pyramus.",
        "This chapter is about gaits.",
        "It is important to rest.",
        "Theory comes first.",
        "Hereditary rule ended.",
    ],
)
def test_other_sentences_stand_by_themselves(sentence: str) -> None:
    assert not points_back(sentence)


def test_a_sentence_that_points_back_comes_with_the_one_before_it() -> None:
    chunk = make_chunk("A heron stands.", "It eats fish.", "A dog barks.")
    assert context_texts(chunk, 1) == ["A heron stands.", "It eats fish."]
    assert context_texts(chunk, 2) == ["A dog barks."]


def test_pointing_back_goes_over_two_sentences_and_no_further() -> None:
    chunk = make_chunk("A heron stands.", "It waits.", "It eats.", "It flies.")
    assert context_texts(chunk, 2) == ["A heron stands.", "It waits.", "It eats."]
    assert context_texts(chunk, 3) == ["It waits.", "It eats.", "It flies."]


def test_what_is_pointed_to_must_be_a_short_whole_sentence_of_the_passage() -> None:
    assert context_texts(make_chunk("It eats fish."), 0) == ["It eats fish."]
    assert context_texts(make_chunk("Figure of a heron", "It eats fish."), 1) == ["It eats fish."]
    assert context_texts(make_chunk(("item", "A heron."), "It eats fish."), 1) == ["It eats fish."]
    long = "A " + "very " * MOST_LEAD + "old heron stands."
    assert context_texts(make_chunk(long, "It eats fish."), 1) == ["It eats fish."]


def test_a_row_comes_with_the_names_of_its_columns() -> None:
    chunk = make_chunk("The table shows it.", *rows("Body | Mass", "Dog | 30 kg", "Cat | 4 kg"))
    assert context_texts(chunk, 3) == ["Body | Mass", "Cat | 4 kg"]
    assert context_texts(chunk, 1) == ["Body | Mass"]


def test_a_table_whose_first_row_names_no_columns_has_no_head() -> None:
    assert context_texts(make_chunk(*rows("1 | 30", "2 | 40")), 1) == ["2 | 40"]
    assert context_texts(make_chunk(*rows("Masses", "Dog | 30 kg")), 1) == ["Dog | 30 kg"]


def test_a_table_that_only_goes_on_in_the_passage_has_no_head_there() -> None:
    chunk = replace(make_chunk(*rows("Dog | heavy", "Cat | light")), header="Body | Mass")
    assert context_texts(chunk, 1) == ["Cat | light"]


def test_an_item_comes_with_its_lead_only_where_it_says_too_little_alone() -> None:
    chunk = make_chunk(
        "Three things follow:", ("item", "speed;"), ("item", "A walk is slow and has two feet.")
    )
    assert context_texts(chunk, 1) == ["Three things follow:", "speed;"]
    assert context_texts(chunk, 2) == ["A walk is slow and has two feet."]


def test_steps_bring_the_whole_list_and_its_lead() -> None:
    chunk = make_chunk("Do this:", ("item", "Rise up from the chair."), ("item", "Walk."))
    assert context_texts(chunk, 1, steps=True) == ["Do this:", "Rise up from the chair.", "Walk."]


def test_code_and_a_formula_come_with_the_sentence_that_announces_them() -> None:
    chunk = make_chunk("Run this:", ("code", "walk()"), "By the law,", ("formula", "F = m a"))
    assert context_texts(chunk, 1) == ["Run this:", "walk()"]
    assert context_texts(chunk, 3) == ["By the law,", "F = m a"]
    assert context_texts(chunk, 2) == ["By the law,", "F = m a"]


def test_a_sentence_explaining_a_formula_comes_with_it() -> None:
    chunk = make_chunk(("formula", "F = m a"), "Here m is the mass.")
    assert context_texts(chunk, 1) == ["F = m a", "Here m is the mass."]


@pytest.mark.parametrize(("text", "expected"), [("as follows:", True), ("so it is.", False)])
def test_an_announcement_ends_in_a_colon(text: str, expected: bool) -> None:
    assert announces(text) is expected
