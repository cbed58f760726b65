"""Real PDFs, held against what another library reads of them."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from bythebook.adapters.readers.pdf.reader import PdfReader
from bythebook.domain.books import Document, SourceBook

pypdf = pytest.importorskip("pypdf")

LEAST_COVERAGE = 0.98


@pytest.fixture(scope="module")
def path(eval_data: Path) -> Path:
    return eval_data / "books" / "openintro-pdf" / "openintro-main.pdf"


@pytest.fixture(scope="module")
def book(path: Path) -> SourceBook:
    return PdfReader().read(str(path), title=None, base_url="https://example.org/os.pdf")


@pytest.fixture(scope="module")
def documents(book: SourceBook) -> list[Document]:
    return [source.read() for source in book.documents]


@pytest.fixture(scope="module")
def pages(path: Path) -> list[str]:
    """What pypdf reads of each page."""
    return [str(page.extract_text()) for page in pypdf.PdfReader(path).pages]


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in plain if character.isalnum())


def _by_page(documents: list[Document]) -> dict[int, str]:
    """Give the text between the page marks."""
    found: dict[int, str] = defaultdict(str)
    for document in documents:
        ends = [mark.start for mark in document.pages[1:]] + [len(document.text)]
        for mark, end in zip(document.pages, ends, strict=True):
            found[mark.number] += document.text[mark.start : end] + "\n"
    return found


def _count_left_out(documents: list[Document]) -> Counter[str]:
    return Counter(_letters("".join(item.text for doc in documents for item in doc.left_out)))


def test_chapters_and_sections_are_those_of_the_outline_on_their_pages(
    path: Path, documents: list[Document]
) -> None:
    reader = pypdf.PdfReader(path)
    wanted = list(_entries(reader, reader.outline, 1))
    sections = {
        (_letters(section.title), _page(document, section.start))
        for document in documents
        for section in document.sections
    }
    assert len(wanted) == 35
    assert [entry for entry in wanted if (_letters(entry[1]), entry[2]) not in sections] == []
    chapters = [title for level, title, _ in wanted if level == 1]
    assert [document.title for document in documents] == ["Front matter", *chapters]


def _entries(reader: object, outline: list[object], level: int) -> Iterator[tuple[int, str, int]]:
    for entry in outline:
        if isinstance(entry, list):
            yield from _entries(reader, entry, level + 1)
        else:
            page = reader.get_destination_page_number(entry)  # type: ignore[attr-defined]
            yield level, str(entry.title), page + 1  # type: ignore[attr-defined]


def _page(document: Document, offset: int) -> int:
    mark = document.page_at(offset)
    assert mark is not None
    return mark.number


def test_next_to_nothing_is_lost_and_nothing_is_invented(
    documents: list[Document], pages: list[str]
) -> None:
    wanted = Counter(_letters("".join(pages))) - _count_left_out(documents)
    found = Counter(_letters("".join(document.text for document in documents)))
    assert (wanted - found).total() < (1 - LEAST_COVERAGE) * wanted.total()
    assert (found - wanted).total() < (1 - LEAST_COVERAGE) * wanted.total()


def test_the_text_between_two_marks_stands_on_that_page(
    documents: list[Document], pages: list[str]
) -> None:
    by_page = _by_page(documents)
    for number, page in enumerate(pages, start=1):
        found, shown = Counter(_letters(by_page[number])), Counter(_letters(page))
        assert (found - shown).total() <= 0.02 * found.total(), f"page {number}"


def test_lines_are_found_on_the_page_that_the_other_library_reads_them_from(
    documents: list[Document], pages: list[str]
) -> None:
    by_page = {number: _letters(text) for number, text in _by_page(documents).items()}
    missed = []
    checked = 0
    for number, page in enumerate(pages, start=1):
        lines = sorted((line for line in page.split("\n") if line.isascii()), key=len)[-5:]
        for line in (line for line in lines if len(line) > 60 and "=" not in line):
            checked += 1
            if _letters(line) not in by_page[number]:
                missed.append((number, line))
    assert checked > 300
    assert len(missed) < 0.03 * checked


def test_what_is_left_out_are_headers_and_page_numbers(documents: list[Document]) -> None:
    left_out = [item for document in documents for item in document.left_out]
    numbers = [item.text for item in left_out if item.reason == "page number"]
    headers = {item.text for item in left_out if item.reason == "running header"}
    assert numbers == [str(number) for number in range(3, 149)]
    assert all(text.isupper() for text in headers)
    assert not any("CHAPTER 4. DISTRIBUTIONS" in document.text for document in documents)


def test_hyphens_are_undone_as_the_book_writes_its_words(documents: list[Document]) -> None:
    text = "\n".join(document.text for document in documents)
    assert "random sample of smokers." in text
    assert "expect the t-distribution to give us" in text
    assert "the final probability" in text


def test_a_table_is_kept_as_rows(documents: list[Document]) -> None:
    tables = documents[-1]
    rows = [
        row
        for block in tables.blocks
        if block.kind == "table"
        for row in tables.text[block.start : block.end].split("\n")
    ]
    assert (
        "0.0002 | 0.0003 | 0.0003 | 0.0003 | 0.0003 | 0.0003 | 0.0003 | 0.0003 | 0.0003 | 0.0003 | −3.4"
        in rows
    )


def test_sections_lead_to_their_page_of_the_file(documents: list[Document]) -> None:
    binomial = next(
        section
        for document in documents
        for section in document.sections
        if section.title == "4.3 Binomial distribution"
    )
    assert binomial.anchor == "page=21"
    assert {document.url for document in documents} == {"https://example.org/os.pdf"}


@pytest.mark.parametrize("name", ["a4-print", "a4-web", "ltr-print", "ltr-web"])
def test_a_brochure_is_read_whole(eval_data: Path, name: str) -> None:
    folder = eval_data / "books" / "ros2-docs" / "source" / "The-ROS2-Project" / "Marketing"
    path = folder / "documents" / f"ros2-brochure-{name}.pdf"
    documents = [
        source.read() for source in PdfReader().read(str(path), title=None, base_url=None).documents
    ]
    shown = "".join(str(page.extract_text()) for page in pypdf.PdfReader(path).pages)
    wanted = Counter(_letters(shown)) - _count_left_out(documents)
    found = Counter(_letters("".join(document.text for document in documents)))
    assert (wanted - found).total() < (1 - LEAST_COVERAGE) * wanted.total()
    assert "insulates the robotics libraries and applications" in documents[-1].text
