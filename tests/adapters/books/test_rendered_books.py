"""The sample book as a site, an EPUB and a PDF: read, each is the book that its Markdown is."""

import asyncio
import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from evals.visible_text.comparison import count_letters
from evals.visible_text.words import split_words
from pypdf import PdfReader
from tests.remembering import remember
from tests.rendered.chromium import find_chromium
from tests.rendered.epub import render_epub
from tests.rendered.pdf import render_pdf
from tests.rendered.sample import TITLE, sample_pages
from tests.rendered.site import render_site

from bythebook.bootstrap import Core, sample_book
from bythebook.domain.books import Document, Section
from bythebook.evaluate.report import summarise
from bythebook.evaluate.run import ask_all
from bythebook.evaluate.sets import EvalQuestion, load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

QUESTIONS = Path(__file__).parents[3] / "evals" / "sample-book.jsonl"
FORMULA = re.compile(r"\$[^$]+\$")
POINTS = {
    "site": 0.03,
    "epub": 0.03,
    "pdf": 0.05,
}  # print sets a formula as lines that end an excerpt
# Where a figure is a share or an area; the others are counts and times.
MAIN_FIGURES = re.compile(r"^(answered|foreign|look-alikes|quotes)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rendered")


@pytest.fixture(scope="module")
def site(folder: Path) -> Path:
    return render_site(folder / "site")


@pytest.fixture(scope="module")
def epub(folder: Path) -> Path:
    return render_epub(folder / "book.epub")


@pytest.fixture(scope="module")
def pdf(folder: Path) -> Path:
    if find_chromium() is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium must be there in CI: run tools/install_test_packages.sh")
        pytest.skip("Chromium is not installed: run tools/install_test_packages.sh as root")
    return render_pdf(folder)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Core]:
    # The formats share most of their text.
    core = remember(Core(Settings(data_dir=tmp_path_factory.mktemp("library"))))
    yield core
    core.close()


Read = Callable[[Path], list[Document]]


@pytest.fixture(scope="module")
def read(core: Core) -> Read:
    @cache
    def read(path: Path) -> list[Document]:
        book = core.reader.read(str(path), title=None, base_url=None)
        assert not book.skipped
        return [document.read() for document in book.documents]

    return read


@pytest.fixture(scope="module")
def markdown(read: Read) -> list[Document]:
    return read(sample_book())


@pytest.fixture(scope="module", params=["site", "epub", "pdf"])
def rendered(request: pytest.FixtureRequest) -> tuple[str, Path]:
    return request.param, request.getfixturevalue(request.param)


def sections_of(documents: Sequence[Document]) -> Iterator[tuple[Document, Section]]:
    return ((document, section) for document in documents for section in document.sections)


def bag(text: str) -> Counter[str]:
    return Counter(word.casefold() for word in split_words(text))


def prose_of(document: Document, section: Section) -> str:
    """Give the words that print shows as they are written: no formulas, no words of pictures."""
    texts = (
        document.text[block.start : block.end]
        for block in document.blocks
        if section.start <= block.start < section.end and block.kind not in {"formula", "caption"}
    )
    return FORMULA.sub(" ", "\n".join(texts))


def test_the_epub_is_well_formed_and_nests_its_chapters(epub: Path) -> None:
    with zipfile.ZipFile(epub) as book:
        assert book.namelist()[0] == "mimetype"
        for name in book.namelist():
            if name.endswith((".xhtml", ".opf", ".ncx", ".xml")):
                ET.fromstring(book.read(name))
        nav = book.read("EPUB/nav.xhtml").decode()
    assert nav.count("<ol>") == 1 + len({page.chapter for page in sample_pages() if page.chapter})


def test_the_pdf_has_an_outline_running_heads_and_page_numbers(pdf: Path) -> None:
    printed = PdfReader(pdf)
    tops = [entry.title for entry in printed.outline if not isinstance(entry, list)]
    chapters = dict.fromkeys(page.chapter or page.title for page in sample_pages())
    assert tops == list(chapters)
    lines = printed.pages[20].extract_text().split("\n")
    assert {TITLE, "21"} <= set(lines)


def test_the_book_has_its_title(core: Core, rendered: tuple[str, Path]) -> None:
    _, path = rendered
    assert core.reader.read(str(path), title=None, base_url=None).title == TITLE


def test_the_sections_are_those_of_the_markdown(
    markdown: list[Document], rendered: tuple[str, Path], read: Read
) -> None:
    _, path = rendered
    ours = [section.path for _, section in sections_of(read(path))]
    assert ours == [section.path for _, section in sections_of(markdown)]


def test_the_chapters_are_those_of_the_markdown(
    markdown: list[Document], rendered: tuple[str, Path], read: Read
) -> None:
    _, path = rendered
    ours = [document.chapter for document, _ in sections_of(read(path))]
    assert ours == [document.chapter for document, _ in sections_of(markdown)]


def test_the_same_words_stand_under_each_heading(
    markdown: list[Document], rendered: tuple[str, Path], read: Read
) -> None:
    name, path = rendered
    both = zip(sections_of(markdown), sections_of(read(path)), strict=True)
    for (written, section), (document, found) in both:
        theirs = bag(written.text[section.start : section.end])
        ours = bag(document.text[found.start : found.end])
        if name != "pdf":
            assert ours == theirs, section.path
            continue
        # Print has signs for formulas, and words in pictures in the place of words about them.
        due = bag(prose_of(written, section))
        lost = count_letters((due - ours).elements())
        assert lost <= max(0.02 * count_letters(due.elements()), 4), (section.path, due - ours)


def test_the_pdf_adds_no_words_but_those_in_pictures_and_formulas(
    markdown: list[Document], pdf: Path, read: Read
) -> None:
    theirs = bag("\n".join(document.text for document in markdown))
    ours = bag("\n".join(document.text for document in read(pdf)))
    assert count_letters((ours - theirs).elements()) <= 0.01 * count_letters(ours.elements())


def with_plain_gold(question: EvalQuestion) -> EvalQuestion:
    """Let the longest run of a gold without a formula be enough: formulas are written otherwise."""
    plain = [max(FORMULA.split(gold), key=len).strip(" ,.") for gold in question.golds]
    return replace(question, golds=(*question.golds, *plain))


@pytest.fixture(scope="module")
def figures(core: Core) -> Callable[[str, Path], Mapping[str, float]]:
    questions = [with_plain_gold(question) for question in load_questions(QUESTIONS)]

    def measure(book_id: str, path: Path) -> Mapping[str, float]:
        asyncio.run(ingest(IngestOrder(str(path), book_id), core.ingest, lambda _: None))
        asked = asyncio.run(ask_all(questions, core.ask, book_id, lambda *_: None))
        return {name: value for name, value in summarise(asked).items() if MAIN_FIGURES.match(name)}

    return measure


@pytest.fixture(scope="module")
def markdown_figures(figures: Callable[[str, Path], Mapping[str, float]]) -> Mapping[str, float]:
    return figures("markdown", sample_book())


def test_the_questions_are_answered_as_well_as_from_the_markdown(
    rendered: tuple[str, Path],
    figures: Callable[[str, Path], Mapping[str, float]],
    markdown_figures: Mapping[str, float],
) -> None:
    name, path = rendered
    ours = figures(name, path)
    assert len(ours) >= 10
    for figure, value in markdown_figures.items():
        assert ours[figure] >= value - POINTS[name], figure
