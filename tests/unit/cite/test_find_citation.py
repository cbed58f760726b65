import pytest

from bythebook.cite import (
    CitationId,
    FoundCitation,
    OlderWords,
    Status,
    WordRow,
    find_citation,
    find_in_place,
    make_citation_id,
    read_citation_id,
)
from bythebook.domain.books import DocumentText, OlderGeneration

BEFORE = "Robots walk on two legs. They need balance at every step they take."
QUOTE = "A gait repeats its steps in a fixed order, at the pace of the slowest leg."
AFTER = "The pace is set by the walker. Everything else follows from this one choice."
GAITS = f"Gaits\n\n{BEFORE}\n\n{QUOTE} {AFTER}"
ARMS = "Arms\n\nAn arm has seven joints. Its gripper closes around whatever it is given to hold."


def book(gaits: str | None = GAITS, arms: str = ARMS) -> list[DocumentText]:
    pages = [DocumentText("arms", "Arms", arms)]
    return pages if gaits is None else [DocumentText("gaits", "Gaits", gaits), *pages]


def cite(quote: str = QUOTE, text: str = GAITS, document_id: str = "gaits") -> CitationId:
    start = text.index(quote)
    return make_citation_id("robots", document_id, text, (start, start + len(quote)))


def find(
    cited: CitationId, now: list[DocumentText], *, then: list[DocumentText] | None = None
) -> FoundCitation:
    """Find a citation of the first text in a later one; changed documents are kept, unless told otherwise."""
    before = book() if then is None else then
    changed = [page for page in before if page not in now]
    kept = OlderGeneration("g1", "2026-01-02", frozenset(p.document_id for p in before), changed)
    return find_citation(cited, WordRow(now), [OlderWords(kept)] if before else [])


def words_of(found: FoundCitation, now: list[DocumentText]) -> str:
    place = found.place
    assert place is not None
    text = next(page.text for page in now if page.document_id == place.document_id)
    return text[place.start : place.end]


def test_an_id_says_what_it_was_made_of_and_is_short() -> None:
    made = cite()
    assert read_citation_id(str(made)) == made
    assert str(made).startswith("robots.")
    assert len(str(made)) < 40
    assert cite() == made  # nothing but book, place and words


@pytest.mark.parametrize(
    "given",
    ["", "robots", "robots.", "robots.AAAA", f"{cite()}A", f"{cite()}"[:-3], "ro bots.A" * 9],
)
def test_what_is_no_id_is_not_read(given: str) -> None:
    assert read_citation_id(given) is None


@pytest.mark.parametrize(
    ("gaits", "status"),
    [
        (GAITS, "standing"),
        (GAITS.replace(BEFORE, f"{BEFORE} One more thing."), "standing"),
        (GAITS.replace(f"\n\n{QUOTE}", f" {QUOTE}"), "standing"),  # paragraphs merged
        (GAITS.replace("Gaits", "How robots walk", 1), "standing"),
        (GAITS.replace("its steps in", "its\nsteps  in"), "standing"),
        (GAITS.replace("slowest", "slowst"), "edited"),
        (GAITS.replace("a fixed order", "a fixed, known order"), "edited"),
        (GAITS.replace("order, at", "order. At"), "edited"),
        (GAITS.replace(f"{QUOTE} ", ""), "gone"),
    ],
)  # fmt: skip
def test_words_are_followed_through_edits(gaits: str, status: Status) -> None:
    now = book(gaits)
    found = find(cite(), now)
    assert found.status == status
    if status == "gone":
        assert (found.words_then, found.stood_in, found.place) == (QUOTE, "Gaits", None)
    elif status == "edited":
        assert found.words_then == QUOTE
        assert words_of(found, now).startswith("A gait repeats")
        assert words_of(found, now).endswith("leg.")
    else:
        assert words_of(found, now).split() == QUOTE.split()


def test_words_that_moved_to_another_page_are_opened_there_and_it_is_said() -> None:
    now = book(None, f"{ARMS}\n\n{QUOTE}")
    found = find(cite(), now)
    assert found.status == "moved"
    assert words_of(found, now) == QUOTE


def test_words_are_found_without_any_older_text() -> None:
    now = book(f"Gaits\n\nA new opening.\n\n{BEFORE}\n\n{QUOTE} {AFTER}")
    found = find(cite(), now, then=[])
    assert (found.status, words_of(found, now)) == ("standing", QUOTE)
    assert find(cite(), book(GAITS.replace("slowest", "last")), then=[]).status == "gone"


def test_a_likely_neighbour_that_was_there_before_is_not_taken_for_the_deleted_words() -> None:
    rows = [
        f"Step {name}: lift the {name} leg and put it down again." for name in ("left", "right")
    ]
    text = f"Gaits\n\n{BEFORE}\n\n{rows[0]} {rows[1]} {AFTER}"
    found = find(cite(rows[0], text), book(text.replace(f"{rows[0]} ", "")), then=book(text))
    assert found.status == "gone"


def test_of_equal_passages_the_cited_one_is_opened_or_doubt_is_said() -> None:
    text = "\n\n".join(f"{line}\n\nRun it again." for line in (BEFORE, AFTER, QUOTE))
    start = text.rindex("Run it again.")
    cited = make_citation_id("robots", "gaits", text, (start, start + 13))
    now = book(f"First of all.\n\n{text}")
    found = find(cited, now, then=book(text))
    assert found.place is not None
    assert found.place.start == now[0].text.rindex("Run it again.")
    shorter = book(text.removesuffix("Run it again."))
    assert find(cited, shorter, then=book(text)).status == "moved"


def test_words_in_their_very_place_need_no_older_text() -> None:
    found = find_in_place(cite(), WordRow(book()))
    assert found is not None
    assert found.status == "standing"
    assert find_in_place(cite(), WordRow(book(f"New. {GAITS}"))) is None
