from typing import get_args

import pytest

from bythebook.ask.show.wording import (
    DISCLAIMER,
    MOST_WORDS_QUOTED,
    advice,
    answer_opening,
    remove_opening,
    section_name,
)
from bythebook.domain.answers import NOTHING_READ, NearestSection, RefusalType, Refused


def test_nothing_opens_an_answer_to_the_whole_question() -> None:
    assert answer_opening(cautious=False, missing=(), selection=False) is None
    assert answer_opening(cautious=True, missing=(), selection=False) == DISCLAIMER


def test_what_is_missing_is_said_in_the_readers_words() -> None:
    assert answer_opening(cautious=False, missing=("who invented it",), selection=False) == (
        "The book does not say: “who invented it”."
    )
    assert answer_opening(cautious=False, missing=("who “made” it?",), selection=False) == (
        'The book does not say: “who "made" it”.'
    )
    assert answer_opening(cautious=True, missing=("who?", "why?"), selection=True) == (
        f"{DISCLAIMER} The selected text does not say: “who”; “why”."
    )


def test_a_long_part_is_quoted_as_far_as_needed_to_know_it_again() -> None:
    told = answer_opening(cautious=False, missing=("word " * 100,), selection=False)
    assert told is not None
    quoted = told.partition("“")[2].partition("”")[0]
    assert quoted.endswith("word…")
    assert MOST_WORDS_QUOTED - 10 < len(quoted) <= MOST_WORDS_QUOTED


@pytest.mark.parametrize("caution", [False, True])
@pytest.mark.parametrize("missing", [(), ("who “made” it",), ("who", "why")])
@pytest.mark.parametrize("selection", [True, False])
def test_what_opens_an_answer_can_be_taken_off_again(
    caution: bool, missing: tuple[str, ...], selection: bool
) -> None:
    told = answer_opening(cautious=caution, missing=missing, selection=selection)
    answer = "The book does not say: nothing. A gait is."
    assert remove_opening(f"{told} {answer}" if told else answer) == answer


def test_each_kind_of_refusal_has_advice_of_its_own() -> None:
    told = {
        advice(Refused(kind, (), (), NOTHING_READ, "standard_rag", {}))
        for kind in get_args(RefusalType)
    }
    assert len(told) == 4


def test_a_section_is_named_once_where_chapter_and_section_are_alike() -> None:
    assert section_name(NearestSection("b", "d", "Gaits", "Walk", "u")) == "Gaits · Walk"
    assert section_name(NearestSection("b", "d", "Gaits", "Gaits", "u")) == "Gaits"
    assert section_name(NearestSection("b", "d", "", "Walk", "u")) == "Walk"
