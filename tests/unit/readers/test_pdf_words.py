"""Words that typesetting took apart are put together as the book writes them."""

import pytest

from bythebook.adapters.readers.pdf.page.words import Vocabulary, clean


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("the ﬁnal oﬃce ﬂow", "the final office flow"),
        ("``quoted''", "“quoted”"),
        ("soft\u00adhyphen", "softhyphen"),
        ("caf´e", "café"),
        ("C¸etinkaya", "Çetinkaya"),
        ("e\u0301tude", "étude"),
        ("Boats . . . . . . . . 12", "Boats . . . 12"),
        ("4.1 Boats . . . . . . . . | 12", "4.1 Boats . . . | 12"),
        ("..... > run(1)", "..... > run(1)"),
        ("x² stays, and ½ too", "x² stays, and ½ too"),
    ],
)
def test_special_signs_become_the_letters_they_stand_for(drawn: str, read: str) -> None:
    assert clean(drawn) == read


def _join(vocabulary: Vocabulary, before: str, after: str) -> str:
    dropped, between = vocabulary.find_seam(before, after)
    return before[: len(before) - dropped] + between + after


@pytest.mark.parametrize(
    ("before", "after", "joined"),
    [
        ("an impor-", "tant step", "an important step"),
        ("a well-", "known step", "a well-known step"),
        ("a fast-", "slow boat", "a fast-slow boat"),  # both halves are words of the book
        ("an unheard-", "ofness", "an unheardofness"),
        ("the Anglo-", "Saxon age", "the Anglo-Saxon age"),
        ("from 3-", "4 boats", "from 3-4 boats"),
        ("a soft\u00ad", "hyphen", "a softhyphen"),
        ("a pause -", "then on", "a pause - then on"),
        ("a dash—", "then on", "a dash—then on"),
        ("plain", "words", "plain words"),
        ("see https://example.org/", "boats.html", "see https://example.org/boats.html"),
    ],
)
def test_the_books_own_words_tell_how_lines_join(before: str, after: str, joined: str) -> None:
    book = Vocabulary(["An important and well-known fact: fast is not slow", "it ends in import-"])
    assert _join(book, before, after) == joined
