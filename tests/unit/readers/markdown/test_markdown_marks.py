"""Markdown with its marks: what the author set, over a text that stays as it was."""

from pathlib import Path

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.domain.books import Document
from bythebook.domain.marks import (
    Admonition,
    Anchor,
    Cell,
    CodeLines,
    Formula,
    Item,
    LinkMark,
    Mark,
    Note,
    NoteReference,
    Quotation,
    Style,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docusaurus.config.js").write_text("module.exports = {}")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/other.md").write_text("# Other\n\n## A place\n\nWords.\n")
    return tmp_path


def read(folder: Path, body: str, name: str = "page.md", base: str | None = None) -> Document:
    (folder / "docs" / name).write_text(f"# Page\n\n{body}\n", "utf-8")
    book = MarkdownReader().read(str(folder), title=None, base_url=base)
    return next(one.read() for one in book.documents if one.document_id == "page")


def find_marks(document: Document, kind: type[Mark]) -> list[tuple[str, Mark]]:
    """List the marks of a kind, each with its words."""
    return [
        (document.text[mark.start : mark.end], mark.move(0, 0))
        for mark in document.marks
        if isinstance(mark, kind)
    ]


@pytest.mark.parametrize(
    ("body", "text", "marks"),
    [
        ("a *b* c", "a b c", [("b", "emphasis")]),
        ("a **b *c* d**", "a b c d", [("b c d", "strong"), ("c", "emphasis")]),
        ("~~a~~ `b *c*`", "a b *c*", [("a", "deleted"), ("b *c*", "code")]),
        ("H<sub>2</sub>O <kbd>Esc</kbd>", "H2O Esc", [("2", "subscript"), ("Esc", "keyboard")]),
        ("<b>a <i>b</b> c</i>", "a b c", [("b c", "emphasis")]),  # tags that cross
        ("- *a*\n- b", "a\nb", [("a", "emphasis")]),
        ("| a | b |\n| - | - |\n| **c** | d |", "a | b\nc | d", [("c", "strong")]),
        ("## A *b*", "A b", [("b", "emphasis")]),
        ("<p>a <em>b</em></p>", "a b", [("b", "emphasis")]),
    ],
)
def test_words_are_marked_as_they_are_set(
    folder: Path, body: str, text: str, marks: list[tuple[str, str]]
) -> None:
    document = read(folder, body)
    assert document.text == f"Page\n\n{text}"
    styles = [
        (words, mark.kind) for words, mark in find_marks(document, Style) if isinstance(mark, Style)
    ]
    assert styles == marks


@pytest.mark.parametrize(
    ("target", "mark"),
    [
        ("other.md#a-place", LinkMark(0, 0, "", "other", "a-place")),
        ("./other.md", LinkMark(0, 0, "", "other")),
        ("https://a.test/x", LinkMark(0, 0, "https://a.test/x")),
        ("mailto:frog@a.test", LinkMark(0, 0, "mailto:frog@a.test")),
        ("files/data.zip", LinkMark(0, 0, "https://book.test/docs/docs/files/data.zip")),
        ("gone.md", None),
        ("javascript:alert(1)", None),
    ],
)
def test_links_lead_into_the_book_or_out(folder: Path, target: str, mark: LinkMark | None) -> None:
    document = read(folder, f"See [the words]({target}).", base="https://book.test/docs/")
    if target.startswith("javascript"):
        assert find_marks(document, LinkMark) == []
    else:
        assert document.text == "Page\n\nSee the words."
        assert find_marks(document, LinkMark) == ([("the words", mark)] if mark else [])


def test_formulas_are_converted_and_stay_in_the_text(folder: Path) -> None:
    document = read(folder, "The $\\ell_2$ norm, not $\\nonsense$.\n\n$$\nx^2\n$$")
    assert document.text == "Page\n\nThe $\\ell_2$ norm, not $\\nonsense$.\n\nx^2"
    (ell, one), (nonsense, other), (square, block) = find_marks(document, Formula)
    assert isinstance(one, Formula)
    assert isinstance(other, Formula)
    assert isinstance(block, Formula)
    assert (ell, nonsense, square) == ("$\\ell_2$", "$\\nonsense$", "x^2")
    assert "<msub>" in one.mathml
    assert not other.mathml
    assert block.display


def test_footnotes_lead_from_their_sign_to_their_words(folder: Path) -> None:
    document = read(folder, "Frogs sing[^1] at night.\n\n[^1]: Not *all*.")
    assert document.text == "Page\n\nFrogs sing[1] at night.\n\n[1] Not all."
    assert find_marks(document, NoteReference) == [("[1]", NoteReference(0, 0, "1"))] * 2
    assert find_marks(document, Note) == [("[1] Not all.", Note(0, 0, "1"))]


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (":::tip\n\nSing.\n\n- a\n\n:::\n\nAfter.", "tip", "Tip\n\nSing.\n\na"),
        (":::danger Beware\n\nHerons.\n:::\n\nAfter.", "danger", "Beware\n\nHerons."),
        ("> [!WARNING]\n> Herons.\n\nAfter.", "warning", "Warning\n\nHerons."),
        (":::nonsense\nWords.\n\nNever closed.", "note", "Nonsense\n\nWords.\n\nNever closed."),
    ],
)
def test_admonitions_hold_their_blocks(folder: Path, body: str, kind: str, words: str) -> None:
    ((text, mark),) = find_marks(read(folder, body), Admonition)
    assert isinstance(mark, Admonition)
    assert (text, mark.kind) == (words, kind)


def test_boxes_of_other_dialects_are_admonitions_too(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("site_name: Birds\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text("# Page\n\n!!! warning\n\n    Herons.\n\nAfter.\n")
    document = MarkdownReader().read(str(tmp_path), title=None, base_url=None).documents[0].read()
    assert find_marks(document, Admonition) == [("Warning\n\nHerons.", Admonition(0, 0, "warning"))]


def test_an_admonition_in_a_comment_is_not_shown(folder: Path) -> None:
    document = read(folder, "<!--\n:::note\nGone.\n:::\n-->\n\nWords.")
    assert document.text == "Page\n\nWords."
    assert not find_marks(document, Admonition)


def test_quotations_hold_their_blocks(folder: Path) -> None:
    document = read(folder, "> One.\n>\n> > Two.\n\nAfter.")
    assert [words for words, _ in find_marks(document, Quotation)] == ["One.\n\nTwo.", "Two."]


def test_items_know_their_depth_and_number(folder: Path) -> None:
    document = read(
        folder, "3. one\n\n   more\n   - inner\n4. two\n\n   ```\n   code\n   ```\n5. three"
    )
    assert document.text == "Page\n\none\nmore\ninner\ntwo\n\ncode\n\nthree"
    assert find_marks(document, Item) == [
        ("one", Item(0, 0, 0, 3)),
        ("inner", Item(0, 0, 1, -1)),
        ("two", Item(0, 0, 0, 4)),
        ("three", Item(0, 0, 0, 5)),
    ]


def test_cells_are_marked_with_their_alignment_empty_ones_too(folder: Path) -> None:
    document = read(folder, "| | b \\| c |\n| - | -: |\n| d | |")
    assert [
        (words, mark) for words, mark in find_marks(document, Cell) if isinstance(mark, Cell)
    ] == [
        ("", Cell(0, 0)),
        ("b | c", Cell(0, 0, align="right")),
        ("d", Cell(0, 0)),
        ("", Cell(0, 0, align="right")),
    ]


def test_code_keeps_its_title_and_highlighted_lines(folder: Path) -> None:
    document = read(folder, '```python title="frog.py" {2-3}\na\nb\nc\nd\n```')
    assert document.blocks[-1].language == "python"
    assert [(words, mark) for words, mark in find_marks(document, Style)] == [
        ("frog.py", Style(0, 0, "code title"))
    ]
    assert [words for words, _ in find_marks(document, CodeLines)] == ["b", "c"]


def test_anchors_stand_at_the_block_after_them(folder: Path) -> None:
    document = read(folder, 'One.\n\n<a id="here"></a>\n\nTwo.')
    places = [(mark.name, mark.start) for mark in document.marks if isinstance(mark, Anchor)]
    assert ("here", document.text.index("Two.")) in places


@pytest.mark.parametrize("name", ["page.md", "page.mdx"])
def test_pictures_in_components_are_found(folder: Path, name: str) -> None:
    body = "<img src={require('./gone.png').default} alt=\"A frog\" />"
    document = read(folder, body, name)
    targets = [missing.target for missing in document.missing_pictures]
    assert targets == (["./gone.png"] if name.endswith("mdx") else targets)
