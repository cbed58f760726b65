"""Pictures: what they are by their bytes, within limits; drawings that only draw."""

import base64
import struct
import zlib
from pathlib import Path

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.adapters.readers.pictures.shelf import KeptPicture, PictureShelf, find_picture_file
from bythebook.adapters.readers.pictures.svg import clean_svg
from bythebook.adapters.readers.pictures.types import UnusablePicture, measure_picture
from bythebook.domain.books import Document, MissingPicture
from bythebook.domain.marks import Picture


def png(width: int = 3, height: int = 2) -> bytes:
    """Write a grey picture; only its head need be right."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x05\x00\x07" + b"\0" * 12
WEBP = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + bytes([8, 0, 0, 4, 0, 0])
GIF = b"GIF89a" + struct.pack("<HH", 9, 6)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="4cm" height="10">%s</svg>'


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (png(), ("png", 3, 2)),
        (JPEG, ("jpg", 7, 5)),
        (WEBP, ("webp", 9, 5)),
        (GIF, ("gif", 9, 6)),
    ],
)
def test_a_picture_is_what_its_bytes_say(content: bytes, size: tuple[str, int, int]) -> None:
    found = measure_picture(content)
    assert found is not None
    assert (found.suffix, found.width, found.height) == size


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html><script>alert(1)</script></html>",
        b"%PDF-1.7",
        b"GIF89a",
        JPEG[:12],
        b"BM" + b"\0" * 60,
    ],
)
def test_what_is_no_picture_is_not_kept(content: bytes) -> None:
    with pytest.raises(UnusablePicture):
        measure_picture(content)


@pytest.mark.parametrize(
    "inside",
    [
        b"<script>alert(1)</script>",
        b'<rect onload="alert(1)" width="1"/>',
        b'<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="//a.test"/></foreignObject>',
        b'<image href="https://a.test/x.png"/>',
        b'<a href="javascript:alert(1)"><rect/></a>',
        b"<style>@import url(//a.test/x.css);</style>",
        b'<rect style="fill: url(https://a.test/x)"/>',
        b'<rect fill="url(//a.test/x)"/>',
        b'<use href="https://a.test/x.svg#y"/>',
        b'<set attributeName="href" to="javascript:alert(1)"/><animate onbegin="alert(1)"/>',
        b'<image href="data:image/svg+xml;base64,PHN2Zy8+"/>',
    ],
)
def test_a_drawing_only_draws(inside: bytes) -> None:
    drawing = clean_svg(SVG % (inside + b'<circle r="1"/>'))[0]
    for bad in (b"script", b"onload", b"onbegin", b"a.test", b"iframe", b"svg+xml"):
        assert bad not in drawing
    assert b"<circle" in drawing


def test_a_drawing_keeps_what_it_draws_and_its_size() -> None:
    bitmap = b"data:image/png;base64," + base64.b64encode(png())
    inside = (
        b'<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs><style>.a{fill:red}</style>'
        b'<rect class="a" fill="url(#g)" style="stroke: blue"/><use href="#g"/><image href="'
        + bitmap
        + b'"/>'
        b"<text>A <tspan>frog</tspan> sings</text>"
    )
    drawing, width, height = clean_svg(SVG % inside)
    assert (width, height) == (151, 10)
    for kept in (
        b'fill="url(#g)"',
        b"stroke: blue",
        b".a{fill:red}",
        b'href="#g"',
        bitmap,
        b" sings",
    ):
        assert kept in drawing


def _repeat(levels: int) -> bytes:
    parts = b'<g id="l0"><rect/></g>'
    for level in range(1, levels):
        uses = f'<use href="#l{level - 1}"/>' * 10
        parts += f'<g id="l{level}">{uses}</g>'.encode()
    return SVG % parts


@pytest.mark.parametrize(
    "content",
    [
        _repeat(10),
        SVG % b'<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>',
        b'<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><svg>&b;</svg><',
        b"<svg>" + b"<g>" * 100_000,
        SVG % (b" " * 4_000_000),
        b"<html><svg/></html>",
    ],
    ids=["repeats", "circle", "entities", "depth", "size", "not a drawing"],
)
def test_a_drawing_that_expands_is_refused(content: bytes) -> None:
    with pytest.raises(UnusablePicture):
        clean_svg(content)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Make a folder with a page that shows pictures of every kind."""
    home = tmp_path / "book"
    (home / "docs/img").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(png())
    (home / "docs/link.png").symlink_to(tmp_path / "secret.png")
    (home / "docs/img/frog.png").write_bytes(png())
    (home / "docs/img/huge.png").write_bytes(png(10_000, 10_000))
    (home / "docs/img/fake.png").write_bytes(b"<html><script>alert(1)</script></html>")
    (home / "docs/img/large.png").write_bytes(png() + b"\0" * 11_000_000)
    (home / "docs/img/draw.svg").write_bytes(SVG % b"<script>alert(1)</script><circle r='1'/>")
    return home


def read(home: Path, body: str) -> tuple[Document, PictureShelf]:
    (home / "docs/page.md").write_text(f"# Page\n\n{body}\n", "utf-8")
    book = MarkdownReader().read(str(home), title=None, base_url=None)
    shelf = book.load_picture.__self__  # type: ignore[attr-defined]
    return book.documents[0].read(), shelf


def test_pictures_of_a_page_are_kept_and_their_words_stay_text(book: Path) -> None:
    body = "Words ![A frog](img/frog.png) more.\n\n![](img/draw.svg)\n\n<img src='img/frog.png' alt='Two'>"
    document, shelf = read(book, body)
    pictures = [mark for mark in document.marks if isinstance(mark, Picture)]
    assert [document.text[one.start : one.end] for one in pictures] == ["A frog", "Two", ""]
    assert pictures[0].file == pictures[1].file
    assert pictures[2].display
    assert shelf.load(pictures[0].file) == png()
    drawing = shelf.load(pictures[2].file)
    assert drawing is not None
    assert b"script" not in drawing
    assert not document.missing_pictures


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("img/gone.png", "no such file"),
        ("../../secret.png", "no such file"),
        ("link.png", "no such file"),
        ("/etc/passwd", "no such file"),
        ("img/huge.png", "million pixels"),
        ("img/fake.png", "not a picture"),
        ("img/large.png", "more than 10 MB"),
        ("https://a.test/x.png", "another site"),
        ("//a.test/x.png", "another site"),
        ("data:image/png;base64,AAAA", "not a picture"),
    ],
)
def test_a_picture_that_is_not_kept_is_named_with_the_reason(
    book: Path, target: str, reason: str
) -> None:
    document, _ = read(book, f"![A frog]({target})\n\nThe rest is read.")
    assert not any(isinstance(mark, Picture) for mark in document.marks)
    (missing,) = document.missing_pictures
    assert missing.target == target
    assert reason in missing.reason
    assert document.text == "Page\n\nA frog\n\nThe rest is read."


def test_a_page_changes_when_its_picture_does(book: Path) -> None:
    def mark() -> str:
        read(book, "![A frog](img/frog.png)")
        return MarkdownReader().read(str(book), title=None, base_url=None).documents[0].fingerprint

    before = mark()
    assert mark() == before
    (book / "docs/img/frog.png").write_bytes(png(5, 5))
    assert mark() != before


def test_data_in_an_address_is_a_picture_too(tmp_path: Path) -> None:
    shelf = PictureShelf()
    target = "data:image/png;base64," + base64.b64encode(png()).decode()
    found = find_picture_file(shelf, target, tmp_path, lambda _path: [])
    assert isinstance(found, KeptPicture)
    assert shelf.load(found.file) == png()


def test_a_book_keeps_only_so_many_bytes_of_pictures(tmp_path: Path) -> None:
    shelf = PictureShelf(bytes_left=len(png()) + 1)
    assert isinstance(shelf.keep("a", "a", lambda: png()), KeptPicture)
    assert isinstance(shelf.keep("b", "b", lambda: png(4, 4)), MissingPicture)
