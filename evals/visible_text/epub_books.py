"""Visible text of EPUBs: the documents of the spine, in order."""

import posixpath
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from evals.visible_text.html_pages import extract_html_text
from evals.visible_text.words import VisibleText

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_PACKAGE = "{http://www.idpf.org/2007/opf}"


def extract_epub(path: Path) -> Iterator[VisibleText]:
    """Extract each document of the spine, except the table of contents that a reading system shows."""
    with zipfile.ZipFile(path) as book:
        for name in _list_spine(book):
            html = book.read(name).decode("utf-8-sig")
            yield VisibleText(name, extract_html_text(html))


def _list_spine(book: zipfile.ZipFile) -> Iterator[str]:
    container = ET.fromstring(book.read("META-INF/container.xml"))  # noqa: S314 - our own data
    root = next(container.iter(f"{_CONTAINER}rootfile")).attrib["full-path"]
    package = ET.fromstring(book.read(root))  # noqa: S314 - our own data
    items = {item.attrib["id"]: item.attrib for item in package.iter(f"{_PACKAGE}item")}
    for reference in package.iter(f"{_PACKAGE}itemref"):
        item = items[reference.attrib["idref"]]
        is_contents = "nav" in item.get("properties", "").split()
        if item["media-type"] == "application/xhtml+xml" and not is_contents:
            yield posixpath.join(posixpath.dirname(root), unquote(item["href"]))
