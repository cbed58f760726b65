from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bythebook.adapters.readers.any_book import AnyBookReader, Kind
from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook


@dataclass
class Named:
    """A reader that only says what it was given."""

    name: str
    given: list[str] = field(default_factory=list)

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        self.given.append(source)
        return SourceBook(title or "", self.name, base_url or "", ())


READERS: Mapping[Kind, Named] = {
    "markdown": Named("markdown"),
    "rst": Named("rst"),
    "html": Named("html"),
    "pdf": Named("pdf"),
    "epub": Named("epub"),
    "site": Named("site"),
}


def read(source: Path | str) -> SourceBook:
    return AnyBookReader(READERS).read(str(source), title=None, base_url=None)


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%PDF-1.7" if name.endswith(".pdf") else b"words")
    return folder


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "markdown"), ("a.MDX", "markdown"), ("a.rst", "rst"), ("a.html", "html"),
        ("a.htm", "html"), ("a.epub", "epub"), ("a.pdf", "pdf"),
    ],
)  # fmt: skip
def test_a_file_is_told_by_its_name(tmp_path: Path, name: str, kind: str) -> None:
    assert read(fill(tmp_path, name) / name).reader == kind


def test_a_file_is_told_by_what_it_begins_with_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "book.bin").write_bytes(b"\n%PDF-1.4 ...")
    (tmp_path / "other").write_bytes(b"PK\x03\x04" + bytes(26) + b"mimetypeapplication/epub+zip")
    assert read(tmp_path / "book.bin").reader == "pdf"
    assert read(tmp_path / "other").reader == "epub"


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("src/SUMMARY.md", "theme/index.html", "theme/a.html"), "markdown"),
        (("docs/intro.md", "docusaurus.config.js"), "markdown"),
        (("source/conf.py", "source/index.rst", "README.md"), "rst"),
        (("a.rst", "b.rst", "c.md"), "rst"),
        (("conf.py", "index.md", "a.md"), "markdown"),
        (("index.html", "a/index.html", "README.md"), "html"),
        (("content/en/_index.md", "content/en/a.md", "x.html"), "markdown"),
    ],
)
def test_a_folder_is_told_by_its_marks_else_by_most_of_its_files(
    tmp_path: Path, names: tuple[str, ...], kind: str
) -> None:
    assert read(fill(tmp_path, *names)).reader == kind


@pytest.mark.parametrize("book", ["Book.PDF", "deep/er/book.epub"])
def test_a_folder_that_holds_one_whole_book_is_that_book(tmp_path: Path, book: str) -> None:
    fill(tmp_path, book, "LICENSE.md", "readme.md", ".hidden/other.pdf", "cover.jpg")
    found = read(tmp_path)
    assert READERS[found.reader].given[-1] == str(tmp_path / book)  # type: ignore[index]


def test_a_folder_of_several_whole_books_asks_which(tmp_path: Path) -> None:
    with pytest.raises(UnreadableBook, match=r"2 books \(a.pdf, b.epub") as caught:
        read(fill(tmp_path, "a.pdf", "b.epub"))
    assert "path" in caught.value.help_message


def test_files_of_other_kinds_are_reported_as_unread(tmp_path: Path) -> None:
    found = read(fill(tmp_path, "index.rst", "a.rst", "poster.pdf", "flyer.pdf", "x.md"))
    assert found.warnings == (
        "1 Markdown file not read: the book was read as reStructuredText.",
        "2 PDF files not read: the book was read as reStructuredText.",
    )


def test_an_address_goes_to_the_web_reader() -> None:
    assert read("https://book.test/guide/").reader == "site"
    assert READERS["site"].given[-1] == "https://book.test/guide/"


@pytest.mark.parametrize("source", ["ftp://book.test/", "file:///etc/passwd", "javascript://x"])
def test_other_schemes_are_refused(source: str) -> None:
    with pytest.raises(UnreadableBook, match="address"):
        read(source)


def test_what_is_no_book_is_refused_with_what_to_give(tmp_path: Path) -> None:
    fill(tmp_path, "picture.png")
    for source in (tmp_path / "picture.png", tmp_path / "nothing", Path("/dev/null")):
        with pytest.raises(UnreadableBook) as caught:
            read(source)
        assert caught.value.help_message
