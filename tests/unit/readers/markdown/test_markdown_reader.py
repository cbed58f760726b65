import os
import time
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.adapters.readers.markdown.files import load_file
from bythebook.adapters.readers.markdown.kinds.mdbook import make_mdbook_anchor
from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.adapters.readers.markdown.syntax.blocks import parse_markdown
from bythebook.adapters.readers.markdown.syntax.mdx import split_code_runs
from bythebook.adapters.readers.plain_text import make_github_anchor
from bythebook.domain.books import Document, SourceBook
from bythebook.errors import UnreadableBook


def make(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), "utf-8")
    return folder


def read(source: Path, base_url: str | None = None) -> SourceBook:
    return MarkdownReader().read(str(source), title=None, base_url=base_url)


def pages(book: SourceBook) -> list[Document]:
    return [document.read() for document in book.documents]


def page(folder: Path, text: str) -> Document:
    """Read a book of one page."""
    (document,) = pages(read(make(folder, {"page.md": text}) / "page.md"))
    return document


def blocks(text: str) -> list[tuple[str, str]]:
    plain = parse_markdown(dedent(text))
    return [(block.kind, plain.text[block.start : block.end]) for block in plain.blocks]


def anchors(document: Document) -> dict[str, str]:
    return {section.title: section.anchor for section in document.sections}


# What a page's text becomes


def test_markup_goes_and_words_stay() -> None:
    assert blocks("A *strong* **robot** has `code`, [a link](x.md) and ~~old~~ &amp; new.") == [
        ("paragraph", "A strong robot has code, a link and old & new.")
    ]


def test_a_wrapped_line_is_one_paragraph_and_a_hard_break_is_a_line() -> None:
    assert blocks("one\ntwo  \nthree") == [("paragraph", "one two\nthree")]


def test_lists_are_lines_and_nested_items_follow_their_parent() -> None:
    plain = parse_markdown("1. one\n2. two\n   - inner\n3. three\n")
    assert (plain.text, plain.blocks[0].ordered) == ("one\ntwo\ninner\nthree", True)
    assert not parse_markdown("- one\n").blocks[0].ordered


def test_code_and_formulas_inside_a_list_part_it() -> None:
    text = "1. one\n\n   ```bash\n   ls\n   ```\n\n2. two\n\n   $$\n   a=b\n   $$ (label)\n\n3. three\n"
    assert blocks(text) == [
        ("list", "one"),
        ("code", "ls"),
        ("list", "two"),
        ("formula", "a=b"),
        ("list", "three"),
    ]


def test_a_table_has_a_line_for_each_row() -> None:
    assert blocks("| a | b |\n|---|---|\n| `x` | **2**<br/>3 |\n") == [("table", "a | b\nx | 2 3")]


def test_code_is_kept_to_the_letter_with_its_language_and_title() -> None:
    plain = parse_markdown(
        '```python title="walk.py"\nimport x from "y"\n\n  # {/* kept */} <!-- kept -->\n:::note\n```\n'
    )
    caption, code = plain.blocks
    assert plain.text[caption.start : caption.end] == "walk.py"
    assert code.language == "python"
    assert plain.text[code.start : code.end] == (
        'import x from "y"\n\n  # {/* kept */} <!-- kept -->\n:::note'
    )


def test_a_longer_fence_holds_a_shorter_one() -> None:
    text = "````\n```\nimport a from 'b'\n```\n````\n\nAfter.\n"
    assert blocks(text) == [("code", "```\nimport a from 'b'\n```"), ("paragraph", "After.")]


def test_formulas_keep_their_source() -> None:
    assert blocks("Mass is $m_1$.\n\n$$\nE = mc^2\n$$\n") == [
        ("paragraph", "Mass is $m_1$."),
        ("formula", "E = mc^2"),
    ]


def test_an_image_alone_is_a_caption_and_so_is_one_in_a_sentence() -> None:
    assert blocks("![A biped](x.png)\n\nSee ![it](y.png) here.\n") == [
        ("caption", "A biped"),
        ("paragraph", "See here."),
        ("caption", "it"),
    ]
    assert blocks('<img src="x.png" alt="A biped" />') == [("paragraph", "A biped")]
    assert blocks('<ThemedImage alt="A biped" sources={{light: "x"}} />') == [
        ("paragraph", "A biped")
    ]


def test_comments_are_left_out() -> None:
    text = "Before <!-- a --> after.\n\n<!-- b\n\nc -->\n\n{/* d\n\ne */}\n\nLast {/* f */}.\n"
    assert blocks(text) == [("paragraph", "Before  after."), ("paragraph", "Last .")]


def test_a_quotation_is_read_as_paragraphs() -> None:
    assert blocks("> one\n> two\n>\n> three") == [("paragraph", "one two"), ("paragraph", "three")]


def test_a_footnote_of_one_word_is_not_lost() -> None:
    assert blocks("Robots[^1] walk.\n\n[^1]: Humanoids.\n") == [
        ("paragraph", "Robots[1] walk."),
        ("paragraph", "[1] Humanoids."),
    ]


# What only MDX understands


@pytest.mark.parametrize(
    ("opening", "title"),
    [
        (":::note", "Note"),
        (":::tip[Try **this**]", "Try this"),
        (":::warning Hot motors", "Hot motors"),
        ("::::danger{.wide}", "Danger"),
    ],
)
def test_an_admonition_is_its_title_and_its_text(opening: str, title: str) -> None:
    assert blocks(f"{opening}\n\nBody.\n\n:::\n\nAfter.") == [
        ("paragraph", title),
        ("paragraph", "Body."),
        ("paragraph", "After."),
    ]


def test_an_admonition_without_blank_lines_is_read_alike() -> None:
    assert blocks(":::note\nBody.\n:::\nAfter.") == [
        ("paragraph", "Note"),
        ("paragraph", "Body."),
        ("paragraph", "After."),
    ]


def test_tabs_keep_their_labels_and_their_code() -> None:
    text = """\
        import Tabs from '@theme/Tabs';

        <Tabs groupId="language">
          <TabItem value="py" label="Python" default>

        ```python
        walk()
        ```

          </TabItem>
          <TabItem
            value="cpp"
            label="C++"
          >

        Text for C++.

          </TabItem>
          <TabItem value="rust">Rust text.</TabItem>
        </Tabs>
        """
    assert blocks(text) == [
        ("paragraph", "Python"),
        ("code", "walk()"),
        ("paragraph", "C++"),
        ("paragraph", "Text for C++."),
        ("paragraph", "rust"),
        ("paragraph", "Rust text."),
    ]


@pytest.mark.parametrize(
    "code",
    [
        "import Tabs from '@theme/Tabs';",
        'import "./style.css"',
        "import * as all from 'x'",
        "import One, {two} from 'x';",
        "import {\n  one,\n  two,\n} from 'x';",
        "export const Mark = () => (\n  <b>bold</b>\n);",
        "export default function Page() {\n  return 1;\n}",
        "export const a = 1",
    ],
)
def test_imports_and_exports_are_left_out(code: str) -> None:
    assert blocks(f"{code}\n\nText.\n") == [("paragraph", "Text.")]


def test_prose_that_begins_like_an_import_stays() -> None:
    text = "First\nexport the mesh, then\nimport it where it comes from\n'outside' of it."
    assert blocks(text) == [("paragraph", text.replace("\n", " "))]


def test_components_go_and_what_they_hold_stays() -> None:
    text = 'A <Term id="x">humanoid</Term> walks.\n\n<Card>\n\nInside **it**.\n\n</Card>\n'
    assert blocks(text) == [("paragraph", "A humanoid walks."), ("paragraph", "Inside it.")]


def test_details_keep_their_summary_and_their_text() -> None:
    text = "<details>\n<summary>More</summary>\n\nHidden *text*.\n\n</details>\n\nAfter.\n"
    assert [body for _, body in blocks(text)] == ["More", "Hidden text.", "After."]


def test_html_is_read_by_its_words_and_scripts_are_not() -> None:
    text = "<table><tr><td>one</td><td>two &lt; 3</td></tr></table>\n<script>bad()</script>\n"
    assert blocks(text) == [("table", "one | two < 3")]


@given(
    st.lists(
        st.sampled_from(
            [
                "W.", "- W\n- W", "1. W\n   W\n\n   W", "> W", "## W", "| W | W |\n|---|---|\n| W | W |",
                "```\nW\n```", ":::note\nW\n:::", "<TabItem value='a'>\n\nW\n\n</TabItem>", "$$\nW\n$$",
                "<details>\n<summary>W</summary>\n\nW\n\n</details>", "![W](x)", "<div>\nW\n</div>",
                "**W** and `W`  \nW", "[W](y)",
            ]
        ),
        max_size=8,
    )
)  # fmt: skip
def test_every_word_of_a_page_is_read_once_and_in_order(shapes: list[str]) -> None:
    words: list[str] = []
    source = ""
    for shape in shapes:
        for piece in shape.split("W")[:-1]:
            words.append(f"w{len(words)}w")
            source += piece + words[-1]
        source += shape.split("W")[-1] + "\n\n"
    plain = parse_markdown(source)
    assert [word.strip(".") for word in plain.text.split() if word.startswith("w")] == words
    assert all(plain.text[b.start : b.end].strip() for b in plain.blocks)


@given(st.lists(st.sampled_from(["", "a", "```", "~~~", "````py", "  ```"]), max_size=12))
def test_runs_of_code_and_prose_make_up_the_page_again(lines: list[str]) -> None:
    source = "\n".join(lines)
    assert "\n".join(run for _, run in split_code_runs(source)) == source


# Sections


def test_sections_know_their_path_and_reach_to_the_next_heading(tmp_path: Path) -> None:
    document = page(
        tmp_path, "# Walking\n\nA.\n\n## Gaits\n\nB.\n\n### Trot\n\nC.\n\n## Balance\n\nD.\n"
    )
    assert [(s.path, document.text[s.start : s.end].split()[-1]) for s in document.sections] == [
        (("Walking",), "A."),
        (("Walking", "Gaits"), "B."),
        (("Walking", "Gaits", "Trot"), "C."),
        (("Walking", "Balance"), "D."),
    ]
    assert document.section_at(document.text.index("C.")).title == "Trot"
    assert document.section_at(0).title == "Walking"


@pytest.mark.parametrize("mark", ["{#my-id}", "<!-- #my-id -->"])
def test_an_explicit_heading_id_is_the_anchor_and_no_part_of_the_title(
    tmp_path: Path, mark: str
) -> None:
    document = page(tmp_path, f"# Walking\n\n## Gaits {mark}\n\nText.\n")
    assert anchors(document) == {"Walking": "", "Gaits": "my-id"}
    assert "my-id" not in document.text


def test_equal_headings_get_numbered_anchors_that_are_all_different(tmp_path: Path) -> None:
    document = page(tmp_path, "# Page\n\n## Use\n\n## Use\n\n## Use 1\n\n## Use\n\nText.\n")
    assert [s.anchor for s in document.sections] == ["", "use", "use-1", "use-1-1", "use-2"]
    document = page(tmp_path, "# Page\n\n## Use\n\n## Use 1\n\n## Use\n\nText.\n")
    assert [s.anchor for s in document.sections] == ["", "use", "use-1", "use-2"]


def test_a_title_from_front_matter_uses_up_no_anchor(tmp_path: Path) -> None:
    document = page(tmp_path, "---\ntitle: Gaits\n---\n\nText.\n\n## Gaits\n\nMore.\n")
    assert [(s.title, s.anchor) for s in document.sections] == [("Gaits", ""), ("Gaits", "gaits")]


@pytest.mark.parametrize(
    ("title", "github", "mdbook"),
    [
        ("What's new in C++?", "whats-new-in-c", "whats-new-in-c"),
        ("ROS 2: nodes & topics", "ros-2-nodes--topics", "ros-2-nodes--topics"),
        ("snake_case-name", "snake_case-name", "snake_case-name"),
        ("Größe", "größe", "größe"),
    ],
)
def test_anchors_are_made_as_the_sites_make_them(title: str, github: str, mdbook: str) -> None:
    assert make_github_anchor(title) == github
    assert make_mdbook_anchor(title) == mdbook


# Titles


def test_the_front_matters_title_becomes_the_first_heading(tmp_path: Path) -> None:
    document = page(tmp_path, "---\ntitle: Walking\n---\n\nText.\n\n## Gaits\n\nMore.\n")
    assert document.title == "Walking"
    assert document.text.startswith("Walking\n\nText.")
    assert anchors(document) == {"Walking": "", "Gaits": "gaits"}


def test_a_page_with_its_own_heading_shows_no_second_one(tmp_path: Path) -> None:
    document = page(tmp_path, "---\ntitle: Short\n---\n\n# The long title\n\nText.\n")
    assert (document.title, document.text) == ("Short", "The long title\n\nText.")


@pytest.mark.parametrize("title", ["C# & `<T>` in *two* $5", "<details>", "[x](y) #", "a\\b_c_d"])
def test_a_title_is_read_as_it_is_written(tmp_path: Path, title: str) -> None:
    document = page(tmp_path, f"---\ntitle: '{title}'\n---\n\nText.\n")
    assert document.text == f"{title}\n\nText."
    assert document.sections[0].title == title


def test_a_page_without_heading_is_named_by_its_file(tmp_path: Path) -> None:
    document = page(tmp_path, "Just text.\n")
    assert (document.title, document.text) == ("page", "page\n\nJust text.")


def test_text_before_the_first_heading_is_not_lost(tmp_path: Path) -> None:
    document = page(tmp_path, "Opening words.\n\n## Gaits\n\nText.\n")
    assert "Opening words." in document.text
    assert document.section_at(document.text.index("Opening")).anchor == ""


def test_a_comment_in_code_is_not_a_title(tmp_path: Path) -> None:
    text = "---\ntitle: Setup\n---\n\n## First\n\n```bash\n# install it\n```\n"
    document = page(tmp_path, text)
    assert document.title == "Setup"
    assert anchors(document) == {"Setup": "", "First": "first"}
    assert page(tmp_path, "```bash\n# install it\n```\n").title == "page"


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_bytes(b"\xef\xbb\xbf---\r\ntitle: Walking\r\n---\r\n\r\nText.\r\nMore.\r\n")
    (document,) = pages(read(path))
    assert document.text == "Walking\n\nText. More."


# Docusaurus

SITE = {
    "docusaurus.config.js": "module.exports = { title: \"Robots don't rest\", baseUrl: '/' };",
    "docs/intro.md": "---\nslug: /\ntitle: Welcome\n---\n\nHello.\n",
    "docs/01-walking/_category_.json": '{"label": "Chapter 1: Walking", "position": 1}',
    "docs/01-walking/index.md": "# Walking\n\nText.\n",
    "docs/01-walking/02-gaits.md": "# Gaits\n\nText.\n\n## Trot\n\nMore.\n",
    "docs/01-walking/01-balance.mdx": "---\nid: poise\n---\n\n# Balance\n\nText.\n",
    "docs/02-arms/grip.md": "---\nslug: hold\n---\n\n# Grip\n\nText.\n",
    "docs/02-arms/_partial.mdx": "Left out.\n",
    "docs/2024-01-notes.md": "# Notes\n\nText.\n",
    "docs/secret.md": "---\ndraft: true\n---\n\n# Secret\n\nText.\n",
}


def test_docusaurus_pages_have_the_sites_ids_and_addresses(tmp_path: Path) -> None:
    book = read(make(tmp_path, SITE), "https://robots.test/book")
    assert (book.reader, book.title, book.base_url) == (
        "Docusaurus", "Robots don't rest", "https://robots.test/book/",
    )  # fmt: skip
    assert {document.document_id: document.url for document in pages(book)} == {
        "index": "https://robots.test/book/docs/",
        "walking": "https://robots.test/book/docs/walking/",
        "walking/poise": "https://robots.test/book/docs/walking/poise",
        "walking/gaits": "https://robots.test/book/docs/walking/gaits",
        "arms/hold": "https://robots.test/book/docs/arms/hold",
        "2024-01-notes": "https://robots.test/book/docs/2024-01-notes",
    }


def test_docusaurus_chapters_come_from_categories_then_index_pages_then_folders(
    tmp_path: Path,
) -> None:
    more = {
        "docs/03-heads/index.md": "# On heads\n\nText.\n",
        "docs/03-heads/eyes.md": "# Eyes\n\nText.\n",
    }
    book = read(make(tmp_path, SITE | more))
    chapters = {document.document_id: document.chapter for document in pages(book)}
    assert chapters["walking/gaits"] == "Chapter 1: Walking"
    assert chapters["arms/hold"] == "Arms"
    assert chapters["heads/eyes"] == "On heads"
    assert chapters["index"] == "Welcome"


def test_a_chapter_opens_the_path_of_its_sections(tmp_path: Path) -> None:
    book = read(make(tmp_path, SITE))
    (gaits,) = [document for document in pages(book) if document.title == "Gaits"]
    assert gaits.sections[1].path == ("Chapter 1: Walking", "Gaits", "Trot")


def test_without_sidebars_pages_stand_by_position_number_and_name(tmp_path: Path) -> None:
    files = {
        "a/_category_.yml": "label: Last\nposition: 9\n",
        "a/one.md": "# One\n\nText.\n",
        "02-b/z.md": "---\nsidebar_position: 1\n---\n\n# Z\n\nText.\n",
        "02-b/a.md": "---\nsidebar_position: 2\n---\n\n# A\n\nText.\n",
        "02-b/README.md": "# B\n\nText.\n",
        "10-c.md": "# C\n\nText.\n",
    }
    book = read(make(tmp_path, files))
    assert [document.title for document in pages(book)] == ["B", "Z", "A", "One", "C"]


def test_sidebars_give_the_order_and_unlisted_pages_follow(tmp_path: Path) -> None:
    sidebars = """\
        // 'arms/grip' comes later
        export default { book: [
          'walking/gaits', { type: 'category', label: 'More', items: ["walking/poise", `arms/grip`] },
        ] };
        """
    book = read(make(tmp_path, SITE | {"sidebars.js": sidebars}))
    assert [document.document_id for document in pages(book)][:3] == [
        "walking/gaits",
        "walking/poise",
        "arms/hold",
    ]
    assert len(pages(book)) == 6


def test_the_route_of_the_docs_is_read_from_the_config(tmp_path: Path) -> None:
    config = {"docusaurus.config.js": "export default { docs: { routeBasePath: '/' } };"}
    book = read(make(tmp_path, SITE | config), "https://robots.test")
    urls = {document.url for document in pages(book)}
    assert {"https://robots.test/", "https://robots.test/walking/gaits"} <= urls


def test_a_folder_named_page_is_its_folders_own_whatever_its_id(tmp_path: Path) -> None:
    files = {
        "docusaurus.config.ts": "",
        "docs/feet/feet.md": "# Feet\n\nText.\n",
        "docs/legs/index.md": "---\nid: overview\n---\n\n# Legs\n\nText.\n",
        "docs/01-arms/arms.md": "# Arms\n\nText.\n",
        "docs/hands/up.md": "---\nslug: ../wave\n---\n\n# Up\n\nText.\n",
    }
    book = read(make(tmp_path, files), "https://robots.test")
    assert {document.title: document.url for document in pages(book)} == {
        "Feet": "https://robots.test/docs/feet/",
        "Legs": "https://robots.test/docs/legs/",
        "Arms": "https://robots.test/docs/arms/arms",
        "Up": "https://robots.test/docs/wave",
    }
    assert "wave" in {document.document_id for document in pages(book)}


def test_pages_of_one_address_keep_different_ids(tmp_path: Path) -> None:
    files = {
        "docusaurus.config.js": "",
        "docs/a.md": "---\nslug: /same\n---\n\nText.\n",
        "docs/b.md": "---\nslug: /same\n---\n\nText.\n",
        "docs/c.md": "---\nslug: /same-1\n---\n\nText.\n",
    }
    ids = [document.document_id for document in pages(read(make(tmp_path, files)))]
    assert len(set(ids)) == 3


# mdBook

MDBOOK = {
    "book.toml": '[book]\ntitle = "The Robot Book"\n',
    "src/SUMMARY.md": """\
        # Summary

        [Preface](preface.md)

        - [Walking](walking/README.md)
            - [Some `gaits`](./walking/gaits.md)
        - [Arms]()
            - [Grip](arms/grip.md#top)
        - [Missing](missing.md)
        """,
    "src/preface.md": "# Preface\n\nText.\n",
    "src/walking/README.md": "# Walking\n\nText.\n\n## Where's *next*?\n\nMore.\n",
    "src/walking/gaits.md": "Text without a heading.\n\n```rust\n# hidden line\n```\n",
    "src/arms/grip.md": "# Grip\n\nText.\n",
    "src/stray.md": "# Stray\n\nText.\n",
}


def test_mdbook_pages_stand_in_the_summarys_order_with_html_addresses(tmp_path: Path) -> None:
    book = read(make(tmp_path, MDBOOK), "https://robots.test/book/")
    assert (book.reader, book.title) == ("mdBook", "The Robot Book")
    assert [(d.document_id, d.url) for d in pages(book)] == [
        ("preface", "https://robots.test/book/preface.html"),
        ("walking/index", "https://robots.test/book/walking/index.html"),
        ("walking/gaits", "https://robots.test/book/walking/gaits.html"),
        ("arms/grip", "https://robots.test/book/arms/grip.html"),
    ]


def test_mdbook_titles_and_chapters_come_from_the_summary(tmp_path: Path) -> None:
    documents = pages(read(make(tmp_path, MDBOOK)))
    assert [(d.title, d.chapter) for d in documents] == [
        ("Preface", "Preface"),
        ("Walking", "Walking"),
        ("Some gaits", "Walking"),
        ("Grip", "Arms"),
    ]
    assert anchors(documents[1])["Where's next?"] == "wheres-next"


# Plain folders and single files


def test_a_plain_folder_is_read_in_order_with_folders_as_chapters(tmp_path: Path) -> None:
    files = {
        "10-end.md": "# End\n\nText.\n",
        "2-middle part/b.md": "# B\n\nText.\n",
        "1_start.markdown": "# Start\n\nText.\n",
        "README.md": "# Read me\n\nText.\n",
        ".git/x.md": "# Hidden\n\nText.\n",
        "node_modules/x.md": "# Hidden\n\nText.\n",
        "notes.txt": "No Markdown.",
    }
    book = read(make(tmp_path / "my-book", files), "https://robots.test/raw")
    assert (book.reader, book.title) == ("Markdown folder", "Read me")
    assert [(d.document_id, d.chapter) for d in pages(book)] == [
        ("README", "Read me"),
        ("1_start", "Start"),
        ("2-middle part/b", "Middle part"),
        ("10-end", "End"),
    ]
    assert pages(book)[2].url == "https://robots.test/raw/2-middle%20part/b.md"


def test_a_book_without_base_url_has_no_addresses(tmp_path: Path) -> None:
    assert {d.url for d in pages(read(make(tmp_path, SITE)))} == {""}


def test_a_single_file_is_a_book_at_the_address_it_was_given(tmp_path: Path) -> None:
    make(tmp_path, {"walk.md": "# Walking\n\nText.\n", "other.md": "# Other\n\nText.\n"})
    book = read(tmp_path / "walk.md", "https://robots.test/walk.html")
    (document,) = pages(book)
    assert (book.title, document.document_id, document.chapter) == ("Walking", "walk", "Walking")
    assert document.url == "https://robots.test/walk.html"


def test_a_given_title_overrules_what_was_read(tmp_path: Path) -> None:
    book = MarkdownReader().read(str(make(tmp_path, SITE)), title="My robots", base_url=None)
    assert book.title == "My robots"


# What cannot be read


def read_error(source: Path) -> UnreadableBook:
    with pytest.raises(UnreadableBook) as caught:
        read(source)
    assert caught.value.help_message
    return caught.value


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    assert str(tmp_path / "missing") in read_error(tmp_path / "missing").what


def test_a_folder_without_markdown_is_refused(tmp_path: Path) -> None:
    assert "no Markdown" in read_error(make(tmp_path, {"notes.txt": "x"})).what


def test_a_file_that_is_no_markdown_is_refused(tmp_path: Path) -> None:
    assert "not a Markdown file" in read_error(make(tmp_path, {"a.pdf": "x"}) / "a.pdf").what


def test_a_binary_file_named_markdown_is_skipped_by_name_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    make(tmp_path, {"good.md": "# Good\n\nText.\n"})
    (tmp_path / "bad.md").write_bytes(b"GIF89a\x00\x01 is valid UTF-8")
    book = read(tmp_path)
    (skipped,) = book.skipped
    assert skipped.name == "bad.md"
    assert "binary" in skipped.reason
    assert [document.title for document in pages(book)] == ["Good"]
    assert "binary" in read_error(tmp_path / "bad.md").what


def test_a_file_that_is_not_utf_8_is_refused_by_name_and_byte(tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes("# Größe".encode("latin-1"))
    problem = read_error(tmp_path)
    assert "latin.md" in problem.what
    assert "byte 4" in problem.what


def test_front_matter_that_is_no_yaml_is_refused_by_name(tmp_path: Path) -> None:
    make(tmp_path, {"bad.md": "---\ntitle: [unclosed\n---\n\nText.\n"})
    assert "bad.md" in read_error(tmp_path).what


def test_a_file_that_cannot_be_opened_is_refused_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "folder.md"
    folder.mkdir()
    with pytest.raises(UnreadableBook, match=r"folder\.md"):
        load_file(folder, tmp_path)


def test_an_empty_front_matter_takes_no_text_with_it(tmp_path: Path) -> None:
    page = "---\n---\n\n# Gaits\n\nA gait repeats.\n\n---\n\nA run is a gait.\n"
    (tmp_path / "a.md").write_text(page)
    (document,) = pages(read(tmp_path))
    assert "A gait repeats." in document.text
    assert "A run is a gait." in document.text


def test_a_page_that_opens_with_a_rule_keeps_what_stands_below_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\n\nA gait repeats.\n\n---\n\nA run is a gait.\n")
    (document,) = pages(read(tmp_path))
    assert "A gait repeats." in document.text


def test_a_file_name_that_is_not_text_is_named_in_the_error(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("# Gaits\n\nWords.\n")
    with pytest.raises(UnreadableBook, match="not UTF-8"):
        read(tmp_path)


def test_a_folder_named_build_is_read_and_installed_packages_are_not(tmp_path: Path) -> None:
    for name in ("guide/build/a.md", "guide/node_modules/x/b.md", "guide/index.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n\nWords.\n")
    book = read(tmp_path)
    assert {document.title for document in pages(book)} == {"guide/build/a.md", "guide/index.md"}


def test_a_summary_may_name_files_with_spaces_and_says_which_are_missing(tmp_path: Path) -> None:
    (tmp_path / "SUMMARY.md").write_text("- [One](my%20page.md)\n- [Two](gone.md)\n")
    (tmp_path / "my page.md").write_text("# One\n\nWords.\n")
    book = read(tmp_path)
    assert [document.title for document in pages(book)] == ["One"]
    assert book.warnings == ("gone.md is listed but missing.",)


def test_addresses_of_a_plain_folder_keep_the_folders_above_its_pages(tmp_path: Path) -> None:
    (tmp_path / "en" / "docs").mkdir(parents=True)
    (tmp_path / "en" / "docs" / "a.md").write_text("# A\n\nWords.\n")
    (document,) = pages(read(tmp_path, "https://x.test/book"))
    assert (document.document_id, document.url) == ("a", "https://x.test/book/en/docs/a.md")


def test_the_docs_folder_of_a_docusaurus_site_is_known_by_the_config_beside_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docusaurus.config.js").write_text("export default {};\n")
    (tmp_path / "docs" / "01-intro.md").write_text("# Intro\n\nWords.\n")
    book = read(tmp_path / "docs", "https://x.test")
    assert book.reader == "Docusaurus"
    assert pages(book)[0].url == "https://x.test/docs/intro"


def test_a_summary_opens_no_file_outside_the_book(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nHidden words.\n")
    book = tmp_path / "book"
    book.mkdir()
    (book / "SUMMARY.md").write_text("- [One](one.md)\n- [Out](../secret.md)\n")
    (book / "one.md").write_text("# One\n\nWords.\n")
    found = read(book)
    assert [document.title for document in pages(found)] == ["One"]
    assert found.warnings == ("../secret.md is listed but missing.",)


# HTML and components inside of Markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>one<li>two</ul>", [("list", "one\ntwo")]),
        ("<dl><dt>Gait</dt><dd>A way to walk.</dd></dl>", [("list", "Gait\nA way to walk.")]),
        ('<pre><code class="language-py">a &lt; b\n  c</code></pre>', [("code", "a < b\n  c")]),
        ("<h2 id='x'>Gaits <b>all</b></h2>", [("heading", "Gaits all")]),
        ("<p>one</p><p>two</p>", [("paragraph", "one"), ("paragraph", "two")]),
        ("<figure><img alt='A leg'/><figcaption>Leg</figcaption></figure>",
         [("paragraph", "A leg"), ("caption", "Leg")]),
        ("<table><caption>Legs</caption><thead><tr><th>a<th>b</tr></thead><tr><td><p>1</p><p>2</p><td>3</table>",
         [("caption", "Legs"), ("table", "a | b\n1 2 | 3")]),
        ("<details><summary>**More** on `it`</summary>\n\n*Text*\n\n</details>",
         [("paragraph", "More on it"), ("paragraph", "Text")]),
    ],
)  # fmt: skip
def test_html_becomes_blocks_of_its_kind(html: str, expected: list[tuple[str, str]]) -> None:
    assert blocks(html) == expected


def test_code_in_html_keeps_its_language() -> None:
    plain = parse_markdown('<pre><code class="language-py">walk()</code></pre>\n')
    assert plain.blocks[0].language == "py"


def test_an_html_table_with_blank_lines_in_it_is_one_table() -> None:
    text = "<table>\n<tr>\n<td>\n\nA *leg*\n\n```\ncode\n```\n\n</td>\n<td>b</td></tr>\n</table>\n\nEnd.\n"
    assert blocks(text) == [("table", "A leg code | b"), ("paragraph", "End.")]


def test_tables_and_html_inside_a_list_part_it() -> None:
    text = "- one\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n\n- two\n\n  <table><tr><td>x</td></tr></table>\n"
    assert blocks(text) == [
        ("list", "one"),
        ("table", "a | b\n1 | 2"),
        ("list", "two"),
        ("table", "x"),
    ]


def test_definition_lists_are_lists() -> None:
    plain = parse_markdown("Gait\n: A way *to* walk.\n", "commonmark")
    assert (plain.blocks[0].kind, plain.text) == ("list", "Gait\nA way to walk.")


def test_tasks_show_whether_they_are_done() -> None:
    assert blocks("- [x] legs\n- [ ] arms\n") == [("list", "☑ legs\n☐ arms")]


def test_an_alert_of_a_quotation_is_named() -> None:
    assert blocks("> [!WARNING]\n> Hot.\n") == [("paragraph", "Warning"), ("paragraph", "Hot.")]


def test_strings_in_braces_are_words_and_expressions_in_tags_are_not() -> None:
    text = "One{' '}two {\"three\"} <a href={require('./x.docx').default}>four</a> `{'five'}`."
    assert blocks(text) == [("paragraph", "One two three four {'five'}.")]


def test_content_of_components_is_not_code_at_any_depth() -> None:
    text = "<Card>\n    <Body>\n\n    Deep *words*.\n\n    </Body>\n</Card>\n"
    assert blocks(text) == [("paragraph", "Deep words.")]
    plain = parse_markdown("Text:\n\n    code\n", "plain")
    assert plain.blocks[1].kind == "code"


def test_a_fence_of_mdx_is_part_of_the_page() -> None:
    text = "```mdx-code-block\nimport A from 'a';\n\n<A>\n\nWords.\n\n</A>\n```\n\nEnd.\n"
    assert blocks(text) == [("paragraph", "Words."), ("paragraph", "End.")]
    text = "````mdx-code-block\n<A>\n\n```jsx\nrender(\n  <B />\n);\n```\n\n</A>\n````\n"
    assert blocks(text) == [("code", "render(\n  <B />\n);")]


def test_the_id_of_a_component_can_be_linked_to() -> None:
    plain = parse_markdown('<details id="more">\n<summary>More</summary>\n\nText.\n\n</details>\n')
    assert plain.anchors == ["more"]


def test_a_partial_page_is_shown_where_it_is_used(tmp_path: Path) -> None:
    use = "import Part from './_part.mdx';\n\n# A\n\n<Part />\n\n```\n<Part />\n```\n"
    files = {"docusaurus.config.js": "", "docs/a.mdx": use,
             "docs/_part.mdx": "---\nx: y\n---\nShared *words*.\n"}  # fmt: skip
    folder = make(tmp_path, files)
    (document,) = pages(read(folder))
    assert document.text == "A\n\nShared words.\n\n<Part />"
    before = read(folder).documents[0].fingerprint
    (folder / "docs" / "_part.mdx").write_text("Other words.\n")
    assert read(folder).documents[0].fingerprint != before


# Links


def test_links_of_a_site_lead_by_file_and_by_address(tmp_path: Path) -> None:
    body = """\
        # Links

        [a](./01-walking/02-gaits.md#trot) [b](/docs/walking/gaits) [c](walking/gaits)
        [d](@site/docs/01-walking/index.md) [e](/docs/walking/gone) [f](./gone.md) [g](/blog/x)
        [h](../static/leg.png) [i](mailto:x@y.test) [j](/docs/category/all) [k](./leg.zip)
        <Link to="/docs/arms/hold">l</Link>
        """
    more = {"docs/links.md": body, "static/leg.png": "png", "docs/leg.zip": "zip"}
    book = pages(read(make(tmp_path, SITE | more), "https://robots.test"))
    (document,) = [document for document in book if document.title == "Links"]
    assert [(link.target, link.document_id, link.anchor) for link in document.links] == [
        ("./01-walking/02-gaits.md#trot", "walking/gaits", "trot"),
        ("/docs/walking/gaits", "walking/gaits", ""),
        ("walking/gaits", "walking/gaits", ""),
        ("@site/docs/01-walking/index.md", "walking", ""),
        ("/docs/walking/gone", "", ""),
        ("./gone.md", "", ""),
        ("/docs/arms/hold", "arms/hold", ""),
    ]


def test_a_page_has_changed_when_a_page_it_links_to_has_gone(tmp_path: Path) -> None:
    files = {"a.md": "# A\n\n[b](b.md)\n", "b.md": "# B\n\nText.\n", "c.md": "# C\n\nText.\n"}
    folder = make(tmp_path, files)
    before = {d.document_id: d.fingerprint for d in read(folder).documents}
    (folder / "b.md").unlink()
    after = {d.document_id: d.fingerprint for d in read(folder).documents}
    assert after["a"] != before["a"]
    assert after["c"] == before["c"]


# Hostile and large input


def read_skipped(folder: Path) -> dict[str, str]:
    return {part.name: part.reason for part in read(folder).skipped}


def test_a_file_too_large_or_a_line_too_long_is_skipped_unread(tmp_path: Path) -> None:
    make(tmp_path, {"good.md": "# Good\n\nText.\n"})
    (tmp_path / "large.md").write_bytes(b"a line\n" * 8_000_000)
    (tmp_path / "line.md").write_bytes(b"a" * 2_000_000)
    reasons = read_skipped(tmp_path)
    assert "larger than 10 MB" in reasons["large.md"]
    assert "a line of more than 1,000,000" in reasons["line.md"]
    assert len(read(tmp_path).documents) == 1


@pytest.mark.parametrize(
    "front",
    [
        "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{f'*a{n},' * 9}]\n" for n in range(9)),
        f"title: {'[' * 100_000}\n",
        f"title: {'{a: ' * 100_000}\n",
        f"{'- ' * 90_000}\n",
        f"title: {'x' * 900_000}\n",
    ],
)
def test_front_matter_that_would_grow_without_end_is_skipped(tmp_path: Path, front: str) -> None:
    make(tmp_path, {"good.md": "# Good\n\nText.\n", "bomb.md": f"---\n{front}---\n\nText.\n"})
    assert "front matter" in read_skipped(tmp_path)["bomb.md"]


def test_a_title_that_is_a_list_is_none(tmp_path: Path) -> None:
    assert page(tmp_path, "---\ntitle: [a, b]\n---\n\nText.\n").title == "page"


@pytest.mark.parametrize(
    "text",
    ["> " * 5000, "- " * 5000 + "a", "> - " * 3000, "[" * 200_000, "![" * 100_000, "a <![CDATA[ " * 50_000,
     "<div " * 50_000, "[a]: b\n" * 100_000, "> " * 50 + "a\n" + "b\n" * 100_000, "a\n" * 400_000],
    ids=["quotes", "lists", "both", "brackets", "images", "data", "tags", "references", "lazy", "lines"],
)  # fmt: skip
def test_a_page_that_would_take_forever_is_refused_in_time(tmp_path: Path, text: str) -> None:
    make(tmp_path, {"bad.md": f"# Bad\n\n{text}\n", "good.md": "# Good\n\nText.\n"})
    bad, good = read(tmp_path).documents
    started = time.process_time()
    with pytest.raises(UnreadableBook, match=r"bad\.md"):
        bad.read()
    assert time.process_time() - started < 60  # what is not refused takes hours
    assert good.read().title == "Good"


def test_lists_as_deep_as_people_write_them_are_read_whole() -> None:
    text = "\n".join(f"{'  ' * depth}- item {depth}" for depth in range(20))
    assert parse_markdown(text).text.count("item") == 20


def test_links_in_the_file_system_are_followed_once_and_never_out(tmp_path: Path) -> None:
    folder = make(
        tmp_path / "book",
        {
            "a/one.md": "# One\n\nText.\n",
            "b/two.md": "# Two\n\nText.\n",
            ".shared/s.md": "# S\n\nText.\n",
        },
    )
    outside = make(tmp_path / "outside", {"secret.md": "# Secret\n\nText.\n"})
    (folder / "a" / "loop").symlink_to(folder)
    (folder / "again").symlink_to(folder / "b")
    (folder / "copy.md").symlink_to(folder / "b" / "two.md")
    (folder / "shared").symlink_to(folder / ".shared")
    (folder / "out").symlink_to(outside)
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "self.md").symlink_to(folder / "self.md")
    book = read(folder)
    assert sorted(document.title for document in pages(book)) == ["One", "S", "Two"]
    assert {part.name for part in book.skipped} == {"out", "out.md", "self.md"}


def test_a_pipe_named_like_a_page_is_skipped_without_waiting(tmp_path: Path) -> None:
    make(tmp_path, {"good.md": "# Good\n\nText.\n"})
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "sidebars.js")
    assert "pipe" in read_skipped(tmp_path)["pipe.md"]
    assert "not a Markdown file" in read_error(tmp_path / "pipe.md").what


def test_a_name_that_is_not_text_is_skipped_and_the_rest_is_read(tmp_path: Path) -> None:
    make(tmp_path, {"good.md": "# Good\n\nText.\n"})
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("# Gaits\n\nWords.\n")
    book = read(tmp_path)
    assert "not UTF-8" in book.skipped[0].reason
    assert [document.title for document in pages(book)] == ["Good"]


def test_what_looks_like_a_footnote_mark_but_leads_nowhere_stays() -> None:
    assert blocks("Letters are `[^a-z]` and [^2].\n") == [
        ("paragraph", "Letters are [^a-z] and [^2].")
    ]


def test_the_words_of_an_image_in_a_line_stand_by_themselves() -> None:
    assert blocks("![A pump](p.png) The pump delivers 40 litres.\n") == [
        ("paragraph", "The pump delivers 40 litres."),
        ("caption", "A pump"),
    ]


@pytest.mark.parametrize(
    "names",
    [
        ("1 Intro", "2 Middle", "10 End"),
        ("Chapter 1", "Chapter 2", "Chapter 10"),
        ("preface", "ch1", "ch2", "ch10", "appendix"),
        ("01_a", "02-b", "03 c", "04.d", "05 - e"),
    ],
)
def test_the_pages_of_a_plain_folder_stand_as_people_count(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nWords.\n")
    book = MarkdownReader().read(str(tmp_path), title=None, base_url=None)
    assert [document.document_id for document in book.documents] == list(names)


def test_a_draft_is_not_published_and_named(tmp_path: Path) -> None:
    (tmp_path / "done.md").write_text("# Done\n\nWords.\n")
    (tmp_path / "later.md").write_text("---\ndraft: true\n---\n# Later\n\nNot yet.\n")
    book = MarkdownReader().read(str(tmp_path), title=None, base_url=None)
    assert [document.document_id for document in book.documents] == ["done"]
    assert book.warnings == ("Not published (drafts or parts of other pages): later.md.",)
