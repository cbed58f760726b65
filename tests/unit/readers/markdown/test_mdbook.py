"""mdBook: what its pages include, and where their links lead."""

from pathlib import Path
from textwrap import dedent

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.domain.books import Document, SourceBook

LISTING = """\
fn hidden() {}

// ANCHOR: here
fn main() {
    // ANCHOR: inner
    walk();
    // ANCHOR_END: inner
}
// ANCHOR_END: here
"""


def make(folder: Path, page: str, more: dict[str, str] | None = None) -> Path:
    files = {
        "book.toml": '[book]\ntitle = "The Robot Book"\n',
        "src/SUMMARY.md": "- [Walking](walking.md)\n",
        "src/walking.md": dedent(page),
        "listings/main.rs": LISTING,
    }
    for name, text in (files | (more or {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def read(folder: Path) -> SourceBook:
    return MarkdownReader().read(str(folder), title=None, base_url="https://robots.test/")


def only_page(folder: Path) -> Document:
    (document,) = read(folder).documents
    return document.read()


def code(folder: Path, directive: str) -> str:
    document = only_page(make(folder, f"# Walking\n\n```rust\n{directive}\n```\n\nEnd.\n"))
    return "\n".join(
        document.text[block.start : block.end] for block in document.blocks if block.kind == "code"
    )


def test_the_settings_name_the_title_and_the_folder_of_the_pages(tmp_path: Path) -> None:
    make(tmp_path, "# Walking\n\nText.\n")
    (tmp_path / "src").rename(tmp_path / "pages")
    (tmp_path / "book.toml").write_text("[book]\ntitle = 'Robots'\nsrc = 'pages'\n")
    book = read(tmp_path)
    assert (book.reader, book.title) == ("mdBook", "Robots")
    assert only_page(tmp_path).url == "https://robots.test/walking.html"


def test_settings_that_are_no_toml_do_not_keep_the_book_from_being_read(tmp_path: Path) -> None:
    make(tmp_path, "# Walking\n\nText.\n", {"book.toml": "[book\n"})
    assert only_page(tmp_path).title == "Walking"


@pytest.mark.parametrize("name", ["include", "rustdoc_include"])
@pytest.mark.parametrize(
    ("selection", "lines"),
    [
        ("", LISTING.strip()),
        (":1", "fn hidden() {}"),
        (":4:6", "fn main() {\n    // ANCHOR: inner\n    walk();"),
        (":8:", "}\n// ANCHOR_END: here"),
        ("::1", "fn hidden() {}"),
        (":here", "fn main() {\n    walk();\n}"),
        (":inner", "    walk();"),
    ],
)
def test_a_listing_is_included_by_lines_or_by_anchor(
    tmp_path: Path, name: str, selection: str, lines: str
) -> None:
    assert code(tmp_path, f"{{{{#{name} ../listings/main.rs{selection}}}}}") == lines


def test_a_playground_is_a_listing_of_its_own(tmp_path: Path) -> None:
    document = only_page(
        make(tmp_path, "# Walking\n\n{{#playground ../listings/main.rs editable}}\n")
    )
    assert document.blocks[1].language == "rust"
    assert document.text.endswith(LISTING.strip())


def test_an_included_page_may_include_others(tmp_path: Path) -> None:
    more = {"src/a.md": "One. {{#include parts/b.md}}", "src/parts/b.md": "{{#include c.md}}",
            "src/parts/c.md": "Three."}  # fmt: skip
    document = only_page(make(tmp_path, "# Walking\n\n{{#include a.md}}\n", more))
    assert document.text == "Walking\n\nOne. Three."


def test_a_title_for_the_browser_is_not_text_and_an_escaped_directive_is(tmp_path: Path) -> None:
    page = "{{#title Tab}}\n# Walking\n\nWrite `\\{{#include x.rs}}` there.\n"
    assert only_page(make(tmp_path, page)).text == "Walking\n\nWrite {{#include x.rs}} there."


def test_a_missing_listing_is_named_with_its_page_and_leaves_no_directive(tmp_path: Path) -> None:
    make(
        tmp_path,
        "# Walking\n\n```rust\n{{#include gone.rs:here}}\n```\n\nEnd. {{#include gone.rs:here}}\n",
    )
    assert read(tmp_path).warnings == ("walking.md includes gone.rs:here, which does not exist.",)
    assert only_page(tmp_path).text == "Walking\n\nEnd."


def test_many_missing_listings_are_summed_up(tmp_path: Path) -> None:
    page = "# Walking\n\n" + "".join(f"{{{{#include {number}.rs}}}}\n" for number in range(300))
    warnings = read(make(tmp_path, page)).warnings
    assert len(warnings) == 6
    assert warnings[-1] == "295 more included files do not exist; 1 pages are affected."


def test_nothing_outside_the_book_is_included(tmp_path: Path) -> None:
    (tmp_path / "secret.rs").write_text("secret words")
    book = make(
        tmp_path / "book", "# Walking\n\n{{#include ../../secret.rs}}{{#include link.rs}}\n\nEnd.\n"
    )
    (book / "src" / "link.rs").symlink_to(tmp_path / "secret.rs")
    assert "secret words" not in only_page(book).text
    assert len(read(book).warnings) == 2


def test_pages_that_include_each_other_end(tmp_path: Path) -> None:
    more = {"src/a.md": "A {{#include b.md}}", "src/b.md": "B {{#include a.md}}"}
    document = only_page(
        make(tmp_path, "# Walking\n\n{{#include a.md}} {{#include walking.md}}\n", more)
    )
    assert document.text == "Walking\n\nA B"


def test_a_page_that_grows_without_end_is_skipped(tmp_path: Path) -> None:
    more = {f"src/{step}.md": f"{{{{#include {step + 1}.md}}}}" * 10 for step in range(9)}
    more |= {"src/9.md": "x" * 1000, "src/SUMMARY.md": "- [Walking](walking.md)\n- [End](end.md)\n"}
    more |= {"src/end.md": "# End\n\nText.\n"}
    book = read(make(tmp_path, "# Walking\n\n{{#include 0.md}}\n", more))
    assert [document.document_id for document in book.documents] == ["end"]
    assert "includes too much" in book.skipped[0].reason


def test_a_page_has_changed_when_its_listing_has(tmp_path: Path) -> None:
    folder = make(tmp_path, "# Walking\n\n```rust\n{{#include ../listings/main.rs:inner}}\n```\n")
    before = read(folder).documents[0].fingerprint
    assert read(folder).documents[0].fingerprint == before
    (folder / "listings" / "main.rs").write_text(LISTING.replace("walk", "run"))
    assert read(folder).documents[0].fingerprint != before


def test_a_listing_component_shows_its_file_and_its_caption(tmp_path: Path) -> None:
    page = """\
        # Walking

        <Listing number="5-1" file-name="src/main.rs" caption="A `Leg<T>` struct">

        ```rust
        struct Leg;
        ```

        </Listing>
        """
    assert only_page(make(tmp_path, page)).text == (
        "Walking\n\nsrc/main.rs\n\nListing 5-1: A Leg<T> struct\n\nstruct Leg;"
    )


def test_links_lead_to_pages_by_file_or_by_address(tmp_path: Path) -> None:
    page = """\
        # Walking

        [a](arms.md#grip) [b](arms.html) [c](./arms.html#x) [d][ref] [e](#walking)
        [f](gone.html) [g](gone.md) [h](../std/vec.html) [i](https://other.test/arms.html)
        [j](https://robots.test/arms.html) [k](leg.png) <a href="arms.html">l</a> <a id="here"></a>

        [ref]: arms.md
        """
    more = {"src/SUMMARY.md": "- [Walking](walking.md)\n- [Arms](arms.md)\n",
            "src/arms.md": "# Arms\n\nText.\n", "src/leg.png": "png"}  # fmt: skip
    document = read(make(tmp_path, page, more)).documents[0].read()
    assert {(link.target, link.document_id, link.anchor) for link in document.links} == {
        ("arms.md#grip", "arms", "grip"),
        ("arms.html", "arms", ""),
        ("./arms.html#x", "arms", "x"),
        ("arms.md", "arms", ""),
        ("#walking", "walking", "walking"),
        ("gone.html", "", ""),
        ("gone.md", "", ""),
        ("https://robots.test/arms.html", "arms", ""),
    }
    assert "here" in document.anchors
