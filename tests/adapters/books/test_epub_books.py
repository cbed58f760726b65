"""Real EPUB books: nothing lost, in order, in the right chapters."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bythebook.adapters.readers.epub.reader import EpubReader
from bythebook.domain.books import Document

_BOOKS = (
    "accessible_epub_3",
    "childrens-literature",
    "linear-algebra",
    "moby-dick",
    "pride-and-prejudice-standardebooks",
    "wasteland",
)


class _Runs(HTMLParser):
    """The runs of text of a page, by nothing that the reader uses."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.runs: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag in {"head", "script", "style"}

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Leave the count alone: an element closed at once hides nothing."""

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"head", "script", "style"}

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.runs.append(data)


def _letters(text: str) -> str:
    return "".join(mark for mark in text if mark.isalnum())


def _source_runs(path: Path) -> Iterator[str]:
    """Give the runs of the files in the spine, letters and digits only."""
    with zipfile.ZipFile(path) as archive:
        (package,) = (name for name in archive.namelist() if name.endswith(".opf"))
        root = ET.fromstring(archive.read(package))
        hrefs = {item.get("id"): item.get("href", "") for item in root.iterfind(".//{*}item")}
        for reference in root.iterfind(".//{*}itemref"):
            parser = _Runs()
            name = posixpath.join(posixpath.dirname(package), hrefs[reference.get("idref")])
            parser.feed(archive.read(name).decode())
            parser.close()
            yield from filter(None, map(_letters, parser.runs))


@cache
def _documents(eval_data: Path, name: str) -> list[Document]:
    path = eval_data / "books" / "epub" / f"{name}.epub"
    book = EpubReader().read(str(path), title=None, base_url=None)
    assert book.skipped == ()
    return [document.read() for document in book.documents]


@pytest.mark.parametrize("name", _BOOKS)
def test_nearly_every_letter_is_in_the_text_or_left_out_with_a_reason(
    eval_data: Path, name: str
) -> None:
    documents = _documents(eval_data, name)
    kept = _letters("".join(document.text for document in documents))
    kept += _letters("".join(left.text for document in documents for left in document.left_out))
    runs = list(_source_runs(eval_data / "books" / "epub" / f"{name}.epub"))
    found = sum(len(run) for run in runs if run in kept)
    assert found / sum(map(len, runs)) >= 0.999


@pytest.mark.parametrize("name", _BOOKS)
def test_documents_are_whole_and_their_links_lead_somewhere(eval_data: Path, name: str) -> None:
    documents = {document.document_id: document for document in _documents(eval_data, name)}
    for document in documents.values():
        assert document.blocks[0].kind == "heading"
        assert document.sections[0].start == 0
        assert re.fullmatch(r"[a-z0-9._/-]+", document.document_id)
        gaps = zip(document.blocks, document.blocks[1:], strict=False)
        assert all(document.text[one.end : two.start] == "\n\n" for one, two in gaps)
        for link in document.links:
            assert link.document_id in documents, link
            assert not link.anchor or link.anchor in documents[link.document_id].anchors, link


def test_a_poem_keeps_its_lines_and_its_chapters(eval_data: Path) -> None:
    documents = _documents(eval_data, "wasteland")
    assert [document.title for document in documents] == [
        "The Waste Land",
        "I. THE BURIAL OF THE DEAD",
        "II. A GAME OF CHESS",
        "III. THE FIRE SERMON",
        "IV. DEATH BY WATER",
        "V. WHAT THE THUNDER SAID",
        'NOTES ON "THE WASTE LAND"',
    ]
    assert "breeding\nLilacs out of the dead land, mixing\nMemory" in documents[1].text
    assert documents[1].links[0].document_id == documents[-1].document_id


def test_formulas_without_tex_are_lines_of_signs(eval_data: Path) -> None:
    documents = {each.document_id: each for each in _documents(eval_data, "linear-algebra")}
    section = documents["xhtml/fcla-xml-2.30li17"]
    assert section.chapter == "Part I. Part C Core"
    formulas = [
        section.text[block.start : block.end] for block in section.blocks if block.kind == "formula"
    ]
    assert formulas[0] == "x^2 + y^2 = 1\n−x + √3y = 0"


def test_chapters_and_sections_are_those_of_the_contents(eval_data: Path) -> None:
    documents = {each.document_id: each for each in _documents(eval_data, "accessible_epub_3")}
    assert documents["ch01s02"].title == "Accessibility and Usability"
    assert documents["ch01s02"].chapter == "1. Introduction"
    assert [section.anchor for section in documents["ch01"].sections] == ["", "_the_digital_famine"]
