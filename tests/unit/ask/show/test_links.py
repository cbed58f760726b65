from urllib.parse import unquote

import pytest
from tests.unit.fakes import make_chunk

from bythebook.ask.show.links import quote_check, quote_link, section_url, text_fragment
from bythebook.domain.answers import Citation, Passage

READER = "http://127.0.0.1:8000"
LONG = "Every walking robot must keep the projection of its centre of mass inside the support polygon at all times."


def parts(fragment: str) -> list[str]:
    return [unquote(part) for part in fragment.split(",")]


def test_a_short_quote_is_spelt_whole() -> None:
    assert text_fragment("A node is a process.") == "A%20node%20is%20a%20process."


@pytest.mark.parametrize(("mark", "code"), [("-", "%2D"), (",", "%2C"), ("&", "%26"), ("#", "%23")])
def test_marks_that_mean_something_in_a_directive_are_encoded(mark: str, code: str) -> None:
    assert text_fragment(f"left{mark}right") == f"left{code}right"


def test_a_long_quote_is_spelt_by_its_first_and_last_words() -> None:
    assert parts(text_fragment(LONG)) == [
        "Every walking robot must keep",
        "support polygon at all times.",
    ]


@pytest.mark.parametrize(
    "quote",
    [
        "Extraordinarily-interconnected " * 6 + "end.",
        "The my_node program runs in the background always.",
        "Then $x = 1$ holds for every walking robot alive.",
        " ".join(f"Extraordinary-{number}" for number in range(11)),
    ],
)
def test_the_two_ends_of_a_range_never_overlap(quote: str) -> None:
    # A browser looks for the last words after the first ones: overlapping ends are never found.
    rest = quote
    for end in parts(text_fragment(quote)):
        assert end in rest
        rest = rest.partition(end)[2]


def test_formulas_are_left_out_because_pages_draw_them() -> None:
    fragment = text_fragment("The torque is $\\tau = J^T F$ for each of the six joints of the arm.")
    assert unquote(fragment) == "for each of the six joints of the arm."


def test_a_quote_that_is_all_formula_still_links() -> None:
    assert unquote(text_fragment("$E=mc^2$")) == "$E=mc^2$"


def test_a_table_row_is_spelt_by_its_first_and_last_cells() -> None:
    assert parts(text_fragment("LiDAR | 3D points | 100 m")) == ["LiDAR", "100 m"]


def test_a_row_skips_cells_that_are_formulas() -> None:
    assert parts(text_fragment("$x_1$ | speed | metres | $\\dot{x}$")) == ["speed", "metres"]


def test_code_is_spelt_by_its_first_and_last_lines() -> None:
    assert parts(text_fragment("import rclpy\n\nrclpy.init()\nspin()")) == [
        "import rclpy",
        "spin()",
    ]


def test_a_link_to_the_books_site_keeps_the_anchor() -> None:
    chunk = make_chunk("A node runs.", source_url="https://robots.test/ros#nodes", anchor="nodes")
    citation = Citation(Passage(chunk, 0.9), "A node runs.", 0, 12)
    assert quote_link(citation, READER) == "https://robots.test/ros#nodes:~:text=A%20node%20runs."


def test_a_link_to_a_page_without_anchor_is_still_a_fragment() -> None:
    chunk = make_chunk("A node runs.", source_url="https://robots.test/ros")
    citation = Citation(Passage(chunk, 0.9), "A node runs.", 0, 12)
    assert quote_link(citation, READER) == "https://robots.test/ros#:~:text=A%20node%20runs."


def test_a_book_without_a_site_is_opened_on_the_reader_page_at_the_mark() -> None:
    chunk = make_chunk("A node runs.", document_id="ros 2/nodes", char_start=40, anchor="nodes")
    citation = Citation(Passage(chunk, 0.9), "A node runs.", 40, 52)
    assert quote_link(citation, READER) == (
        f"{READER}/read/robots/ros%202/nodes?mark=40-52-{quote_check('A node runs.')}"
        "#quote:~:text=A%20node%20runs."
    )


def test_the_check_tells_a_quote_from_another_of_the_same_length() -> None:
    assert quote_check("A node runs.") != quote_check("A node ruins")
    assert len(quote_check("")) == len(quote_check(LONG)) == 8


def test_sections_are_addressed_on_the_site_or_on_the_reader_page() -> None:
    own = make_chunk("A.", anchor="nodes")
    site = make_chunk("A.", anchor="nodes", source_url="https://robots.test/ros#nodes")
    assert section_url(own, READER) == f"{READER}/read/robots/walking#nodes"
    assert section_url(make_chunk("A."), READER) == f"{READER}/read/robots/walking"
    assert section_url(site, READER) == "https://robots.test/ros#nodes"
