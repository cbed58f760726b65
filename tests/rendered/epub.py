"""The sample book as an EPUB 3."""

import zipfile
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path

from tests.rendered.content import Rendering, render
from tests.rendered.sample import ROOT, TITLE, SamplePage, sample_pages

_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""


def render_epub(path: Path) -> Path:
    """Write the book as one file; its chapters nest as in the sidebar."""
    names = {page.file: _name(page) for page in sample_pages()}

    def address(file: str, anchor: str) -> str:
        return names[file] + (f"#{anchor}" if anchor else "")

    contents = {
        page.file: render(page.body, Rendering(page.file, "print", address, "img")).html
        for page in sample_pages()
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        book.writestr("META-INF/container.xml", _CONTAINER)
        book.writestr("EPUB/package.opf", _package(contents))
        book.writestr("EPUB/nav.xhtml", _xhtml("Contents", _nav()))
        book.writestr("EPUB/toc.ncx", _ncx())
        for page in sample_pages():
            book.writestr(f"EPUB/{_name(page)}", _xhtml(page.title, contents[page.file]))
        for image in _images():
            book.write(image, f"EPUB/img/{image.name}")
    return path


def _name(page: SamplePage) -> str:
    return f"{page.slug.replace('/', '-') or 'welcome'}.xhtml"


def _images() -> list[Path]:
    return sorted((ROOT / "static" / "img").glob("*.svg"))


def _chapters() -> Iterator[tuple[SamplePage, list[SamplePage]]]:
    """Give each top entry of the contents with the pages below it."""
    for _, group in groupby(sample_pages(), key=lambda page: page.chapter or page.title):
        first, *rest = group
        yield first, rest


def _nav() -> str:
    items = []
    for first, rest in _chapters():
        below = "".join(f"<li>{_entry(page)}</li>" for page in rest)
        items.append(f"<li>{_entry(first)}{f'<ol>{below}</ol>' if below else ''}</li>")
    return f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{"".join(items)}</ol></nav>'


def _entry(page: SamplePage) -> str:
    return f'<a href="{_name(page)}">{escape(page.title)}</a>'


def _ncx() -> str:
    order = iter(range(1, 1000))

    def point(page: SamplePage, inner: str = "") -> str:
        number = next(order)
        return (
            f'<navPoint id="p{number}" playOrder="{number}"><navLabel><text>{escape(page.title)}'
            f'</text></navLabel><content src="{_name(page)}"/>{inner}</navPoint>'
        )

    points = "".join(point(first, "".join(map(point, rest))) for first, rest in _chapters())
    return f"""<?xml version="1.0" encoding="utf-8"?>
<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1">
<head><meta name="dtb:uid" content="urn:uuid:4f2f1a52-6c56-4d0e-9d3a-0d5c8b1f7a11"/></head>
<docTitle><text>{escape(TITLE)}</text></docTitle><navMap>{points}</navMap></ncx>
"""


def _package(contents: Mapping[str, str]) -> str:
    pages = sample_pages()
    items = "".join(
        f'<item id="p{number}" href="{_name(page)}" media-type="application/xhtml+xml"'
        f"{_properties(contents[page.file])}/>"
        for number, page in enumerate(pages)
    ) + "".join(
        f'<item id="i{number}" href="img/{image.name}" media-type="image/svg+xml"/>'
        for number, image in enumerate(_images())
    )
    spine = "".join(f'<itemref idref="p{number}"/>' for number in range(len(pages)))
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:4f2f1a52-6c56-4d0e-9d3a-0d5c8b1f7a11</dc:identifier>
<dc:title>{escape(TITLE)}</dc:title><dc:language>en</dc:language>
<meta property="dcterms:modified">2026-01-05T10:00:00Z</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>
{items}
</manifest>
<spine toc="ncx">{spine}</spine>
</package>
"""


def _properties(html: str) -> str:
    return ' properties="mathml"' if "<math" in html else ""


def _xhtml(title: str, body: str) -> str:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en">
<head><title>{escape(title)}</title></head>
<body>{body}</body>
</html>
"""
