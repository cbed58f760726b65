"""Quarto books: chapters, cells, callouts and cross references."""

from pathlib import Path

from tests.unit.readers.markdown.dialect_books import list_kinds, make, read, read_pages

SETTINGS = """project: {type: book}
book:
  title: Counting birds
  chapters:
    - index.qmd
    - part: part.qmd
      chapters: [herons.qmd, nests.qmd, gone.qmd]
"""
HERONS = """# Herons {#sec-herons}

As @fig-size and @tbl-sizes show (see @sec-nests), there are `r nrow(x)` herons.^[A small note.]
More is in [@Gray2001; @Gray2001] and @Gray2001.

```{r}
#| label: fig-size
#| fig-cap: "Sizes of herons"
#| fig-alt: "A bar chart"
plot(x)
```

```{r}
#| echo: false
secret <- 1
```

```{r, include=FALSE}
hidden <- 1
```

::: {.callout-tip title="Patience"}
## Wait
Herons stand **still**.
:::

::: panel-tabset
## R
In R.
## Python
In Python.
:::

::: {.content-visible when-format="pdf"}
Only on paper.
:::

[Marked]{.mark} text. {{< video https://video.test >}}

| a | b |
|---|---|
| 1 | 2 |

: Sizes {#tbl-sizes}

{{< include _shared.qmd >}}

{{< include ../outside.qmd >}}
"""
FILES = {
    "_quarto.yml": SETTINGS,
    "index.qmd": "# Welcome {.unnumbered}\n\nText.\n",
    "part.qmd": "# Part one {.unnumbered}\n\nText.\n",
    "herons.qmd": HERONS,
    "nests.qmd": "# Nests\n\n## Where {#sec-nests}\n\nSee @sec-herons.\n",
    "_shared.qmd": "Shared words.\n",
    "works.bib": "@book{Gray2001, author={Gray, Bo}, year={2001}}",
}


def test_chapters_and_parts_give_the_order(tmp_path: Path) -> None:
    book = read(make(tmp_path / "book", FILES))
    pages = [document.read() for document in book.documents]
    assert (book.reader, book.title) == ("Quarto", "Counting birds")
    assert [page.title for page in pages] == ["Welcome", "Part one", "Herons", "Nests"]
    assert pages[2].url == "https://book.test/herons.html"
    assert "gone.qmd is listed but missing." in book.warnings
    assert any("../outside.qmd" in warning for warning in book.warnings)


def test_cells_callouts_and_references_are_read(tmp_path: Path) -> None:
    (tmp_path / "outside.qmd").write_text("Stolen words.", "utf-8")
    pages = read_pages(make(tmp_path / "book", FILES))
    page = pages["herons"]
    assert list_kinds(page) == [
        ("heading", "Herons"),
        (
            "paragraph",
            """As Figure 1.1 and Table 1.1 show (see Section 2.1), there are … herons. (A small note.) \
More is in (Gray, 2001; Gray, 2001) and Gray (2001).""",
        ),
        ("code", "plot(x)"),
        ("caption", "A bar chart"),
        ("paragraph", "Sizes of herons"),
        ("paragraph", "Patience"),
        ("paragraph", "Wait"),
        ("paragraph", "Herons stand still."),
        ("paragraph", "R"),
        ("paragraph", "In R."),
        ("paragraph", "Python"),
        ("paragraph", "In Python."),
        ("paragraph", "Marked text."),
        ("table", "a | b\n1 | 2"),
        ("paragraph", "Sizes"),
        ("paragraph", "Shared words."),
    ]
    assert pages["nests"].text.endswith("See Chapter 1.")
    assert [link.document_id for link in pages["nests"].links] == ["herons"]
