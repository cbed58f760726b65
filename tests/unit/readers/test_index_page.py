"""Plain folders: their order from an index page, and their title from their first page."""

from pathlib import Path

import pytest
from tests.unit.readers.markdown.dialect_books import make, read

PAGES = {
    "a.md": "# A\n\nText.\n",
    "b.md": "# B\n\nText. [C](c.md)\n",
    "c.md": "# C\n\n# C\n\nText.\n",
    "z/index.md": "# Zed\n\n[two](two.md) [one](one.md)\n",
    "z/one.md": "# One\n",
    "z/two.md": "# Two\n",
}


@pytest.mark.parametrize(
    ("index", "order"),
    [
        ("- [C](c.md)\n- [Z](z/)\n- [A](./a.md#x)\n", ["index", "c", "z/index", "z/two", "z/one", "a", "b"]),
        ("```toc\n:maxdepth: 1\n\nc\nz/index\n```\n", ["index", "c", "z/index", "z/two", "z/one", "a", "b"]),
        ("See [B](b.md).\n", ["index", "a", "b", "c", "z/index", "z/one", "z/two"]),
    ],
)  # fmt: skip
def test_an_index_that_lists_the_pages_gives_their_order(
    tmp_path: Path, index: str, order: list[str]
) -> None:
    book = read(make(tmp_path / "folder", {**PAGES, "index.md": f"# The marsh\n\n{index}"}))
    assert [document.document_id for document in book.documents] == order
    assert book.title == "The marsh"
    pages = {document.document_id: document.read() for document in book.documents}
    assert pages["c"].text == "C\n\nText."
    assert pages["z/one"].chapter == "Zed"
    assert "maxdepth" not in pages["index"].text
