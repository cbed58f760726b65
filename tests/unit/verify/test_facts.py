"""Numbers, names and identifiers of a sentence stand in what it cites, however they are written."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.ask.verify.facts import Facts
from bythebook.ask.verify.numbers import numbers

BOOK = (
    "In 2017-10-31 the National Aeronautics and Space Administration flew 1,000 robots of fifteen kg, "
    "at 20% of 1.5 million dollars, to Germany and the U.S. by foo_bar() on an ESP32 with Node.js. "
    "At −5 °C it ran for 2018-19. Turing saw ten to twenty million of them on March 3."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "There were 1000 robots.",
        "There were one thousand of them.",
        "Each weighs 15 kilograms.",
        "It is 20 percent, or 20 per cent.",
        "It costs $1,500,000.",
        "It was in October 2017.",
        "It happened on 31 October.",
        "It ran until 2019.",
        "It was at -5 degrees.",
        "About 10 million of them were seen by Turing's group.",
        "The German and American robots of NASA, and of the United States.",
        "It calls `foo_bar` on ESP32s with Node.js.",
        "On the first day one of them ran.",
    ],
)
def test_what_the_book_says_in_other_figures_or_forms_stands(sentence: str) -> None:
    assert Facts([BOOK + " Americans saw it."]).find_missing(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("There were 1,001 robots.", "1,001"),
        ("Each weighs 15 g.", "15"),
        ("It is 30 million.", "30"),
        ("It costs 1.5 billion dollars.", "1.5 billion"),
        ("There were eleven.", "eleven"),
        ("It was at +6 and -7 degrees.", "6"),
        ("It was seen on March 5.", "5"),
        ("It was made by Lovelace.", "Lovelace"),
        ("It flew to France.", "France"),
        ("Lovelace's robots flew.", "Lovelace's"),
        ("It calls foo_baz().", "foo_baz()"),
        ("It runs on an ESP64.", "ESP64"),
        ("It runs on Deno.js.", "Deno.js"),
        ("It takes --verbose.", "--verbose"),
    ],
)
def test_what_the_book_does_not_have_is_told(sentence: str, missing: str) -> None:
    told = Facts([BOOK]).find_missing(sentence)
    assert told
    assert told[0].startswith(missing)


def test_twenty_million_of_a_range_is_not_twenty() -> None:
    assert not Facts(["From 10 to 20 million."]).find_missing("It was 10 million.")
    assert Facts(["From 10 to 20 million."]).find_missing("It was 20.")


@given(st.text())
def test_no_text_is_too_odd_to_read(text: str) -> None:
    assert Facts([text]).find_missing(text) is not None


@given(st.integers(0, 10**9))
def test_a_number_is_the_same_with_and_without_its_commas(number: int) -> None:
    (plain,), (parted,) = numbers(f"It is {number}."), numbers(f"It is {number:,}.")
    assert plain.values & parted.values


@pytest.mark.parametrize(
    "text", ["9" * 100_000, "1,000," * 20_000, "A-" * 50_000, "A a. " * 20_000]
)
def test_a_long_passage_is_read_in_no_more_than_its_length(text: str) -> None:
    begun = time.process_time()
    Facts([text]).find_missing("Nothing of it.")
    assert time.process_time() - begun < 30  # quadratic work takes minutes
