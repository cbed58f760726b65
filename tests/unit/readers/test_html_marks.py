"""HTML with its marks: web pages and EPUBs as their authors set them."""

import zipfile
from pathlib import Path

import pytest
from tests.unit.readers.test_pictures import png

from bythebook.adapters.readers.epub.reader import EpubReader
from bythebook.adapters.readers.html.folder import HtmlFolderReader
from bythebook.adapters.readers.html.page.blocks import add_blocks
from bythebook.adapters.readers.html.page.parse import parse_html
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.domain.books import Document, Link
from bythebook.domain.marks import (
    Admonition,
    Anchor,
    Cell,
    Formula,
    Item,
    LinkMark,
    Mark,
    Picture,
    Quotation,
    Style,
)


def read(page: str) -> PlainText:
    def find_link(href: str) -> Link | None:
        return Link(href, "there", "place") if href.startswith("there") else None

    plain = PlainText()
    add_blocks(plain, parse_html(page), targets=PageTargets(find_link))
    return plain


def find_marks(plain: PlainText | Document, kind: type[Mark]) -> list[tuple[str, Mark]]:
    text = plain.text
    return [
        (text[mark.start : mark.end], mark.move(0, 0))
        for mark in plain.marks
        if isinstance(mark, kind)
    ]


@pytest.mark.parametrize(
    ("page", "text", "marks"),
    [
        ("<p>a  <em>b\n c</em> d</p>", "a b c d", [("b c", "emphasis")]),
        ("<p> <b>a</b> <code>b</code></p>", "a b", [("a", "strong"), ("b", "code")]),
        ("<p><b>a<br>b</b> c</p>", "a\nb c", [("a", "strong"), ("b", "strong")]),
        ("<ul><li>x <i>y</i></li><li>z</li></ul>", "x y\nz", [("y", "emphasis")]),
        ("<table><tr><td>a</td><td><b>b</b></td></tr></table>", "a | b", [("b", "strong")]),
        ("<p>10<sup>6</sup> H<sub>2</sub></p>", "10^6 H2", [("^6", "superscript"), ("2", "subscript")]),
        ("<div><em><div>a</div><div>b</div></em></div>", "a\n\nb", [("a", "emphasis"), ("b", "emphasis")]),
        ("<h2>A <i>b</i></h2>", "A b", [("b", "emphasis")]),
        ("<p><a href='//x'>a</a><pre><b>x</b></pre></p>", "a\n\nx", []),
    ],
)  # fmt: skip
def test_words_are_marked_as_they_are_set(
    page: str, text: str, marks: list[tuple[str, str]]
) -> None:
    plain = read(page)
    assert plain.text == text
    styles = [
        (words, mark.kind) for words, mark in find_marks(plain, Style) if isinstance(mark, Style)
    ]
    assert styles == marks


def test_links_lead_into_the_book_or_out() -> None:
    plain = read(
        "<p><a href='there.html'>one</a> <a href='https://a.test'>two</a> "
        "<a href='javascript:alert(1)'>three</a> <a name='x'>four</a></p>"
    )
    assert plain.text == "one two three four"
    assert find_marks(plain, LinkMark) == [
        ("one", LinkMark(0, 0, "", "there", "place")),
        ("two", LinkMark(0, 0, "https://a.test")),
    ]


@pytest.mark.parametrize(
    ("markup", "text", "has"),
    [
        ("<p>If <math><msub><mi>x</mi><mn>1</mn></msub></math> is</p>", "x_1", "<msub>"),
        ('<p>If <script type="math/tex">\\ell_2</script> is</p>', "$\\ell_2$", "<msub>"),
        ('<p>If <span class="math">\\(x^2\\)</span> is</p>', "$x^2$", "<msup>"),
        ('<p>If</p><script type="math/tex; mode=display">x^2</script>', "x^2", 'display="block"'),
    ],
)
def test_formulas_are_shown_as_mathml(markup: str, text: str, has: str) -> None:
    ((words, mark),) = find_marks(read(markup), Formula)
    assert isinstance(mark, Formula)
    assert words == text
    assert has in mark.mathml


def test_items_cells_and_places_are_marked() -> None:
    plain = read(
        "<ol start=3><li>a<ul><li>b</li></ul></li><li id=here>c</li></ol>"
        "<table><tr><th>h</th><td align=right>v</td></tr><tr><td></td><td>w</td></tr></table>"
    )
    assert [mark for _, mark in find_marks(plain, Item)] == [
        Item(0, 0, 0, 3),
        Item(0, 0, 1),
        Item(0, 0, 0, 4),
    ]
    assert find_marks(plain, Cell) == [
        ("h", Cell(0, 0, is_head=True)),
        ("v", Cell(0, 0, align="right")),
        ("", Cell(0, 0)),
        ("w", Cell(0, 0)),
    ]
    assert find_marks(plain, Anchor) == [("", Anchor(0, 0, "here"))]


def test_quotations_and_admonitions_hold_their_blocks() -> None:
    plain = read(
        "<blockquote><p>One.</p><p>Two.</p></blockquote><p>After.</p>"
        '<div class="admonition warning"><p class="admonition-title">Beware</p><p>Herons.</p></div>'
        '<div class="note"><p>No title.</p></div><ul><li><blockquote>x</blockquote></li></ul>'
    )
    assert [words for words, _ in find_marks(plain, Quotation)] == ["One.\n\nTwo."]
    assert find_marks(plain, Admonition) == [("Beware\n\nHerons.", Admonition(0, 0, "warning"))]


def test_pictures_of_a_folder_of_pages_are_kept(tmp_path: Path) -> None:
    (tmp_path / "img").mkdir()
    (tmp_path / "img/a frog.png").write_bytes(png())
    (tmp_path / "page.html").write_text(
        "<h1>Page</h1><p>Words of a page.</p><figure><img src='img/a%20frog.png' alt='A frog'>"
        "<figcaption>Figure 1</figcaption></figure><p><img src='/book/img/a%20frog.png'></p>"
        "<img src='https://a.test/x.png' alt='Far'><img src='gone.png'><img src='../../x.png'>"
    )
    book = HtmlFolderReader().read(str(tmp_path), title=None, base_url=None)
    document = book.documents[0].read()
    pictures = [mark for mark in document.marks if isinstance(mark, Picture)]
    assert sorted(document.text[one.start : one.end] for one in pictures) == ["", "A frog"]
    assert book.load_picture(pictures[0].file) == png()
    missing = {one.target: one.reason for one in document.missing_pictures}
    assert set(missing) == {"https://a.test/x.png", "gone.png", "../../x.png"}
    assert "Figure 1" in document.text


def test_pictures_of_an_epub_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "book.epub"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/epub+zip")
        file.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="o/p.opf"/></rootfiles></container>',
        )
        file.writestr(
            "o/p.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
            '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>',
        )
        file.writestr(
            "o/a.xhtml",
            '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Some words here.</p>'
            '<img src="i/f.png" alt="A frog"/><p><i>More</i> words.</p><img src="gone.png" alt=""/>'
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
            '<image xlink:href="i/f.png"/></svg></body></html>',
        )
        file.writestr("o/i/f.png", png())
    book = EpubReader().read(str(path), title=None, base_url=None)
    document = book.documents[0].read()
    pictures = [mark for mark in document.marks if isinstance(mark, Picture)]
    assert [document.text[one.start : one.end] for one in pictures] == ["A frog", ""]
    assert book.load_picture(pictures[0].file) == png()
    assert [one.target for one in document.missing_pictures] == ["gone.png"]
    assert find_marks(document, Style) == [("More", Style(0, 0, "emphasis"))]
