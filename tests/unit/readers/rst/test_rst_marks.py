"""reStructuredText with its marks: what the author set, over a text that stays as it was."""

from pathlib import Path

import pytest
from tests.unit.readers.test_pictures import png

from bythebook.adapters.readers.rst.reader import RstReader
from bythebook.domain.books import Document
from bythebook.domain.marks import (
    Admonition,
    Cell,
    CodeLines,
    Formula,
    Item,
    LinkMark,
    Mark,
    Note,
    NoteReference,
    Picture,
    Quotation,
    Style,
)


def read(folder: Path, body: str) -> Document:
    (folder / "index.rst").write_text(f"Page\n====\n\n{body}\n", "utf-8")
    (folder / "other.rst").write_text(".. _there:\n\nOther\n=====\n\nWords.\n", "utf-8")
    book = RstReader().read(str(folder), title=None, base_url=None)
    return next(one.read() for one in book.documents if one.document_id == "index")


def find_marks(document: Document, kind: type[Mark]) -> list[tuple[str, Mark]]:
    return [
        (document.text[mark.start : mark.end], mark.move(0, 0))
        for mark in document.marks
        if isinstance(mark, kind)
    ]


@pytest.mark.parametrize(
    ("body", "words", "kind"),
    [
        ("a *b*", "b", "emphasis"),
        ("a **b c**", "b c", "strong"),
        ("a ``b  c``", "b c", "code"),
        ("call :func:`~frogs.sing` now", "sing", "code"),
        ("press :kbd:`Esc`", "Esc", "keyboard"),
        ("in :file:`a/{b}`", "a/b", "code"),
        ("H\\ :sub:`2`\\ O", "2", "subscript"),
        ("- x **y**", "y", "strong"),
    ],
)
def test_words_are_marked_as_they_are_set(tmp_path: Path, body: str, words: str, kind: str) -> None:
    marks = [
        (text, one.kind)
        for text, one in find_marks(read(tmp_path, body), Style)
        if isinstance(one, Style)
    ]
    assert marks == [(words, kind)]


def test_references_become_words_and_links(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        "See :doc:`other`, :ref:`the place <there>`, `a site <https://a.test>`_ and :ref:`gone`.",
    )
    assert document.text == "Page\n\nSee Other, the place, a site and gone."
    assert find_marks(document, LinkMark) == [
        ("Other", LinkMark(0, 0, "", "other")),
        ("the place", LinkMark(0, 0, "", "other", "there")),
        ("a site", LinkMark(0, 0, "https://a.test")),
    ]


def test_formulas_notes_and_boxes_are_marked(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        "The :math:`\\ell_2` norm [1]_.\n\n.. math:: x^2\n\n.. warning:: Herons.\n\n   Many.\n\n"
        ".. admonition:: Mind this\n\n   Words.\n\nText\n\n    Quoted.\n\n.. [1] Not *all*.",
    )
    formulas = find_marks(document, Formula)
    assert [words for words, _ in formulas] == ["$\\ell_2$", "x^2"]
    assert all(isinstance(mark, Formula) and mark.mathml for _, mark in formulas)
    assert find_marks(document, NoteReference) == [("[1]", NoteReference(0, 0, "1"))]
    assert find_marks(document, Note) == [("[1] Not all.", Note(0, 0, "1"))]
    assert find_marks(document, Admonition) == [
        ("Warning\n\nHerons.\n\nMany.", Admonition(0, 0, "warning")),
        ("Mind this\n\nWords.", Admonition(0, 0, "note")),
    ]
    assert [words for words, _ in find_marks(document, Quotation)] == ["Quoted."]


def test_items_cells_and_lines_of_code_are_marked(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        "3. one\n\n   - inner\n4. two\n\n=====  =====\na      **b**\n=====  =====\nc      d\n=====  =====\n\n"
        ".. code-block:: python\n   :caption: frog.py\n   :emphasize-lines: 2\n\n   a\n   b\n   c\n",
    )
    assert [mark for _, mark in find_marks(document, Item)] == [
        Item(0, 0, 0, 3),
        Item(0, 0, 1),
        Item(0, 0, 0, 4),
    ]
    assert [words for words, _ in find_marks(document, Cell)] == ["a", "b", "c", "d"]
    assert [words for words, _ in find_marks(document, CodeLines)] == ["b"]
    assert ("frog.py", Style(0, 0, "code title")) in find_marks(document, Style)


def test_pictures_are_kept_and_figures_keep_their_caption(tmp_path: Path) -> None:
    (tmp_path / "frog.png").write_bytes(png())
    document = read(
        tmp_path,
        ".. image:: frog.*\n   :alt: A frog\n\n.. figure:: /frog.png\n\n   The caption\n\n"
        ".. image:: ../frog.png\n\n.. image:: https://a.test/x.png",
    )
    assert document.text == "Page\n\nA frog\n\nThe caption"
    pictures = [mark for mark in document.marks if isinstance(mark, Picture)]
    assert sorted(document.text[one.start : one.end] for one in pictures) == ["", "A frog"]
    assert [one.target for one in document.missing_pictures] == [
        "../frog.png",
        "https://a.test/x.png",
    ]
