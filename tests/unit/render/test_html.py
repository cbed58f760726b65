"""Documents as HTML: every character, nothing else to select, anchors that lead, marks that are exact."""

import html
import re

import pytest

from bythebook.domain.books import Block, BlockKind, Document, PageMark, Section
from bythebook.render import (
    Addresses,
    Highlight,
    name_anchors,
    opens_with_title,
    render_document,
)

Piece = tuple[BlockKind, str]


def document(*pieces: Piece, levels: tuple[int, ...] = (), **more: object) -> Document:
    """Make a document of blocks; every heading begins a section, whose anchor is its first word."""
    text, blocks, sections = "", [], []
    ranks = iter(levels)
    for kind, piece in pieces:
        text += "\n\n" if text else ""
        level = next(ranks, 1) if kind == "heading" else 0
        blocks.append(Block(kind, len(text), len(text) + len(piece), level=level))
        if kind == "heading":
            anchor = piece.split()[0].lower()
            sections.append(Section(piece, anchor, (piece,), len(text), len(text) + len(piece)))
        text += piece
    made = Document("page", "Page", "Chapter", text, tuple(blocks), tuple(sections))
    return Document(
        **{name: more.get(name, getattr(made, name)) for name in Document.__dataclass_fields__}  # type: ignore[arg-type]
    )


def render_text(page: Document, mark: Highlight | None) -> str:
    return render_document(page, Addresses("tales"), mark)


def mark_quote(page: Document, quote: str) -> list[str]:
    """Mark a quote, and read back what is marked."""
    start = page.text.index(quote)
    shown = render_text(page, Highlight(start, start + len(quote)))
    found = re.findall(r"<mark[^>]*>(.*?)</mark>", shown, flags=re.DOTALL)
    assert shown.count(' id="quote"') == 1
    assert shown.index("<mark") == shown.index('<mark id="quote"')
    return [html.unescape(piece) for piece in found]


def ids(shown: str) -> list[str]:
    return re.findall(r' id="([^"]*)"', shown)


# Marks


@pytest.mark.parametrize(
    ("kind", "text", "quote", "pieces"),
    [
        ("paragraph", "One. Two & three. Four.", "Two & three.", ["Two & three."]),
        ("list", "first\nsecond item\nthird", "second item", ["second item"]),
        ("list", "first\nsecond\nthird", "st\nsecond\nth", ["st", "second", "th"]),
        ("table", "a | b\n1 | 2\n3 | 4", "1 | 2", ["1", "2"]),
        ("table", "a | b\n1 | 2\n3 | 4", "a | b", ["a", "b"]),
        ("code", "if a < b:\n    go()", "if a < b:\n    go()", ["if a < b:\n    go()"]),
        ("formula", "$$x^2$$", "$$x^2$$", ["$$x^2$$"]),
        ("caption", "A robot.", "robot", ["robot"]),
    ],
)
def test_a_quote_is_marked_exactly_whatever_it_stands_in(
    kind: BlockKind, text: str, quote: str, pieces: list[str]
) -> None:
    page = document(("heading", "Title"), ("paragraph", "Before."), (kind, text))
    assert mark_quote(page, quote) == pieces


def test_a_quote_over_several_blocks_is_marked_in_each() -> None:
    page = document(("heading", "Title"), ("paragraph", "One two."), ("list", "three\nfour"))
    assert mark_quote(page, "two.\n\nthree") == ["two.", "three"]


def test_a_heading_may_be_quoted() -> None:
    page = document(("heading", "All of it"), ("paragraph", "Text."))
    assert mark_quote(page, "All of it") == ["All of it"]


# Headings


def test_headings_carry_the_books_anchors_and_a_link_without_text() -> None:
    shown = render_text(document(("heading", "Walking & more"), ("paragraph", "Text.")), None)
    assert '<h1 dir="auto" id="walking">Walking &amp; more<a class="here" href="#walking"' in shown
    assert re.search(r'href="#walking" aria-label="[^"]+"></a></h1>', shown)


def test_no_id_stands_twice_even_where_the_book_repeats_or_takes_ours() -> None:
    page = document(
        ("heading", "Quote one"), ("heading", "Same"), ("heading", "Same"), ("paragraph", "Text.")
    )
    plain = ids(render_text(page, None))
    assert plain[:2] == ["quote", "same"]
    assert len(set(plain)) == len(plain) == 3
    start = page.text.index("Text.")
    shown = ids(render_text(page, Highlight(start, start + 4)))
    assert len(set(shown)) == len(shown) == 4
    assert "quote" in shown  # and it is the mark's: the heading gives way
    assert name_anchors(page, Highlight(start, start + 4))[0] != "quote"


def test_a_section_without_an_anchor_gets_one() -> None:
    page = document(("heading", "Title"), sections=(Section("Title", "", ("Title",), 0, 5),))
    assert ids(render_text(page, None)) == ["_at-0"]


def test_levels_that_the_book_skips_are_closed_up() -> None:
    page = document(*[("heading", f"H{n}") for n in range(5)], levels=(1, 4, 6, 2, 3))
    assert re.findall(r"<h(\d)", render_text(page, None)) == ["1", "2", "3", "2", "3"]


def test_a_page_without_a_title_of_its_own_leaves_the_first_level_to_the_frame() -> None:
    page = document(("heading", "Part"), ("paragraph", "Text."), levels=(3,))
    assert not opens_with_title(page)
    assert re.findall(r"<h(\d)", render_text(page, None)) == ["2"]
    assert not opens_with_title(document(("paragraph", "Text.")))
    assert opens_with_title(document(("heading", "Title"), levels=(1,)))


# What is shown


def test_page_marks_stand_at_their_place_and_are_no_text() -> None:
    page = document(
        ("paragraph", "On the first."),
        ("paragraph", "On the second."),
        pages=(PageMark(0, 1, "xi"), PageMark(15, 2)),
    )
    shown = render_text(page, None)
    assert shown.index('id="page-1"') < shown.index("On the first.") < shown.index('id="page-2"')
    assert 'aria-label="page xi"' in shown
    assert 'data-label="page 2"' in shown
    assert re.sub(r"<[^>]*>", "", shown).split() == "On the first. On the second.".split()


def test_a_table_scrolls_by_itself_and_names_its_columns() -> None:
    shown = render_text(document(("table", "a | b\n1 | 2")), None)
    assert '<div class="table" role="group" aria-label="Table" tabindex="0">' in shown
    assert '<thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>' in shown
    assert "<tbody><tr><td>1</td><td>2</td></tr></tbody>" in shown


@pytest.mark.parametrize(("ordered", "tag"), [(True, "ol"), (False, "ul")])
def test_lists_are_numbered_where_the_book_numbers_them(ordered: bool, tag: str) -> None:
    page = document(("list", "a\nb"), blocks=(Block("list", 0, 3, ordered=ordered),))
    assert render_text(page, None) == f'<{tag} dir="auto"><li>a</li><li>b</li></{tag}>'


@pytest.mark.parametrize("kind", ["paragraph", "list", "code", "formula", "caption", "heading"])
def test_whatever_the_book_says_stays_text(kind: BlockKind) -> None:
    bad = '<script>x</script> & "quoted" </article>'
    shown = render_text(document((kind, bad)), None)
    assert "<script" not in shown
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)).strip() == bad


def test_each_block_takes_its_direction_from_its_own_words() -> None:
    shown = render_text(document(("heading", "כותרת"), ("paragraph", "فقرة"), ("list", "x")), None)
    assert shown.count('dir="auto"') == 3
