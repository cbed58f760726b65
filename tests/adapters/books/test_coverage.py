"""Nothing that a person sees in a book is lost on the way into its chunks."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from evals.coverage import (
    MeasuredBook,
    check_markup,
    check_order,
    check_places,
    list_books,
    measure,
    open_reader,
    select_chunks,
)
from evals.visible_text.comparison import compare
from evals.visible_text.words import VisibleText

from bythebook.domain.books import Chunk, Document

# `make coverage` measures three more, whose kinds the small books of the readers' tests cover too.
LONG = {"turing-way", "fastapi-docs", "r4ds"}
BOOKS = [
    "sample",
    "rust-book",
    "docusaurus-docs",
    "kubernetes-docs",
    "ros2-docs",
    "openintro-pdf",
    "epub/accessible_epub_3",
    "epub/childrens-literature",
    "epub/linear-algebra",
    "epub/moby-dick",
    "epub/pride-and-prejudice-standardebooks",
    "epub/wasteland",
    "quantecon-intro",
    "data-science-notebooks",
    "progit2",
]
MARKDOWN = BOOKS[:4]
LISTED = BOOKS[-3:]
LEAST = {"openintro-pdf": 98.0}  # readers disagree about glyphs in formulas

Read = Callable[[Path], list[Document]]
Cut = Callable[[str], tuple[MeasuredBook, list[list[Chunk]]]]


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    with open_reader() as reader:
        yield cache(reader)


@pytest.fixture(scope="module")
def cut(eval_data: Path, read: Read) -> Cut:
    books = {book.name: book for book in list_books(eval_data / "books")}
    assert set(books) == {*BOOKS, *LONG}

    @cache
    def chunks(name: str) -> tuple[MeasuredBook, list[list[Chunk]]]:
        return books[name], select_chunks(read(books[name].path))

    return chunks


@pytest.mark.parametrize("name", BOOKS)
def test_the_visible_words_are_in_the_chunks(name: str, cut: Cut) -> None:
    coverage = measure(*cut(name))
    assert coverage.visible > 10_000
    assert coverage.percent >= LEAST.get(name, 99.5), coverage.list_worst(3)


@pytest.mark.parametrize("name", [*MARKDOWN, *LISTED])
def test_chunks_name_the_section_and_chapter_they_stand_in(name: str, cut: Cut) -> None:
    places = check_places(*cut(name))
    assert places.found >= 0.98 * places.chunks
    assert places.compute_percent(places.right_section) >= 99, places.wrong[:3]
    assert places.compute_percent(places.right_chapter) >= 99, places.wrong[:3]


@pytest.mark.parametrize("name", LISTED)
def test_pages_are_in_the_order_of_the_author(name: str, cut: Cut) -> None:
    assert check_order(*cut(name)) == 100.0


@pytest.mark.parametrize("name", LISTED)
def test_no_markup_is_visible_as_text(name: str, cut: Cut, read: Read) -> None:
    book, _ = cut(name)
    assert check_markup(book, read(book.path)) == []


def test_the_measure_notices_a_chunk_that_is_lost(cut: Cut) -> None:
    book, chunks = cut("sample")
    lost = chunks[3][1]
    without = [[chunk for chunk in some if chunk is not lost] for some in chunks]
    fallen = measure(book, chunks).covered - measure(book, without).covered
    assert fallen >= 0.9 * sum(map(str.isalnum, lost.text))


def test_the_measure_notices_a_chunk_under_the_wrong_heading(cut: Cut) -> None:
    book, chunks = cut("sample")
    wrong = [replace(chunk, section="Elsewhere", chapter="Nowhere") for chunk in chunks[2]]
    places = check_places(book, [*chunks[:2], wrong, *chunks[3:]])
    assert places.found - places.right_section == len(wrong)
    assert places.found - places.right_chapter == len(wrong)


def test_words_count_however_they_are_parted_or_ordered() -> None:
    seen = [VisibleText("page", "The efﬁcient hyphen-\nation of words. Then a table, here 12 kg.")]
    coverage = compare(seen, ["Then a table, here 12 kg. The efficient hyphenation of wo rds."])
    assert coverage.percent == 100.0


def test_a_word_lost_in_one_document_is_not_made_up_for_by_another() -> None:
    seen = [
        VisibleText(
            "herons", "The grey heron stands still in shallow water until a fish comes near"
        ),
        VisibleText(
            "glass", "Glass is made by melting sand with soda ash and limestone in a furnace"
        ),
    ]
    ours = [
        "The grey heron stands still in shallow water until a fish comes",
        "near Glass is made by melting sand with soda ash and limestone in a furnace",
    ]
    coverage = compare(seen, ours)
    assert coverage.missing == {"herons": ("near",)}
    assert coverage.visible - coverage.covered == len("near")
