"""Quotes are found through any typography, and cited in the passage's own characters."""

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.unit.fakes import make_passage

from bythebook.ask.verify.folding import fold, without_hyphens
from bythebook.ask.verify.quotes import QuotedPassage
from bythebook.ask.verify.sentences import locate

_LETTERS = st.sampled_from([*"abcdeABC012 .,'\"-–—“”‘’…\n\u00a0\u00adﬁé½¼", "e\u0301"])
texts = st.lists(_LETTERS, min_size=1, max_size=60).map("".join)
_RETYPED = (
    ("’", "'"),
    ("“", '"'),
    ("”", '"'),
    ("—", "-"),
    ("–", "-"),
    ("…", "..."),
    ("ﬁ", "fi"),
    ("é", "e\u0301"),
    (" ", "\u00a0"),
    (" ", "\n "),
    ("\u00ad", ""),
)


def find_quote(text: str, quote: str) -> list[str]:
    page = QuotedPassage(make_passage(text))
    return [page.cite(span).quote for span in page.find(quote)]


@given(texts, st.data())
def test_any_slice_is_found_as_the_passage_has_it_however_it_is_retyped(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    assume(text[end : end + 1] != "\u0301" and text[start] != "\u0301")
    assume(any(letter.isalnum() for letter in text[start:end]))
    typed = text[start:end]
    for old, new in data.draw(st.lists(st.sampled_from(_RETYPED), max_size=4)):
        typed = typed.replace(old, new)
    citation = locate(make_passage(text), typed)
    assert citation is not None
    assert citation.stands
    assert citation.quote == text[citation.char_start : citation.char_end]
    said, wanted = fold(citation.quote), fold(text[start:end])
    strip = " -.,\"'"
    assert without_hyphens(said).letters.strip(strip) == without_hyphens(wanted).letters.strip(
        strip
    )


@given(st.text(), st.text())
def test_no_text_and_no_quote_is_too_odd_to_look_for(text: str, quote: str) -> None:
    page = QuotedPassage(make_passage(text))
    for start, end in page.find(quote):
        assert page.text[start:end]


@pytest.mark.parametrize(
    "quote", ["", " ", "\n\t", "…", '"', "“”", "\ud800", "-", "\u00ad", "\u0301"]
)
def test_what_says_nothing_is_found_nowhere(quote: str) -> None:
    assert find_quote("A plain text, with - marks … and “quotes”.", quote) in ([], [quote])
    assert find_quote("Words.", quote) == []


@pytest.mark.parametrize(
    ("text", "quote", "cited"),
    [
        ("A well-\nknown hyphen-\nation.", "well-known hyphenation", "well-\nknown hyphen-\nation"),
        ("A hyphenation.", "hyphen-\nation", "hyphenation"),
        ("One — or two — legs.", "One - or two - legs.", "One — or two — legs."),
        ("A cafe\u0301 robot.", "café robot", "cafe\u0301 robot"),
        ("Add ½ cup of ﬂour.", "Add 1/2 cup of flour", "Add ½ cup of ﬂour"),
        ("It weighs 15 kg and runs.", "“It weighs 15 kg.”", "It weighs 15 kg"),
        ("He said “stop” twice.", "He said 'stop' twice.", "He said “stop” twice."),
    ],
)
def test_typography_is_seen_through(text: str, quote: str, cited: str) -> None:
    assert find_quote(text, quote) == [cited]


@pytest.mark.parametrize("gap", ["…", "...", " […] ", " [...] ", " … ", ". . ."])
def test_a_quote_that_shows_gaps_is_found_as_its_pieces_in_order(gap: str) -> None:
    text = "A humanoid weighs about 15 kg and costs 3.5 million."
    assert find_quote(text, f"A humanoid{gap}15 kg{gap}3.5 million.") == [
        "A humanoid",
        "15 kg",
        "3.5 million.",
    ]
    assert find_quote(text, f"3.5 million{gap}A humanoid") == []
    assert find_quote(text, f"A human{gap}15 kg") == []


def test_an_ellipsis_of_the_books_own_is_no_gap() -> None:
    assert find_quote("Wait … then go on.", "Wait ... then go") == ["Wait … then go"]


def test_the_case_of_letters_is_kept() -> None:
    assert find_quote("The Robot walks.", "the robot walks") == []


def test_a_letter_without_its_accent_is_another_letter() -> None:
    assert find_quote("Cafe\u0301.", "Cafe") == ["Cafe"]  # exactly there, as code points
    assert find_quote("The “cafe\u0301”.", '"cafe') == []


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("ab " * 33_000, "ab " * 16_000 + "x"),
        ("a" * 100_000, "a" * 50_000 + "b"),
        ("- " * 50_000, "-- " * 20_000),
        ("… " * 50_000, "a … b … " * 5_000),
        ("word " * 20_000, "word … " * 2_000 + "end"),
        ("“" * 100_000, '"' * 50_000 + "a"),
    ],
)
def test_a_long_passage_is_searched_in_no_more_than_its_length(text: str, quote: str) -> None:
    begun = time.process_time()
    assert find_quote(text, quote) == []
    assert time.process_time() - begun < 30  # quadratic work takes minutes
