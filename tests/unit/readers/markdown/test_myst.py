"""Jupyter Books and MyST projects: order, titles, directives and roles."""

from pathlib import Path

import pytest
from tests.unit.readers.markdown.dialect_books import list_kinds, make, read, read_pages

from bythebook.errors import UnreadableBook

TOC = """format: jb-book
root: intro
parts:
- caption: Birds
  chapters:
  - file: herons
    sections:
    - file: nests
  - file: missing
- caption: Other
  chapters:
  - file: numbers
"""
INTRO = "# The book of birds\n\nSee {doc}`herons` and {ref}`where they nest <nesting>`.\n"
HERONS = """```{raw} html
<div><a href="/"><img alt="Logo" src="x.svg"></a></div>
```

# Herons

(feeding)=
## What they eat

They eat fish {cite}`Gray2001`, as {cite:t}`Gray2001` says. Compare {eq}`weight`, {ref}`nesting`,
{numref}`heron-fig`, {term}`bill` and [](#nesting). Energy is {math}`E=mc^2`.

```{math}
:label: weight
w = l^3
```

:::{note}
Herons stand **still**.
:::

```{admonition} A rule
:class: tip
## No heading
Wait.
```

```{figure} heron.png
:name: heron-fig
:alt: A grey heron

A heron in *shallow* water.
```

```{code-cell} ipython3
---
mystnb:
  figure:
    caption: Fish by month
tags: [hide-input]
---
count = 3
```

```{code-cell} ipython3
:tags: [remove-cell]
secret = 1
```

```{toctree}
nests
```

% a comment

{{ place }} is wet.
"""
NESTS = """(nesting)=
# Nests

````{tab-set}
```{tab-item} Trees
High.
```
```{tab-item} Reeds
Low.
```
````

```{list-table} Sizes
* - bird
  - size
* - heron
  - 90 cm
```

```{include} shared.txt
```

```{include} ../outside.md
```

```{exercise}
:label: ex1
Count the nests.
```
"""
BIB = '@article{Gray2001, author={M{\\"u}ller, Ann and Gray, Bo}, year=2001, title={On {F}ish}}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.md").write_text("Stolen words.", "utf-8")
    return make(
        tmp_path / "book",
        {
            "_toc.yml": TOC,
            "_config.yml": "title: Birds\nparse:\n  myst_substitutions:\n    place: The marsh\n",
            "intro.md": INTRO, "herons.md": HERONS, "nests.md": NESTS, "works.bib": BIB,
            "numbers.md": "# Numbers\n\n```{bibliography}\n```\n", "shared.txt": "Shared *words*.",
            "notes.md": "# Not listed\n",
        },
    )  # fmt: skip


def test_the_table_of_contents_gives_order_chapters_and_addresses(folder: Path) -> None:
    book = read(folder)
    pages = [document.read() for document in book.documents]
    assert (book.reader, book.title) == ("Jupyter Book", "Birds")
    assert [(page.document_id, page.chapter) for page in pages] == [
        ("intro", "The book of birds"), ("herons", "Herons"), ("nests", "Herons"),
        ("numbers", "Numbers"),
    ]  # fmt: skip
    assert pages[1].url == "https://book.test/herons.html"
    assert "missing is listed but missing." in book.warnings
    assert any("../outside.md" in warning for warning in book.warnings)
    assert any(warning.startswith("1 Markdown files") for warning in book.warnings)


def test_directives_become_blocks(folder: Path) -> None:
    page = read_pages(folder)["herons"]
    assert list_kinds(page)[3:] == [
        ("formula", "w = l^3"),
        ("paragraph", "Note"),
        ("paragraph", "Herons stand still."),
        ("paragraph", "A rule"),
        ("paragraph", "No heading"),
        ("paragraph", "Wait."),
        ("caption", "A grey heron"),
        ("paragraph", "A heron in shallow water."),
        ("code", "count = 3"),
        ("paragraph", "Fish by month"),
        ("paragraph", "The marsh is wet."),
    ]
    assert {section.title for section in page.sections} == {"Herons", "What they eat"}


def test_roles_become_words_and_links(folder: Path) -> None:
    pages = read_pages(folder)
    assert (
        "They eat fish (Müller and Gray, 2001), as Müller and Gray (2001) says. Compare (1), "
        "Nests, A heron in shallow water., bill and Nests. Energy is $E=mc^2$."
        in pages["herons"].text
    )
    assert pages["intro"].text.endswith("See Herons and where they nest.")
    leads = [(link.document_id, link.anchor) for link in pages["intro"].links]
    assert leads == [("herons", ""), ("nests", "nesting")]
    assert "nesting" in pages["nests"].anchors
    assert pages["numbers"].text.endswith("Ann Müller, Bo Gray (2001). On Fish.")


def test_tabs_tables_and_includes_are_read_and_nothing_from_outside(folder: Path) -> None:
    text = read_pages(folder)["nests"].text
    assert "Trees\n\nHigh.\n\nReeds\n\nLow." in text
    assert "Sizes\n\nbird | size\nheron | 90 cm" in text
    assert "Shared words." in text
    assert "Exercise\n\nCount the nests." in text
    assert "Stolen" not in text


def test_a_page_changes_when_what_it_refers_to_changes(folder: Path) -> None:
    before = {d.document_id: d.fingerprint for d in read(folder).documents}
    make(folder, {"shared.txt": "Other words.", "works.bib": BIB.replace("2001,", "2002,")})
    after = {d.document_id: d.fingerprint for d in read(folder).documents}
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"herons", "nests", "numbers"}


def test_a_myst_project_has_titles_folders_and_a_home_page(tmp_path: Path) -> None:
    settings = """project:
  title: Marsh
  toc:
    - file: index.md
    - title: Birds
      children:
        - file: 02_birds/Grey_Heron.md
          title: Herons
site:
  options: {folders: true}
"""
    files = {"myst.yml": settings, "index.md": "# Home\n", "02_birds/Grey_Heron.md": "Text.\n"}
    book = read(make(tmp_path, files))
    pages = [document.read() for document in book.documents]
    assert (book.reader, book.title) == ("MyST", "Marsh")
    assert [(page.title, page.chapter, page.url) for page in pages] == [
        ("Home", "Home", "https://book.test/"),
        ("Herons", "Birds", "https://book.test/birds/grey-heron"),
    ]


@pytest.mark.parametrize(
    ("contents", "what"),
    [("root: [", "is not YAML"), ("format: jb-book", "lists no page"), ("root: gone", "No page|no Markdown")],
)  # fmt: skip
def test_a_broken_table_of_contents_is_refused_with_its_reason(
    tmp_path: Path, contents: str, what: str
) -> None:
    with pytest.raises(UnreadableBook, match=what):
        read(make(tmp_path, {"_toc.yml": contents, "page.md": "# Page\n"}))


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    files = {
        "_toc.yml": "root: a",
        "a.md": "# A\n\n```{include} b.md\n```\n",
        "b.md": "Words of B.\n\n```{include} a.md\n```\n",
    }
    book = read(make(tmp_path, files))
    assert book.documents[0].read().text == "A\n\nWords of B."
    assert any("includes a.md" in warning for warning in book.warnings)


def test_directives_nested_without_end_are_refused(tmp_path: Path) -> None:
    deep = "".join(f"{':' * (100 - n)}{{note}}\n" for n in range(60))
    book = read(make(tmp_path, {"_toc.yml": "root: a", "a.md": f"# A\n\n{deep}Text\n"}))
    with pytest.raises(UnreadableBook, match="nested too deeply"):
        book.documents[0].read()
