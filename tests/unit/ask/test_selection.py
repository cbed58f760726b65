import threading
import time
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.processor import processor_seconds
from tests.unit.fakes import FakeLibrary, make_book, make_document

from bythebook.ask.selection.folded_pages import FoldedShelf, fold
from bythebook.ask.selection.section import find_section
from bythebook.domain.books import Block, Book, Document, Section
from bythebook.domain.questions import SectionSpan
from bythebook.errors import InputError, NoBooks, StoreFailed, UnknownBook

GAITS = make_document(
    ("heading", "Gaits"),
    ("paragraph", "A gait is a pattern of steps. It repeats."),
    ("caption", "Picture of a walking robot"),
    ("list", "Walking keeps one foot on the ground.\nRunning leaves the ground."),
    ("heading", "Balance"),
    ("paragraph", "The “zero moment point” must stay in\nthe support polygon\u2014always."),
    ("paragraph", "Café robots naïvely co\u00adoperate: ﬁrst the ﬂoor, then 3½ steps."),
)
ARMS = make_document(
    ("heading", "Arms"), ("paragraph", "An arm has seven joints."), document_id="arms"
)
LIBRARY = FakeLibrary(texts={"walking": GAITS, "arms": ARMS})


def section_text(span: SectionSpan, library: FakeLibrary = LIBRARY) -> str:
    text = library.document(span.book_id, span.document_id).text
    return text[span.char_start : span.char_end]


def heading_of(span: SectionSpan, library: FakeLibrary = LIBRARY) -> str:
    """Give the heading that a found section begins with."""
    return section_text(span, library).partition("\n")[0]


def nested_library(*sections: tuple[str, ...]) -> FakeLibrary:
    """Make a library of one page whose sections have these paths; each says its own number."""
    text, made = "", []
    for number, path in enumerate(sections):
        body = f"{path[-1]}\n\nSentence of the section with number {number:03d} stands here.\n\n"
        made.append(Section(path[-1], "", path, len(text), len(text) + len(body)))
        text += body
    blocks = (Block("paragraph", 0, len(text)),)
    page = Document("walking", "Walking", "Walking", text, blocks, tuple(made))
    return FakeLibrary(texts={"walking": page})


def numbers(span: SectionSpan, library: FakeLibrary) -> list[int]:
    """Give the numbers that the sections of a span say."""
    return [int(word) for word in section_text(span, library).split() if word.isdigit()]


# How a selection may differ from the text


@pytest.mark.parametrize(
    ("selected", "title"),
    [
        ("A gait is a pattern of steps.", "Gaits"),
        ("  a GAIT is\n\ta pattern   of steps ", "Gaits"),
        ("ait is a pattern of ste", "Gaits"),
        ("Walking keeps one foot on the ground.\n\n\nRunning leaves the ground.", "Gaits"),
        ('the "zero moment point" must stay', "Balance"),
        ("The ‘zero moment point’ must stay", "Balance"),
        ("must stay in the support polygon - always", "Balance"),
        ("polygon–always. Café robots", "Balance"),
        ("Cafe\u0301 robots nai\u0308vely cooperate", "Balance"),
        ("CAFE robots naively co-operate: first the floor", "Balance"),
        ("then 31⁄2 steps.", "Balance"),
        ("Ａｎ ａｒｍ ｈａｓ ｓｅｖｅｎ ｊｏｉｎｔｓ", "Arms"),
    ],
)
def test_typography_does_not_matter(selected: str, title: str) -> None:
    assert heading_of(find_section(selected, LIBRARY)) == title


def test_a_section_runs_from_its_heading_to_the_next() -> None:
    span = find_section("A gait is a pattern of steps.", LIBRARY)
    assert (span.book_id, span.document_id) == ("robots", "walking")
    assert section_text(span).startswith("Gaits\n\nA gait")
    assert section_text(span).rstrip().endswith("Running leaves the ground.")
    assert section_text(find_section("zero moment point", LIBRARY)).endswith("3½ steps.")


@pytest.mark.parametrize(
    "selected",
    [
        "A gait is a pattern of steps. It repeats.\n1. Walking keeps one foot on the ground.",
        "A gait is a pattern[1] of steps. It repeats.[12]",
        "It repeats.\n• Walking keeps one foot on the ground.\n2) Running leaves the ground.",
        "A gait is a pattern of steps. It repeats.\nCopy\nWalking keeps one foot on the ground.",
    ],
)
def test_what_only_the_page_or_only_the_text_shows_does_not_matter(selected: str) -> None:
    assert heading_of(find_section(selected, LIBRARY)) == "Gaits"


def test_lines_must_stand_in_their_order() -> None:
    with pytest.raises(InputError):
        find_section("Running leaves the ground.\nx\nWalking keeps one foot on the", LIBRARY)


def test_lines_must_stand_near_each_other() -> None:
    filler = "\n".join(f"Filler number {number} of many." for number in range(400))
    page = make_document(
        ("heading", "Long"),
        ("paragraph", f"It opens like this.\n{filler}\nIt closes like that."),
    )
    library = FakeLibrary(texts={"walking": page})
    with pytest.raises(InputError):
        find_section("It opens like this.\n\nIt closes like that.", library)


WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=40
)


@given(WORDS, st.data())
def test_every_part_of_a_text_is_found_in_it(words: list[str], data: st.DataObject) -> None:
    body = "Opening of all. " + " ".join(words)
    page = make_document(("heading", "One"), ("paragraph", body))
    start = data.draw(st.integers(0, len(body) - 1))
    end = data.draw(st.integers(start + 1, len(body)))
    library = FakeLibrary(texts={"walking": page})
    if fold(body[start:end]):
        span = find_section(body[start:end], library)
        assert (span.char_start, span.char_end) == (0, len(page.text))


@given(st.text(max_size=60), st.text(max_size=60))
def test_folding_keeps_places_apart_and_forms_together(left: str, right: str) -> None:
    assert fold(left + right) == fold(left) + fold(right)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert fold(unicodedata.normalize(form, left)) == fold(left)
    assert fold(fold(left)) == fold(left)


def test_vowel_signs_are_told_apart() -> None:
    assert fold("कि") != fold("का")


# Which section


TREE = nested_library(
    ("Page",),
    ("Page", "A"),
    ("Page", "A", "A1"),
    ("Page", "A", "A2"),
    ("Page", "B"),
    ("Page", "B", "Exercises"),
    ("Page", "B", "Exercises"),
    ("Page", "C"),
)


def select_between(first: int, last: int) -> str:
    """Select from a word of one section to a word of another."""
    text = TREE.document("robots", "walking").text
    return text[text.index(f"number {first:03d}") : text.index(f"{last:03d} stands") + 3]


@pytest.mark.parametrize(
    ("first", "last", "held"),
    [
        (0, 0, [0]),
        (1, 1, [1]),
        (2, 2, [2]),
        (2, 3, [1, 2, 3]),
        (1, 2, [1, 2, 3]),
        (3, 4, [0, 1, 2, 3, 4, 5, 6, 7]),
        (5, 6, [4, 5, 6]),
        (4, 5, [4, 5, 6]),
        (6, 7, [0, 1, 2, 3, 4, 5, 6, 7]),
        (0, 7, [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_the_innermost_section_that_holds_the_selection_whole_is_found(
    first: int, last: int, held: list[int]
) -> None:
    assert numbers(find_section(select_between(first, last), TREE), TREE) == held


def outline(*lines: tuple[int, str]) -> FakeLibrary:
    """Make a library of one page of headings, by their depth, and paragraphs, of depth 0."""
    text, blocks, sections, path = "", list[Block](), list[Section](), tuple[str, ...]()
    for depth, line in lines:
        start = len(text)
        text += f"{line}\n\n"
        end = start + len(line)
        blocks.append(Block("heading" if depth else "paragraph", start, end, level=depth))
        if depth:
            path = (*path[: depth - 1], line)
            sections.append(Section(line, "", path, start, end))
    page = Document("walking", "Walking", "Walking", text, tuple(blocks), tuple(sections))
    return FakeLibrary(texts={"walking": page})


BARE = outline(
    (1, "The whole page"),
    (2, "Legs and their parts"),
    (3, "Knees"),
    (0, "Knees bend."),
    (3, "Ankles"),
    (0, "Ankles turn."),
    (2, "Arms and their parts"),
    (0, "Arms reach."),
    (3, "Elbows"),
    (0, "Elbows fold."),
    (2, "Nothing is said here"),
)


@pytest.mark.parametrize(
    ("selected", "first", "last"),
    [
        ("Legs and their parts", "Legs and their parts", "Ankles turn."),
        ("the whole page", "The whole page", "Nothing is said here"),
        ("arms and their parts", "Arms and their parts", "Arms reach."),
        ("Ankles turn.", "Ankles", "Ankles turn."),
        ("Nothing is said here", "Nothing is said here", "Nothing is said here"),
    ],
)
def test_a_heading_without_a_text_of_its_own_stands_for_what_is_under_it(
    selected: str, first: str, last: str
) -> None:
    held = section_text(find_section(selected, BARE), BARE).strip()
    assert (held.split("\n")[0], held.split("\n")[-1]) == (first, last)


def test_headings_that_share_none_above_are_held_by_the_page() -> None:
    library = nested_library(("A",), ("B",), ("C",))
    text = library.document("robots", "walking").text
    span = find_section(text[20 : text.index("001")], library)
    assert (span.char_start, span.char_end) == (0, len(text))


def test_a_page_without_headings_is_one_section() -> None:
    page = replace(GAITS, sections=())
    span = find_section("zero moment point", FakeLibrary(texts={"walking": page}))
    assert (span.char_start, span.char_end) == (0, len(page.text))


def test_what_stands_before_the_first_heading_belongs_to_it() -> None:
    text = "A line before all headings.\n\nFirst\n\nThe body of the first."
    section = Section("First", "", ("First",), text.index("First"), len(text))
    page = Document("walking", "W", "W", text, (Block("paragraph", 0, len(text)),), (section,))
    span = find_section("line before all", FakeLibrary(texts={"walking": page}))
    assert (span.char_start, span.char_end) == (0, len(text))


def test_of_several_places_the_first_counts() -> None:
    again = make_document(
        ("heading", "Again"), ("paragraph", "A gait is a pattern of steps."), document_id="again"
    )
    library = FakeLibrary(texts={"walking": GAITS, "again": again})
    assert find_section("gait is a pattern", library).document_id == "walking"


# What is not found


@pytest.mark.parametrize(
    "selected",
    [
        "Nothing of the kind stands in the book.",
        "A gait is a pattern of hops.",
        "Running leaves the ground. An arm has seven joints.",
        "!!! ??? --- ... \u200b\u00ad",
        "🤖🤖🤖🤖🤖🤖🤖🤖🤖🤖",
    ],
)
def test_a_selection_that_is_not_on_one_page_is_refused_by_name(selected: str) -> None:
    with pytest.raises(InputError, match="selected_text") as caught:
        find_section(selected, LIBRARY)
    assert type(caught.value) is InputError
    assert "Select" in caught.value.help_message
    assert selected not in str(caught.value)


# Which books


class Shelf(FakeLibrary):
    """A library whose books have a page each."""

    def documents(self, book_id: str) -> list[Document]:
        return [self.texts[book_id]]


TWO = Shelf(shelf=(make_book("birds"), make_book("robots")), texts={"birds": ARMS, "robots": GAITS})


def test_all_books_that_may_be_read_are_looked_through() -> None:
    assert find_section("An arm has seven", TWO).book_id == "birds"
    assert find_section("zero moment point", TWO).book_id == "robots"
    assert find_section("zero moment point", TWO, None, ("robots",)).book_id == "robots"


def test_only_the_named_book_is_looked_through() -> None:
    with pytest.raises(InputError, match="selected_text"):
        find_section("zero moment point", TWO, "birds")


def test_a_book_that_may_not_be_read_holds_no_selection() -> None:
    with pytest.raises(InputError, match="selected_text"):
        find_section("zero moment point", TWO, None, ("birds",))


@pytest.mark.parametrize(("book_id", "readable"), [("robots", ("birds",)), ("no-book", None)])
def test_an_unreadable_book_is_an_unknown_one(
    book_id: str, readable: tuple[str, ...] | None
) -> None:
    with pytest.raises(UnknownBook, match=book_id):
        find_section("zero moment point", TWO, book_id, readable)


def test_no_book_at_all_is_no_books() -> None:
    with pytest.raises(NoBooks):
        find_section("zero moment point", Shelf(shelf=(), texts={}), None)


def test_no_book_to_read_is_an_unknown_one() -> None:
    with pytest.raises(UnknownBook):
        find_section("zero moment point", TWO, None, ())


# What is kept between selections


class Counting(FakeLibrary):
    """A library that counts how often it is read through."""

    reads = 0

    def documents(self, book_id: str) -> tuple[Document, ...]:
        self.reads += 1
        return (GAITS,)


def test_a_book_is_read_through_once_for_each_generation() -> None:
    library = Counting()
    for _ in range(3):
        find_section("zero moment point", library)
    assert library.reads == 1
    library.shelf = (replace(make_book(), generation="g2"),)
    find_section("zero moment point", library)
    assert library.reads == 2


def test_what_was_not_looked_through_lately_is_let_go() -> None:
    library = Counting()
    shelf = FoldedShelf(most_kept=2 * len(fold(GAITS.text)))
    books: list[Book] = [make_book(name) for name in ("a", "b", "c")]
    for book in (books[0], books[1], books[0], books[2]):
        shelf.pages(library, book)
    assert library.reads == 3
    shelf.pages(library, books[0])
    assert library.reads == 3
    shelf.pages(library, books[1])
    assert library.reads == 4


def test_a_book_that_has_no_room_is_kept_while_it_is_the_one_asked_for() -> None:
    library, shelf = Counting(), FoldedShelf(most_kept=1)
    for name in ("a", "a", "b", "b", "a"):
        shelf.pages(library, make_book(name))
    assert library.reads == 3


class Slow(Counting):
    """A library that takes its time to be read through."""

    failures = 0

    def documents(self, book_id: str) -> tuple[Document, ...]:
        time.sleep(0.05)
        pages = super().documents(book_id)
        if self.reads <= self.failures:
            raise StoreFailed("gone")
        return pages


def test_a_book_is_folded_once_however_many_wait_for_it() -> None:
    library, shelf = Slow(), FoldedShelf()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shelf.pages(library, make_book()), range(8)))
    assert library.reads == 1
    assert all(pages is found[0] for pages in found)


def test_a_book_that_cannot_be_read_is_tried_again_by_the_next() -> None:
    library, shelf = Slow(), FoldedShelf()
    library.failures = 1
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(shelf.pages, library, make_book()) for _ in range(2)]
        ends = [future.exception() for future in waiting]
    assert sorted(type(end).__name__ for end in ends) == ["NoneType", "StoreFailed"]


def test_folding_a_long_page_lets_other_threads_run() -> None:
    page = "The robot’s walk — over the hill. " * 100_000
    assert max(turns_beside(lambda: fold(page)) for _ in range(3)) > 5


def turns_beside(work: Callable[[], object]) -> int:
    """Count the turns that another thread gets while work is done."""
    turns, done = 0, threading.Event()

    def tick() -> None:
        nonlocal turns
        while not done.wait(0.0005):
            turns += 1

    beside = threading.Thread(target=tick)
    beside.start()
    work()
    got = turns
    done.set()
    beside.join()
    return got


def test_a_book_is_looked_through_in_time_that_grows_with_its_pages_only() -> None:
    body = "The robot’s hand closes round the cup, and the fingers hold it firmly. " * 30

    def seconds(count: int) -> float:
        library = FakeLibrary(  # a new one, of which nothing is folded yet
            texts={
                str(n): make_document(
                    ("heading", f"Page {n}"), ("paragraph", body), document_id=str(n)
                )
                for n in range(count)
            }
        )

        def look() -> None:
            with pytest.raises(InputError):
                find_section("This stands on no page of the book.\nNor does this.", library)

        return processor_seconds(look, tries=1)

    few, many = (min(seconds(count) for _ in range(3)) for count in (60, 600))
    assert many < 30 * few  # a hundred times, were each page compared with each
