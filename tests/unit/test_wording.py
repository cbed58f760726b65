from typing import get_args

import pytest

from bythebook.ask.judge import DISCLAIMER
from bythebook.ask.wording import (
    MOST_WORDS_QUOTED,
    advice,
    opening,
    section_name,
    without_opening,
)
from bythebook.domain.answers import NearestSection, RefusalType, Refused


def test_nothing_opens_an_answer_to_the_whole_question() -> None:
    assert opening(None, (), selection=False) is None
    assert opening(DISCLAIMER, (), selection=False) == DISCLAIMER


def test_what_is_missing_is_said_in_the_readers_words() -> None:
    assert opening(None, ("who invented it",), selection=False) == (
        "The book does not say: “who invented it”."
    )
    assert opening(None, ("who “made” it?",), selection=False) == (
        'The book does not say: “who "made" it”.'
    )
    assert opening(DISCLAIMER, ("who?", "why?"), selection=True) == (
        f"{DISCLAIMER} The selected text does not say: “who”; “why”."
    )


def test_a_long_part_is_quoted_as_far_as_needed_to_know_it_again() -> None:
    told = opening(None, ("word " * 100,), selection=False)
    assert told is not None
    quoted = told.partition("“")[2].partition("”")[0]
    assert quoted.endswith("word…")
    assert MOST_WORDS_QUOTED - 10 < len(quoted) <= MOST_WORDS_QUOTED


@pytest.mark.parametrize("caution", [None, DISCLAIMER])
@pytest.mark.parametrize("missing", [(), ("who “made” it",), ("who", "why")])
@pytest.mark.parametrize("selection", [True, False])
def test_what_opens_an_answer_can_be_taken_off_again(
    caution: str | None, missing: tuple[str, ...], selection: bool
) -> None:
    told = opening(caution, missing, selection=selection)
    answer = "The book does not say: nothing. A gait is."
    assert without_opening(f"{told} {answer}" if told else answer) == answer


def test_each_kind_of_refusal_has_advice_of_its_own() -> None:
    told = {
        advice(Refused(kind, (), (), None, "standard_rag", {})) for kind in get_args(RefusalType)
    }
    assert len(told) == 4


def test_a_section_is_named_once_where_chapter_and_section_are_alike() -> None:
    assert section_name(NearestSection("b", "d", "Gaits", "Walk", "u")) == "Gaits · Walk"
    assert section_name(NearestSection("b", "d", "Gaits", "Gaits", "u")) == "Gaits"
    assert section_name(NearestSection("b", "d", "", "Walk", "u")) == "Walk"
