"""Notebooks: cells, outputs, and what is refused."""

import base64
import json
from pathlib import Path

import pytest
from tests.unit.readers.markdown.dialect_books import list_kinds, make, read, read_pages
from tests.unit.readers.test_pictures import png

from bythebook.domain.marks import Picture
from bythebook.errors import UnreadableBook


def write_notebook(*cells: dict[str, object]) -> str:
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "metadata": metadata, "cells": list(cells)})


def make_code(
    source: str, *outputs: dict[str, object], tags: tuple[str, ...] = ()
) -> dict[str, object]:
    return {
        "cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {"tags": tags},
    }  # fmt: skip


def make_markdown(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "source": source.splitlines(keepends=True), "metadata": {}}


TABLE = "<style>td {color: red}</style><div>\n\n<table><tr><td>bird</td></tr></table>\n    <p>1 row</p></div>"
NOTEBOOK = write_notebook(
    make_markdown("# Herons\n\nThey are $x^2$ tall.\n\n```\nopen fence"),
    make_code(
        "# count\nprint(3)",
        {"output_type": "stream", "text": ["3\n"]},
        {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": "<Figure size>"}},
        {"output_type": "execute_result", "data": {"text/html": TABLE, "text/plain": "bird"}},
        {"output_type": "display_data", "data": {
            "text/html": "<script>alert(1)</script>", "text/plain": "a chart"}},
        {"output_type": "error", "traceback": ["\x1b[31mValueError\x1b[0m: no"]},
    ),
    make_code("secret = 1", tags=("remove-cell",)),
    make_markdown("The end."),
)  # fmt: skip


def test_cells_and_text_outputs_are_read_apart(tmp_path: Path) -> None:
    book = read(make(tmp_path, {"b.ipynb": NOTEBOOK}))
    page = book.documents[0].read()
    assert (book.reader, book.title) == ("Notebook folder", "Herons")
    assert list_kinds(page) == [
        ("heading", "Herons"),
        ("paragraph", "They are $x^2$ tall."),
        ("code", "open fence"),
        ("code", "# count\nprint(3)"),
        ("code", "3"),
        ("table", "bird"),
        ("paragraph", "1 row"),
        ("code", "a chart"),
        ("code", "ValueError: no"),
        ("paragraph", "The end."),
    ]
    assert page.blocks[3].language == "python"


def test_pictures_that_cells_draw_are_kept(tmp_path: Path) -> None:
    drawn = {"image/png": base64.b64encode(png()).decode(), "text/plain": "<Figure>"}
    svg = {"image/svg+xml": ["<svg xmlns='http://www.w3.org/2000/svg'>", "<script/><g/></svg>"]}
    cell = make_code(
        "draw()",
        {"output_type": "display_data", "data": drawn},
        {"output_type": "display_data", "data": svg},
        {"output_type": "display_data", "data": {"image/png": "<html>"}},
    )
    book = read(make(tmp_path, {"b.ipynb": write_notebook(make_markdown("# Herons"), cell)}))
    page = book.documents[0].read()
    kept = [mark.file for mark in page.marks if isinstance(mark, Picture)]
    assert book.load_picture(kept[0]) == png()
    assert b"script" not in (book.load_picture(kept[1]) or b"script")
    assert [one.target for one in page.missing_pictures] == ["b.ipynb#2-2.png"]


def test_a_jupyter_book_may_hold_notebooks_with_directives(tmp_path: Path) -> None:
    cells = write_notebook(make_markdown("# Nests\n\n```{note}\nHigh, see {doc}`birds`.\n```"))
    files = {
        "_toc.yml": "root: birds\nchapters:\n- file: nests\n",
        "birds.md": "# Birds\n",
        "nests.ipynb": cells,
    }
    pages = read_pages(make(tmp_path, files))
    assert pages["nests"].text == "Nests\n\nNote\n\nHigh, see Birds."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"), ("[]", "has no cells"), ("[" * 200_000, "is not JSON"),
        (json.dumps({"cells": [{}] * 20_000}), "has 20,000 cells"),
    ],
)  # fmt: skip
def test_a_broken_notebook_is_skipped_with_its_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    files = {"good.ipynb": NOTEBOOK, "bad.ipynb": text}
    book = read(make(tmp_path, files))
    assert [document.document_id for document in book.documents] == ["good"]
    assert reason in book.skipped[0].reason
    with pytest.raises(UnreadableBook, match=reason):
        read(tmp_path / "bad.ipynb")
