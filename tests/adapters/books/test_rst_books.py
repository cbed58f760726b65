"""A real Sphinx book, read whole: what no small fixture thinks of."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bythebook.adapters.readers.rst.reader import RstReader
from bythebook.domain.books import Document, SourceBook

LETTERS = re.compile(r"[^\W_]+")
MARKUP = re.compile(r":(?:doc|ref|term|kbd|code|download):`|``|`_\b|^\.\. [\w-]+::$", re.MULTILINE)
UNSEEN = (
    re.compile(r"(?ms)^( *)\.\. (?:redirect-from|toctree)::.*?(?=^\1\S|\Z)"),
    re.compile(r"(?m)^( *)\.\. raw:: html\n(?:\1 +.*\n|\n)*"),
    re.compile(r"(?m)^ *\.\. (?:\|[^|]+\| )?(?:literalinclude|include|image|figure|code-block|code|ifconfig)::.*"),
    re.compile(r"(?m)^( *)\.\.(?: (?![_\[|])(?![\w-]+::).*)?\n(?:\1 +\S.*\n)*"),
    re.compile(r"\.\. [\w-]+::"),
    re.compile(r"(?m)^ *\.\. _.*:.*$"),
    re.compile(r"(?m)^ +:[a-z-]+:(?: .*)?$"),
    re.compile(r":(?:doc|ref):`[^`<]*`"),  # shows the title of what it names
    re.compile(r":(?:doc|ref|term|kbd|code|download):(?=`)"),
    re.compile(r"(?<=[^`\s])\s*<[^`>]*>(?=`)"),
    re.compile(r"(?m)^ *\d+[.)] "),
)  # fmt: skip


@pytest.fixture(scope="module")
def source(eval_data: Path) -> Path:
    return eval_data / "books" / "ros2-docs"


@pytest.fixture(scope="module")
def book(source: Path) -> SourceBook:
    return RstReader().read(str(source), title=None, base_url="https://book.test")


@pytest.fixture(scope="module")
def documents(book: SourceBook) -> dict[str, Document]:
    return {document.document_id: document.read() for document in book.documents}


def test_it_is_laid_out_from_its_tables_of_contents(book: SourceBook) -> None:
    names = [document.document_id for document in book.documents]
    assert (book.title, book.reader, book.skipped) == ("ROS 2 Documentation", "Sphinx", ())
    assert names[:3] == ["index", "Installation", "Installation/Ubuntu-Install-Debs"]
    assert names.index("Releases") < names.index("Tutorials") < names.index("Concepts")
    assert len(names) == len(set(names)) == 258


def test_every_document_hangs_under_a_chapter(documents: dict[str, Document]) -> None:
    counts = Counter(document.chapter for document in documents.values())
    assert counts["Tutorials"] == 115
    assert counts["How-to Guides"] == 48
    assert len(counts) == 12
    page = documents["Tutorials/Beginner-CLI-Tools/Configuring-ROS2-Environment"]
    assert (
        page.url
        == "https://book.test/Tutorials/Beginner-CLI-Tools/Configuring-ROS2-Environment.html"
    )


def test_titles_found_by_the_cheap_look_are_the_headings(documents: dict[str, Document]) -> None:
    for document in documents.values():
        assert document.title == document.sections[0].title
        assert document.text.startswith(document.title)


def test_anchors_are_unique_in_their_document(documents: dict[str, Document]) -> None:
    for document in documents.values():
        anchors = [section.anchor for section in document.sections]
        assert len(set(anchors)) == len(anchors)
        assert anchors[0] == ""
        assert all(anchors[1:])


def test_only_what_the_book_lacks_is_a_broken_link(documents: dict[str, Document]) -> None:
    anchors = {
        name: {section.anchor for section in document.sections} | set(document.anchors)
        for name, document in documents.items()
    }
    links = [(name, link) for name, document in documents.items() for link in document.links]
    broken = {link.target for _, link in links if not link.document_id}
    assert broken == {"github"}  # named in a file of substitutions that is not there
    assert len(links) > 800
    for name, link in links:
        if link.document_id:
            assert link.anchor in anchors[link.document_id] | {""}, (name, link)


def test_no_markup_is_left_in_the_text(documents: dict[str, Document]) -> None:
    for document in documents.values():
        for block in document.blocks:
            text = document.text[block.start : block.end]
            assert text.strip()
            assert block.kind == "code" or not MARKUP.search(text), text[:200]


def test_every_word_of_the_source_is_in_the_text(
    source: Path, documents: dict[str, Document]
) -> None:
    total = lost = 0
    for name, document in documents.items():
        text = (source / "source" / f"{name}.rst").read_text()
        for pattern in UNSEEN:
            text = pattern.sub("", text)
        left_out = " ".join(part.text for part in document.left_out)
        wanted = Counter(LETTERS.findall(text))
        missing = wanted - Counter(LETTERS.findall(f"{document.text} {left_out}"))
        total += sum(len(word) * count for word, count in wanted.items())
        lost += sum(len(word) * count for word, count in missing.items())
    assert total > 1_700_000
    assert lost / total < 0.001


def test_missing_includes_are_reported(book: SourceBook) -> None:
    assert any("global_substitutions.txt" in warning for warning in book.warnings)
    assert any("server.cpp" in warning for warning in book.warnings)
    assert not any("readme_include.md" in warning for warning in book.warnings)
    assert not any("is unknown" in warning for warning in book.warnings)
