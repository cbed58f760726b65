"""Marks as HTML: what the author set, quoted exactly across it, and nothing that runs or loads."""

import html
import re

import pytest

from bythebook.domain.books import Block, BlockKind, Document, Section
from bythebook.domain.marks import (
    Admonition,
    Anchor,
    Cell,
    CodeLines,
    Formula,
    Item,
    LinkMark,
    Mark,
    Note,
    NoteReference,
    Picture,
    Quotation,
    Style,
)
from bythebook.render import (
    Addresses,
    Highlight,
    render_cells,
    render_document,
    render_fragment,
)

FILE = f"{'0' * 64}.png"
PLACES = Addresses("tales")


def page(*marks: Mark, kind: BlockKind = "paragraph", text: str, **block: object) -> Document:
    """Make a page of one block."""
    only = Block(kind, 0, len(text), **block)  # type: ignore[arg-type]
    section = Section("Page", "", ("Page",), 0, len(text))
    return Document("page", "Page", "Page", text, (only,), (section,), marks=marks)


def show(document: Document, quote: str = "") -> str:
    start = document.text.index(quote)
    lit = Highlight(start, start + len(quote)) if quote else None
    return render_document(document, PLACES, lit)


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        (Style(0, 3, "emphasis"), "<em>The</em> frog"),
        (Style(0, 3, "strong"), "<strong>The</strong> frog"),
        (Style(0, 3, "code"), "<code>The</code> frog"),
        (Style(0, 3, "code title"), "The frog"),
        (LinkMark(0, 3, "", "other page", "end"), '<a href="/read/tales/other%20page#end">The</a> frog'),
        (LinkMark(0, 3, "", "a"), '<a href="/read/tales/a">The</a> frog'),
        (
            LinkMark(0, 3, "https://a.test/?a=1&b=2"),
            '<a href="https://a.test/?a=1&amp;b=2" rel="external noopener noreferrer nofollow">The</a> frog',
        ),
        (LinkMark(0, 3, "javascript:alert(1)"), "The frog"),
        (LinkMark(0, 3, "data:text/html,x"), "The frog"),
        (LinkMark(0, 3, " JavaScript:alert(1)"), "The frog"),
        (NoteReference(0, 3, 'x"y'), 'href="#_note-x&quot;y" role="doc-noteref">The</a></sup> frog'),
        (Formula(0, 3), '<code class="tex">The</code> frog'),
    ],
)  # fmt: skip
def test_words_are_set_as_the_author_set_them(mark: Mark, shown: str) -> None:
    assert f"{shown}</p>" in show(page(mark, text="The frog"))


def test_a_quote_is_marked_exactly_across_marks() -> None:
    marks = (Style(4, 14, "strong"), Style(9, 14, "emphasis"), LinkMark(15, 20, "https://a.test"))
    shown = show(page(*marks, text="The very green frogs sing."), "y green frogs s")
    found = re.findall(r"<mark[^>]*>(.*?)</mark>", shown)
    assert "".join(html.unescape(one) for one in found) == "y green frogs s"
    assert shown.count('id="quote"') == 1
    assert "<strong>ver<mark" in shown


def test_a_formula_in_a_quote_is_marked_whole_and_keeps_its_tex() -> None:
    formula = Formula(5, 13, "<math><msub><mi>ℓ</mi><mn>2</mn></msub></math>")
    shown = show(page(formula, text="With $\\ell_2$ less."), "With $\\ell_2$")
    assert re.search(r"<mark><math [^>]*alttext=\"\$\\ell_2\$\"><msub>.*?</math></mark>", shown)
    assert "$" not in re.sub(r"<[^>]*>", "", shown)


@pytest.mark.parametrize(
    "mathml",
    [
        "<math><mtext><script>alert(1)</script></mtext></math>",
        '<math><mi onclick="alert(1)">x</mi></math>',
        '<math href="javascript:alert(1)"><mi>x</mi></math>',
        '<math><maction actiontype="x" xlink:href="//a.test"><mi>x</mi></maction></math>',
        '<math><mtext><img src="//a.test/x.png"></mtext></math>',
        '<math><annotation-xml encoding="text/html"><iframe src="//a.test"></iframe></annotation-xml></math>',
        '<math><mtd style="background: url(//a.test)"><mi>x</mi></mtd></math>',
        "<script>alert(1)</script>",
        "<math></math><script>alert(1)</script>",
    ],
)
def test_mathml_only_draws(mathml: str) -> None:
    shown = show(page(Formula(0, 3, mathml), text="The frog"))
    for bad in ("<script", "onclick", "javascript", "a.test", "<img", "<iframe", "style="):
        assert bad not in shown


def test_a_picture_stands_where_its_words_are_and_unfolds_them_where_they_are_quoted() -> None:
    document = page(Picture(0, 10, FILE, 30, 20), text="A red frog", kind="caption")
    shown = show(document)
    assert f'<img src="/pictures/tales/{FILE}" alt="A red frog" width="30" height="20"' in shown
    assert '<details class="alt">' in shown
    assert re.search(
        r'<details class="alt" open>.*<mark id="quote">red</mark>', show(document, "red")
    )


def test_pictures_without_words_and_inside_lines_are_shown_too() -> None:
    alone = show(page(Picture(0, 0, FILE, display=True), text="A frog."))
    assert alone.startswith('<figure class="picture"><img')
    last = show(page(Picture(9, 9, FILE, display=True), text="A frog."))
    assert last.endswith("</figure>")
    inside = show(page(Picture(2, 6, FILE), text="A frog."), "A frog.")
    assert re.search(
        r'<mark id="quote">A </mark><mark><img [^>]*alt="frog"[^>]*></mark><mark>', inside
    )


def test_code_is_coloured_and_keeps_every_character() -> None:
    code = 'def frog(a):\n    return "<b>" + a  # &\n'
    shown = show(page(text=code, kind="code", language="python"), 'frog(a):\n    return "<')
    assert '<div class="code" data-language="python">' in shown
    assert '<span class="k">def</span>' in shown
    assert html.unescape(re.sub(r"<[^>]*>", "", shown)) == code
    marked = "".join(re.findall(r"<mark[^>]*>(.*?)</mark>", shown, flags=re.DOTALL))
    assert html.unescape(marked) == 'frog(a):\n    return "<'


@pytest.mark.parametrize("language", ["", "nonsense", "text", "../x"])
def test_code_of_no_known_language_is_plain(language: str) -> None:
    shown = show(page(text="if x < y: go()", kind="code", language=language))
    assert "<code>if x &lt; y: go()</code>" in shown


def test_code_too_long_to_colour_is_shown_plain() -> None:
    shown = show(page(text="x = 1\n" * 10_000, kind="code", language="python"))
    assert "<span" not in shown


def test_lines_of_code_are_highlighted_as_the_source_says() -> None:
    shown = show(page(CodeLines(6, 11), text="a = 1\nb = 2\nc = 3", kind="code", language="python"))
    assert len(re.findall('<span class="hll">', shown)) == 1
    line = re.search(r'<span class="hll">(.*?)\n', shown)
    assert line is not None
    assert re.sub(r"<[^>]*>", "", line.group(1)) == "b = 2"


def test_lists_nest_and_go_on_as_the_author_made_them() -> None:
    text = "one\nmore of one\ninner\ntwo"
    marks = (Item(0, 3, 0, 3), Item(16, 21, 1, -1), Item(22, 25, 0, 4))
    shown = show(page(*marks, text=text, kind="list", ordered=True))
    assert shown == (
        '<ol start="3" dir="auto"><li>one<div class="more">more of one</div>'
        '<ul dir="auto"><li>inner</li></ul></li><li>two</li></ol>'
    )


def test_cells_are_cut_where_the_author_cut_them() -> None:
    text = "| a | b | c\n1 | x | y | 2"  # an empty first cell, and a cell with a bar in it
    marks = (
        Cell(0, 0), Cell(2, 3), Cell(6, 11, align="right"),
        Cell(12, 13, is_head=True), Cell(16, 21), Style(16, 17, "code"), Cell(24, 25, align="right"),
    )  # fmt: skip
    shown = show(page(*marks, text=text, kind="table"))
    assert (
        '<th scope="col"></th><th scope="col">a</th><th scope="col" class="right">b | c</th>'
        in shown
    )
    assert '<th scope="row">1</th><td><code>x</code> | y</td><td class="right">2</td>' in shown


def test_blocks_are_set_off_inside_each_other() -> None:
    pieces = ("Note", "Words.", "Quoted.", "After.")
    text = "\n\n".join(pieces)
    starts = [text.index(piece) for piece in pieces]
    blocks = tuple(
        Block("paragraph", start, start + len(piece))
        for start, piece in zip(starts, pieces, strict=True)
    )
    quoted = starts[2] + len(pieces[2])
    marks = (
        Admonition(0, quoted, "tip"),
        Quotation(starts[2], quoted),
        Note(starts[3], len(text), "a"),
    )
    document = Document("p", "P", "P", text, blocks, (), marks=marks)
    shown = render_document(document, PLACES).replace("\n", "")
    assert shown == (
        '<aside class="admonition tip"><p class="admonition-title" dir="auto">Note</p>'
        '<p dir="auto">Words.</p><blockquote><p dir="auto">Quoted.</p></blockquote></aside>'
        '<div class="note" role="doc-footnote" id="_note-a"><p dir="auto">After.</p></div>'
    )


def test_places_that_links_lead_to_have_ids_once() -> None:
    marks = (Anchor(0, 0, "here"), Anchor(0, 0, "here"), Anchor(0, 0, "_at-0"), Anchor(0, 0, 'x"'))
    shown = show(page(*marks, text="A frog."))
    assert shown.count('id="here"') == 1
    assert "_at-0" not in shown
    assert 'id="x&quot;"' in shown


def test_a_fragment_is_a_range_of_the_text_without_ids() -> None:
    text = "Alpha beta.\n\none\ntwo\n\ncode()"
    blocks = (Block("paragraph", 0, 11), Block("list", 13, 20), Block("code", 22, 28))
    marks = (
        Anchor(0, 0, "a"),
        Style(0, 5, "strong"),
        NoteReference(6, 10, "1"),
        Item(13, 16),
        Item(17, 20),
    )
    document = Document("p", "P", "P", text, blocks, (), marks=marks)
    shown = render_fragment(document, PLACES, 2, 16)
    assert shown == (
        '<p dir="auto"><strong>pha</strong> <sup class="noteref">beta</sup>.</p>\n'
        '<ul dir="auto"><li>one</li></ul>'
    )
    assert "id=" not in render_fragment(document, PLACES, 0, len(text))


def test_a_fragment_marks_each_of_its_quotes() -> None:
    document = page(Style(4, 8, "code"), text="The frog ate the cake.")
    lit = (Highlight(0, 6), Highlight(9, 12))
    shown = render_fragment(document, PLACES, 0, 22, lit)
    assert shown == (
        '<p dir="auto"><mark>The </mark><code><mark>fr</mark>og</code> <mark>ate</mark> the cake.</p>'
    )


@pytest.mark.parametrize(
    ("document", "cells"),
    [
        (page(Style(0, 3, "code"), text="The frog."), ["<code>The</code> frog."]),
        (page(Picture(0, 3, FILE), text="The frog."), ["The frog."]),
        (
            page(Cell(0, 5), Formula(0, 5, "<math><mi>P</mi></math>"), Cell(8, 9), kind="table", text="A | B | C"),
            ['<math display="inline" alttext="A | B"><mi>P</mi></math>', "C"],
        ),
        (page(kind="table", text="A | B"), ["A", "B"]),
        (page(kind="code", text="if 1", language="python"), ['<span class="k">if</span> <span class="mi">1</span>']),
    ],
)  # fmt: skip
def test_words_of_a_block_come_without_it_and_a_row_by_its_cells(
    document: Document, cells: list[str]
) -> None:
    assert render_cells(document, PLACES, 0, len(document.text)) == cells
