"""MkDocs sites: navigation, inheritance, blocks, snippets and included code."""

from pathlib import Path

import pytest
from tests.unit.readers.markdown.dialect_books import list_kinds, make, read, read_pages

from bythebook.errors import UnreadableBook

BASE = "site_name: Marsh\nmarkdown_extensions:\n  - pymdownx.keys\n  - toc: {slugify: !!python/name:a.b ''}\n"
SITE = """INHERIT: ../base.yml
plugins: [macros]
extra: {version: "2"}
nav:
  - Home: index.md
  - "":
    - birds/index.md
    - Herons: birds/herons.md
  - Links: https://elsewhere.test
  - gone.md
"""
HERONS = """# Herons { #grey .big }

Version {{ version }}. Press ++ctrl+c++. See [`Heron`][marsh.Heron].

!!! tip "Be quiet"
    They **fly** off.

    - and
    - away

??? note
    Folded.

=== "Python"

    ```python title="a.py"
    print(1)
    ```

=== "Rust"
    Nothing.

/// warning | Deep water

Mind your step.

```
/// not the end
```

///

{* ../code/heron.py ln[2:3] hl[1] *}

```python
--8<-- "code/heron.py:wings"
```

{% for bird in birds %}
{{ bird.name }}
{% endfor %}

::: marsh.Heron
    options:
      show: true

*[bill]: a beak
[TOC]

--8<-- "../../secret.txt"
"""
CODE = "import x\n# --8<-- [start:wings]\nwings = 2\n# --8<-- [end:wings]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("Stolen words.", "utf-8")
    return make(
        tmp_path / "repo",
        {
            "base.yml": BASE, "en/mkdocs.yml": SITE, "en/docs/index.md": "# Marsh\n\nText.\n",
            "en/docs/birds/index.md": "# All birds\n\nText.\n", "en/docs/birds/herons.md": HERONS,
            "en/docs/extra.md": "# Extra\n\nText.\n", "code/heron.py": CODE,
            "en/code/heron.py": CODE,
        },
    )  # fmt: skip


def test_the_navigation_gives_order_chapters_and_addresses(folder: Path) -> None:
    book = read(folder)
    pages = [document.read() for document in book.documents]
    assert (book.reader, book.title) == ("MkDocs", "Marsh")
    assert [(page.document_id, page.chapter, page.url) for page in pages] == [
        ("index", "Marsh", "https://book.test/"),
        ("birds/index", "All birds", "https://book.test/birds/"),
        ("birds/herons", "All birds", "https://book.test/birds/herons/"),
        ("extra", "Extra", "https://book.test/extra/"),
    ]
    assert "gone.md is in the navigation but missing." in book.warnings
    assert any("secret.txt" in warning for warning in book.warnings)


def test_blocks_snippets_and_attributes_are_read(folder: Path) -> None:
    page = read_pages(folder)["birds/herons"]
    assert list_kinds(page) == [
        ("heading", "Herons"),
        ("paragraph", "Version 2. Press Ctrl+C. See Heron."),
        ("paragraph", "Be quiet"),
        ("paragraph", "They fly off."),
        ("list", "and\naway"),
        ("paragraph", "Note"),
        ("paragraph", "Folded."),
        ("paragraph", "Python"),
        ("caption", "a.py"),
        ("code", "print(1)"),
        ("paragraph", "Rust"),
        ("paragraph", "Nothing."),
        ("paragraph", "Deep water"),
        ("paragraph", "Mind your step."),
        ("code", "/// not the end"),
        ("code", "# --8<-- [start:wings]\nwings = 2"),
        ("code", "wings = 2"),
    ]
    assert page.anchors == ("grey",)


@pytest.mark.parametrize(("inside", "count"), [("en/docs", 4), ("en/docs/birds", 2)])
def test_a_folder_inside_a_site_is_read_by_its_settings(
    folder: Path, inside: str, count: int
) -> None:
    book = read(folder / inside)
    assert book.reader == "MkDocs"
    assert len(book.documents) == count


def test_broken_settings_are_refused_with_their_reason(tmp_path: Path) -> None:
    with pytest.raises(UnreadableBook, match=r"mkdocs\.yml is not YAML"):
        read(make(tmp_path, {"mkdocs.yml": "nav: [", "docs/index.md": "# A\n"}))
