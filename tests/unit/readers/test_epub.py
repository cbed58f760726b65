"""EPUB files built here: order, chapters, links, and all that a bad one may do."""

import resource
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from bythebook.adapters.readers.epub.archive import EPUB_BOUNDS, EpubBounds
from bythebook.adapters.readers.epub.reader import EpubReader
from bythebook.domain.books import Document, Link, SourceBook
from bythebook.errors import UnreadableBook

_CONTAINER = (
    "<container xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>"
    "<rootfile full-path='OPS/book.opf' media-type='application/oebps-package+xml'/>"
    "</rootfiles></container>"
)
_XHTML = "application/xhtml+xml"


def _page(body: str, title: str = "") -> str:
    return (
        "<html xmlns='http://www.w3.org/1999/xhtml' xmlns:epub='http://www.idpf.org/2007/ops'>"
        f"<head><title>{title}</title></head><body>{body}</body></html>"
    )


def _nav(entries: str) -> str:
    return _page(f"<nav epub:type='toc'><h1>Contents</h1><ol>{entries}</ol></nav>")


def _package(
    names: Mapping[str, str], spine: str, extra: str = "", toc: str = "", title: str = "The Book"
) -> str:
    items = "".join(
        f"<item id='{key}' href='{name}' media-type='{_XHTML}'/>" for key, name in names.items()
    )
    references = "".join(
        f"<itemref idref='{key.rstrip('!')}' linear='{'no' if key.endswith('!') else 'yes'}'/>"
        for key in spine.split()
    )
    return (
        "<package xmlns='http://www.idpf.org/2007/opf' version='3.0'>"
        f"<metadata xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>{title}</dc:title></metadata>"
        f"<manifest>{items}{extra}</manifest><spine{toc}>{references}</spine></package>"
    )


def _epub(path: Path, members: Mapping[str, str | bytes]) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in {"META-INF/container.xml": _CONTAINER, **members}.items():
            opened.writestr(name, content)
    return str(path)


def _simple(
    tmp_path: Path, pages: Mapping[str, str | bytes], nav: str = "", spine: str = ""
) -> str:
    """Make a book of pages by their keys; a table of contents if one is given."""
    names = {key: f"{key}.xhtml" for key in pages}
    extra = f"<item id='nav' href='nav.xhtml' media-type='{_XHTML}' properties='nav'/>"
    members: dict[str, str | bytes] = {
        "OPS/book.opf": _package(names, spine or " ".join(pages), extra if nav else "")
    }
    members |= {f"OPS/{key}.xhtml": page for key, page in pages.items()}
    if nav:
        members["OPS/nav.xhtml"] = _nav(nav)
    return _epub(tmp_path / "book.epub", members)


def _read(source: str, base_url: str | None = None, bounds: EpubBounds = EPUB_BOUNDS) -> SourceBook:
    return EpubReader(bounds).read(source, title=None, base_url=base_url)


def _documents(source: str, base_url: str | None = None) -> list[Document]:
    return [document.read() for document in _read(source, base_url).documents]


def _line(href: str, title: str, inner: str = "") -> str:
    return f"<li><a href='{href}'>{title}</a>{f'<ol>{inner}</ol>' if inner else ''}</li>"


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    pages = {key: _page(f"<h1>{key.upper()}</h1><p>text of {key}</p>") for key in "abc"}
    book = _read(_simple(tmp_path, pages, spine="b! c a"))
    assert (book.title, book.reader, book.skipped) == ("The Book", "EPUB", ())
    documents = [document.read() for document in book.documents]
    assert [document.title for document in documents] == ["C", "A", "B"]
    assert documents[0].text == "C\n\ntext of c"
    assert documents[0].url == ""


def test_chapters_and_titles_come_from_the_table_of_contents(tmp_path: Path) -> None:
    pages = {key: _page(f"<p>text of {key}</p>") for key in ("p1", "c1", "c2", "rest", "p2")}
    nav = (
        _line("p1.xhtml", "Part One", _line("c1.xhtml", "Chapter 1") + _line("c2.xhtml", "Ch 2"))
        + "<li><span>Part Two</span><ol>" + _line("p2.xhtml", "Chapter 3") + "</ol></li>"
    )  # fmt: skip
    documents = _documents(_simple(tmp_path, pages, nav))
    assert [(each.document_id, each.title, each.chapter) for each in documents] == [
        ("p1", "Part One", "Part One"),
        ("c1", "Chapter 1", "Part One"),
        ("c2", "Ch 2", "Part One"),
        ("rest", "Part One", "Part One"),
        ("p2", "Chapter 3", "Part Two"),
    ]
    assert documents[1].text == "Chapter 1\n\ntext of c1"
    assert documents[1].sections[0].path == ("Part One", "Chapter 1")


def test_an_epub_2_has_its_chapters_from_the_ncx(tmp_path: Path) -> None:
    point = "<navPoint><navLabel><text>{}</text></navLabel><content src='{}'/>{}</navPoint>"
    inner = point.format("Two", "b.xhtml", "")
    ncx = (
        "<!DOCTYPE ncx PUBLIC '-//NISO//DTD ncx 2005-1//EN' 'http://example.org/ncx.dtd'>"
        "<ncx xmlns='http://www.daisy.org/z3986/2005/ncx/'><navMap>"
        f"{point.format('One &amp; all', 'a.xhtml', inner)}{point.format('Three', 'c.xhtml', '')}"
        "</navMap></ncx>"
    )
    names = {key: f"{key}.xhtml" for key in "abc"}
    item = "<item id='ncx' href='toc.ncx' media-type='application/x-dtbncx+xml'/>"
    members = {f"OPS/{key}.xhtml": _page(f"<p>{key} text</p>") for key in "abc"}
    members |= {"OPS/book.opf": _package(names, "a b c", item, " toc='ncx'"), "OPS/toc.ncx": ncx}
    documents = _documents(_epub(tmp_path / "book.epub", members))
    assert [(each.title, each.chapter) for each in documents] == [
        ("One & all", "One & all"),
        ("Two", "One & all"),
        ("Three", "Three"),
    ]


def test_a_file_of_several_chapters_is_split(tmp_path: Path) -> None:
    body = (
        "<h1>Poems</h1><p>front</p><section id='c1'><h2>One</h2><p>a <a href='#n'>*</a></p></section>"
        "<section id='c2'><h2>Two</h2><p>b</p><h3>Sub</h3><p id='n'>note</p></section>"
    )
    nav = _line("all.xhtml#c1", "I. One") + _line(
        "all.xhtml#c2", "II. Two", _line("all.xhtml#n", "N")
    )
    front, one, two = _documents(_simple(tmp_path, {"all": _page(body)}, nav), "https://x.org/b")
    assert [each.document_id for each in (front, one, two)] == ["all", "all/c1", "all/c2"]
    assert (front.title, front.chapter, front.text) == ("Poems", "Poems", "Poems\n\nfront")
    assert (one.title, one.chapter, one.text) == ("I. One", "I. One", "One\n\na *")
    assert [section.anchor for section in two.sections] == ["c2", "sub"]
    assert one.links == (Link("#n", "all/c2", "n"),)
    assert "n" in two.anchors
    assert two.url == "https://x.org/b/OPS/all.xhtml"


def test_a_chapter_that_begins_at_its_files_beginning_is_not_split(tmp_path: Path) -> None:
    nav = _line("a.xhtml#s", "One", _line("a.xhtml#t", "Sub")) + _line("b.xhtml", "Two")
    body = "<div><section id='s'><h1>1</h1><p>x</p><h2 id='t'>Sub</h2><p>y</p></section></div>"
    documents = _documents(_simple(tmp_path, {"a": _page(body), "b": _page("<p>z</p>")}, nav))
    assert [(each.document_id, each.title) for each in documents] == [("a", "One"), ("b", "Two")]


def test_a_table_of_contents_under_one_line_begins_below_it(tmp_path: Path) -> None:
    inner = _line("a.xhtml#c1", "One", _line("a.xhtml#s", "Sub")) + _line("a.xhtml#c2", "Two")
    body = (
        "<h1 id='t'>Tales</h1><h2 id='c1'>One</h2><p>x</p><h3 id='s'>Sub</h3><p>y</p>"
        "<h2 id='c2'>Two</h2><p>z</p>"
    )
    source = _simple(tmp_path, {"a": _page(body)}, _line("a.xhtml#t", "All Tales", inner))
    documents = _documents(source)
    assert [(each.title, each.chapter) for each in documents] == [
        ("All Tales", "All Tales"),
        ("One", "All Tales"),
        ("Two", "All Tales"),
    ]
    assert [section.title for section in documents[1].sections] == ["One", "Sub"]


def test_links_lead_across_files_and_broken_ones_are_reported(tmp_path: Path) -> None:
    body = (
        "<p><a href='b.xhtml#n1'>1</a><a href='gone.xhtml'>2</a><a href='https://x.org/'>3</a>"
        "<a href='mailto:a@b.c'>4</a><a href='nav.xhtml'>5</a><a href='http://[x'>6</a></p>"
    )
    pages = {"a": _page(body), "b": _page("<p id='n1'>note</p>")}
    first, second = _documents(_simple(tmp_path, pages, _line("a.xhtml", "A")))
    assert first.links == (Link("b.xhtml#n1", "b", "n1"), Link("gone.xhtml", "", ""))
    assert "n1" in second.anchors


def test_the_table_of_contents_is_left_out_and_reported(tmp_path: Path) -> None:
    source = _simple(tmp_path, {"a": _page("<p>text</p>")}, _line("a.xhtml", "One"), spine="nav a")
    (document,) = _documents(source)
    assert document.text == "One\n\ntext"
    assert [(left.reason, left.text) for left in document.left_out] == [
        ("navigation", "Contents One")
    ]


def test_a_page_of_pictures_only_is_no_document(tmp_path: Path) -> None:
    pages = {"cover": _page("<img src='x.png' alt=''/>", "Cover"), "a": _page("<p>text</p>")}
    book = _read(_simple(tmp_path, pages))
    assert [document.document_id for document in book.documents] == ["a"]
    assert book.warnings == ("OPS/cover.xhtml contains only images.",)


def test_named_characters_and_odd_encodings_come_out_right(tmp_path: Path) -> None:
    pages: dict[str, str | bytes] = {
        "a": _page("<p>a&nbsp;b&hellip;</p>"),
        "b": ("<?xml version='1.0' encoding='iso-8859-1'?>" + _page("<p>naïve</p>")).encode(
            "latin-1"
        ),
        "c": _page("<p>wide ï</p>").encode("utf-16"),
        "d": _page("<p>tag soup<br> & more").encode("cp1252"),
    }
    texts = [each.text.partition("\n\n")[2] for each in _documents(_simple(tmp_path, pages))]
    assert texts == ["a\u00a0b…", "naïve", "wide ï", "tag soup\n& more"]


def test_a_fingerprint_changes_with_all_that_the_document_depends_on(tmp_path: Path) -> None:
    pages = {"a": _page("<p>a <a href='b.xhtml'>b</a></p>"), "b": _page("<p>b</p>")}
    nav = _line("a.xhtml", "A") + _line("b.xhtml", "B")

    def marks(pages: Mapping[str, str], nav: str, base_url: str | None = None) -> list[str]:
        return [
            each.fingerprint for each in _read(_simple(tmp_path, pages, nav), base_url).documents
        ]

    same = marks(pages, nav)
    assert marks(pages, nav) == same
    changed = marks(pages | {"b": _page("<p>c</p>")}, nav)
    assert (changed[0] == same[0], changed[1] == same[1]) == (True, False)
    assert marks(pages, nav.replace(">A<", ">Z<"))[0] != same[0]
    assert marks(pages, nav, "https://x.org")[0] != same[0]
    assert marks({"a": pages["a"]}, nav)[0] != same[0]


def test_what_cannot_be_read_is_skipped_and_the_rest_is_read(tmp_path: Path) -> None:
    names = {
        "a": "a.xhtml",
        "gone": "gone.xhtml",
        "out": "../../../etc/passwd",
        "deep": "deep.xhtml",
    }
    deep = _page("<div>" * 5000 + "x" + "</div>" * 5000)
    members = {
        "OPS/book.opf": _package(names, "a gone out deep unknown"),
        "OPS/a.xhtml": _page("<p>text</p>"),
        "OPS/deep.xhtml": deep,
        "../../../etc/passwd": _page("<p>secret</p>"),
    }
    book = _read(_epub(tmp_path / "book.epub", members))
    assert [skipped.name for skipped in book.skipped] == ["OPS/gone.xhtml", "etc/passwd", "unknown"]
    assert book.documents[0].read().text.endswith("text")
    with pytest.raises(UnreadableBook, match="too deep"):
        book.documents[1].read()


def test_entities_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    laughs = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 12))
    page = (
        f"<!DOCTYPE html [<!ENTITY l0 'laugh'>{laughs}<!ENTITY x SYSTEM '{secret.as_uri()}'>]>"
        + _page("<p title='&l11;'>begin &x; &l11; end</p>")
    )
    (document,) = _documents(_simple(tmp_path, {"a": page}))
    assert "SECRET" not in document.text
    assert len(document.text) < 200
    assert "begin" in document.text


def test_a_bomb_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.epub"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened:
        opened.writestr("META-INF/container.xml", _CONTAINER)
        opened.writestr("OPS/book.opf", _package({"a": "a.xhtml", "b": "b.xhtml"}, "a b"))
        opened.writestr("OPS/b.xhtml", _page("<p>text</p>"))
        with opened.open("OPS/a.xhtml", "w", force_zip64=True) as member:
            for _ in range(1000):
                member.write(b" " * 1_000_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    book = _read(str(path))
    assert book.skipped[0].name == "OPS/a.xhtml"
    assert book.skipped[0].reason.startswith("OPS/a.xhtml is a decompression bomb: its ")
    assert [document.read().text for document in book.documents] == ["b\n\ntext"]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 150_000  # KiB


def test_a_book_that_inflates_beyond_all_books_is_refused(tmp_path: Path) -> None:
    source = _simple(tmp_path, {key: _page(f"<p>{key * 3000}</p>") for key in "abcdef"})
    with pytest.raises(UnreadableBook, match="inflates to more than 15,000 bytes"):
        _read(source, bounds=EpubBounds(book_bytes=15_000))


def test_a_large_page_is_no_bomb(tmp_path: Path) -> None:
    words = " ".join(f"{number:x}" for number in range(9_000))
    source = _simple(tmp_path, {"a": _page(f"<p>{words}</p>"), "b": _page("<p>text</p>")})
    (skipped,) = _read(source, bounds=EpubBounds(member_bytes=15_000)).skipped
    assert skipped.reason.startswith("OPS/a.xhtml inflates to more than 15,000 bytes.")


def test_many_small_pages_that_make_a_bomb_are_called_one(tmp_path: Path) -> None:
    source = _simple(tmp_path, {key: _page(f"<p>{' ' * 900_000}{key}</p>") for key in "abcdef"})
    with pytest.raises(
        UnreadableBook, match=r"decompression bomb: its [\d,]+ bytes inflate to more"
    ):
        _read(source, bounds=EpubBounds(book_bytes=5_000_000))


def test_a_directory_that_lies_about_sizes_is_found_out(tmp_path: Path) -> None:
    source = Path(_simple(tmp_path, {"a": _page("<p>text</p>"), "b": _page("<p>" + "word " * 999)}))
    raw = bytearray(source.read_bytes())
    at = raw.rfind(b"PK\1\2", 0, raw.rfind(b"OPS/b.xhtml"))
    raw[at + 24 : at + 28] = struct.pack("<L", 10)  # the size that it claims to inflate to
    source.write_bytes(raw)
    book = _read(str(source))
    assert [skipped.name for skipped in book.skipped] == ["OPS/b.xhtml"]


def test_a_member_whose_checksum_is_wrong_is_skipped(tmp_path: Path) -> None:
    source = Path(_simple(tmp_path, {"a": _page("<p>text</p>"), "b": _page("<p>other</p>")}))
    raw = bytearray(source.read_bytes())
    at = raw.rfind(b"PK\1\2", 0, raw.rfind(b"OPS/b.xhtml"))
    raw[at + 16 : at + 20] = b"\0\0\0\0"
    source.write_bytes(raw)
    assert [skipped.name for skipped in _read(str(source)).skipped] == ["OPS/b.xhtml"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_two_members_share_is_not_guessed(tmp_path: Path) -> None:
    source = _simple(tmp_path, {"a": _page("<p>text</p>"), "b": _page("<p>one</p>")})
    with zipfile.ZipFile(source, "a") as opened:
        opened.writestr("OPS/b.xhtml", _page("<p>two</p>"))
    assert "more than once" in _read(source).skipped[0].reason


def _encryption(name: str, algorithm: str) -> str:
    return (
        "<encryption xmlns='urn:oasis:names:tc:opendocument:xmlns:container' "
        "xmlns:enc='http://www.w3.org/2001/04/xmlenc#'><enc:EncryptedData>"
        f"<enc:EncryptionMethod Algorithm='{algorithm}'/><enc:CipherData>"
        f"<enc:CipherReference URI='{name}'/></enc:CipherData></enc:EncryptedData></encryption>"
    )


def test_a_protected_book_is_refused_and_scrambled_fonts_are_not(tmp_path: Path) -> None:
    source = _simple(tmp_path, {"a": _page("<p>text</p>")})
    fonts = _encryption("OPS/font.otf", "http://www.idpf.org/2008/embedding")
    text = _encryption("OPS/a.xhtml", "http://www.w3.org/2001/04/xmlenc#aes128-cbc")
    with zipfile.ZipFile(source) as opened:
        members = {name: opened.read(name) for name in opened.namelist() if name != "mimetype"}
    assert _documents(_epub(tmp_path / "fonts.epub", members | {"META-INF/encryption.xml": fonts}))
    locked = _epub(tmp_path / "locked.epub", members | {"META-INF/encryption.xml": text})
    with pytest.raises(UnreadableBook, match="protected"):
        _read(locked)


@pytest.mark.parametrize(
    ("members", "what"),
    [
        ({}, "package file"),
        ({"META-INF/container.xml": "<x"}, "XML is broken"),
        ({"OPS/book.opf": "<package"}, "XML is broken"),
        ({"OPS/book.opf": _package({}, "")}, "no text"),
        ({"OPS/book.opf": _package({"a": "a.xhtml"}, "a")}, "no text"),
    ],
)
def test_a_file_that_is_no_book_is_refused(
    tmp_path: Path, members: dict[str, str], what: str
) -> None:
    with pytest.raises(UnreadableBook, match=what) as refused:
        _read(_epub(tmp_path / "book.epub", members))
    assert refused.value.help_message


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\5\6" + b"\0" * 18, b"PK\5\6\xff" * 9])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "book.epub"
    path.write_bytes(content)
    with pytest.raises(UnreadableBook):
        _read(str(path))
    with pytest.raises(UnreadableBook, match="no file"):
        _read(str(tmp_path / "missing.epub"))


def test_an_archive_cut_anywhere_is_refused_or_read_in_part(tmp_path: Path) -> None:
    source = Path(_simple(tmp_path, {"a": _page("<p>text</p>")}, _line("a.xhtml", "A")))
    raw = source.read_bytes()
    for length in range(0, len(raw), 37):
        source.write_bytes(raw[:length])
        with pytest.raises(UnreadableBook):
            _read(str(source))
