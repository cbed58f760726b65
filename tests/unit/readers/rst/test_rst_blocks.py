"""What a reader sees of each construct of reStructuredText."""

from pathlib import Path

import pytest

from bythebook.adapters.readers.rst.reader import RstReader
from bythebook.domain.books import BlockKind, Document, Link


@pytest.fixture
def read(tmp_path: Path) -> "Reading":
    return Reading(tmp_path)


class Reading:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, text: str) -> Document:
        path = self.folder / "page.rst"
        path.write_text(text)
        book = RstReader().read(str(path), title=None, base_url=None)
        return book.documents[0].read()

    def blocks(self, text: str) -> list[tuple[BlockKind, str]]:
        """Kind and text of what stands below a title."""
        document = self(f"Page\n====\n\n{text}\n")
        assert document.text.startswith("Page")
        shown = document.blocks[1:]
        return [(block.kind, document.text[block.start : block.end]) for block in shown]


def test_headings_take_their_level_from_the_order_of_their_adornments(read: Reading) -> None:
    document = read("####\nBook\n####\n\nOne\n****\n\na\n\nTwo\n====\n\nb\n\nThree\n*****\n\nc\n")
    assert [(b.level, document.text[b.start : b.end]) for b in document.blocks if b.level] == [
        (1, "Book"), (2, "One"), (3, "Two"), (2, "Three"),
    ]  # fmt: skip
    assert [section.anchor for section in document.sections] == ["", "one", "two", "three"]
    assert document.sections[2].path == ("Book", "One", "Two")


def test_a_text_without_a_title_stands_under_its_file_name(read: Reading) -> None:
    document = read("Only words.\n")
    assert document.text == "page\n\nOnly words."
    assert document.sections[0].anchor == ""


def test_a_repeated_heading_is_numbered_as_sphinx_does(read: Reading) -> None:
    document = read("P\n=\n\nScope\n-----\n\na\n\nQ\n=\n\nScope\n-----\n\nb\n")
    assert [section.anchor for section in document.sections] == ["", "scope", "q", "id1"]


def test_a_label_like_its_heading_gives_the_anchor(read: Reading) -> None:
    document = read("P\n=\n\n.. _other:\n.. _scope:\n\nScope\n-----\n\na\n")
    assert document.sections[1].anchor == "scope"
    assert {"other", "scope"} <= set(document.anchors)


@pytest.mark.parametrize(
    ("source", "language", "code"),
    [
        (".. code-block:: bash\n   :emphasize-lines: 1\n\n   ls\n     -l\n", "bash", "ls\n  -l"),
        (".. code:: C++\n\n   int a;\n", "C++", "int a;"),
        (".. code-block:: bash\n   ls\n", "bash", "ls"),
        ("::\n\n   plain\n\n   lines\n", "", "plain\n\nlines"),
        (".. highlight:: yaml\n\n::\n\n   a: 1\n", "yaml", "a: 1"),
        (">>> 1 + 1\n2\n", "python", ">>> 1 + 1\n2"),
        (".. graphviz::\n\n   digraph { a -> b }\n", "graphviz", "digraph { a -> b }"),
        (".. parsed-literal::\n\n   make **all**\n", "", "make all"),
        (".. prompt:: bash $\n\n   ls\n", "bash", "ls"),
    ],
)
def test_code_keeps_its_lines_and_its_language(
    read: Reading, source: str, language: str, code: str
) -> None:
    document = read(f"Page\n====\n\n{source}\n")
    (block,) = (block for block in document.blocks if block.kind == "code")
    assert (block.language, document.text[block.start : block.end]) == (language, code)


def test_the_caption_of_code_comes_first(read: Reading) -> None:
    assert read.blocks(".. code-block:: c\n   :caption: main.c\n\n   int a;\n") == [
        ("caption", "main.c"), ("code", "int a;"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "title"), [("note", "Note"), ("seealso", "See also"), ("Danger", "Danger")]
)
def test_an_admonition_says_what_it_is(read: Reading, name: str, title: str) -> None:
    expected: list[tuple[BlockKind, str]] = [
        ("paragraph", title),
        ("paragraph", "Take care."),
        ("code", "x"),
    ]
    assert read.blocks(f".. {name}:: Take care.\n\n   ::\n\n      x\n") == expected


def test_an_admonition_of_ones_own_shows_its_title(read: Reading) -> None:
    assert read.blocks(".. admonition:: By *the* way\n   :class: x\n\n   Words.\n") == [
        ("paragraph", "By the way"), ("paragraph", "Words."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (".. versionadded:: 3.2", "Added in version 3.2"),
        (".. versionchanged:: 3\n   It is *new*.", "Changed in version 3: It is new."),
        (".. deprecated:: 1.0 Use ``b``.", "Deprecated since version 1.0: Use b."),
    ],
)
def test_a_change_names_its_version(read: Reading, source: str, words: str) -> None:
    assert read.blocks(source) == [("paragraph", words)]


def test_tabs_show_their_names_and_all_their_content(read: Reading) -> None:
    source = """.. tabs::

   .. group-tab:: Linux

      Open a shell.

      .. code-block:: bash

         ls

   .. code-tab:: python3 In Python

      import os
"""
    assert read.blocks(source) == [
        ("paragraph", "Linux"),
        ("paragraph", "Open a shell."),
        ("code", "ls"),
        ("paragraph", "In Python"),
        ("code", "import os"),
    ]


def test_a_list_is_a_line_per_item_and_code_parts_it(read: Reading) -> None:
    source = "#. One\n\n   - inner\n\n#. Two::\n\n      code\n\n   more\n\n#. Three\n"
    document = read(f"Page\n====\n\n{source}")
    found = [(b.kind, document.text[b.start : b.end], b.ordered) for b in document.blocks[1:]]
    assert found == [
        ("list", "One\ninner\nTwo:", True), ("code", "code", False), ("list", "more\nThree", True),
    ]  # fmt: skip


def test_definitions_fields_and_options_are_lines_of_a_list(read: Reading) -> None:
    assert read.blocks("term : kind\n   Meaning.\n\n   More.\n") == [
        ("list", "term, kind: Meaning.\nMore.")
    ]
    assert read.blocks(":Author: Ann Bee\n:Empty:\n") == [("list", "Author: Ann Bee\nEmpty")]
    assert read.blocks("-o FILE, --out=FILE  Where to.\n") == [
        ("list", "-o FILE, --out=FILE: Where to.")
    ]


GRID = "+---+-----+\n| A | B   |\n+===+=====+\n| 1 | - x |\n|   | - y |\n+---+-----+\n"
SIMPLE = "=== ===\nA   B\n=== ===\n1   2\n=== ===\n"
LIST = ".. list-table:: Name\n   :header-rows: 1\n   :unheard-of:\n\n   * - A\n     - B\n   * - 1\n     -\n"
CSV = '.. csv-table:: Name\n   :header: "A", "B, C"\n\n   1, "``2``, 3"\n'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (GRID, [("table", "A | B\n1 | x y")]),
        (SIMPLE, [("table", "A | B\n1 | 2")]),
        (".. table:: Name\n\n   === ===\n   A   B\n   === ===\n   1   2\n   === ===\n",
         [("caption", "Name"), ("table", "A | B\n1 | 2")]),
        (LIST, [("caption", "Name"), ("table", "A | B\n1 |")]),
        (CSV, [("caption", "Name"), ("table", "A | B, C\n1 | 2, 3")]),
    ],
)  # fmt: skip
def test_a_table_is_a_line_per_row(
    read: Reading, source: str, expected: list[tuple[BlockKind, str]]
) -> None:
    assert read.blocks(source) == expected


def test_a_figure_shows_its_words_once(read: Reading) -> None:
    source = ".. figure:: a.png\n   :alt: {alt}\n\n   A *cat*.\n\n   It sleeps.\n"
    expected: list[tuple[BlockKind, str]] = [("caption", "A cat."), ("paragraph", "It sleeps.")]
    assert read.blocks(source.format(alt="A cat.")) == expected
    assert read.blocks(source.format(alt="Picture")) == [("caption", "Picture"), *expected]
    assert read.blocks(".. image:: a.png\n   :alt: Robot arm\n") == [("caption", "Robot arm")]


def test_formulas_stay_as_written(read: Reading) -> None:
    assert read.blocks(".. math:: a\n   :label: x\n\n   b\\c\n") == [("formula", "a\n\nb\\c")]
    assert read.blocks("So :math:`\\alpha + 1`.") == [("paragraph", "So $\\alpha + 1$.")]


def test_of_raw_html_only_the_words_are_seen(read: Reading) -> None:
    source = ".. raw:: html\n\n   <!-- no --><style>p {}</style><p>One <b>two</b></p>three\n"
    assert read.blocks(source) == [("paragraph", "One two"), ("paragraph", "three")]
    assert read.blocks(".. raw:: latex\n\n   \\newpage\n") == []


@pytest.mark.parametrize(
    "source",
    [
        ".. a comment\n   of two lines\n",
        ".. redirect-from::\n\n   Old\n",
        ".. index:: word\n",
        ".. meta::\n   :description: x\n",
        ".. _label:\n",
    ],
)
def test_what_no_reader_sees_is_not_there(read: Reading, source: str) -> None:
    document = read(f"Page\n====\n\n{source}\nEnd.\n")
    assert document.text == "Page\n\nEnd."
    assert document.left_out == ()


def test_the_table_of_the_own_headings_is_navigation(read: Reading) -> None:
    document = read("Page\n====\n\n.. contents:: On this page\n   :local:\n\nEnd.\n")
    assert document.text == "Page\n\nEnd."
    assert [(part.reason, part.text) for part in document.left_out] == [
        ("navigation", "On this page")
    ]


@pytest.mark.parametrize("name", ["only", "ifconfig", "container", "class"])
def test_content_under_a_condition_is_kept(read: Reading, name: str) -> None:
    assert read.blocks(f".. {name}:: html\n\n   Words.\n") == [("paragraph", "Words.")]


def test_a_heading_inside_a_directive_is_a_heading(read: Reading) -> None:
    source = ".. only:: html\n\n   Inner\n   -----\n\n   Words.\n"
    assert read.blocks(source) == [("heading", "Inner"), ("paragraph", "Words.")]


def test_an_unknown_directive_keeps_all_its_words(read: Reading) -> None:
    assert read.blocks(".. wonder:: An argument\n   :odd: yes\n\n   Some **content**.\n") == [
        ("paragraph", "An argument"), ("paragraph", "Some content."),
    ]  # fmt: skip


def test_a_signature_is_code(read: Reading) -> None:
    source = ".. py:function:: f(a, b=1)\n              g()\n\n   Adds.\n\n   :param a: first\n"
    assert read.blocks(source) == [
        ("code", "f(a, b=1)\ng()"), ("paragraph", "Adds."), ("list", "param a: first"),
    ]  # fmt: skip


def test_notes_are_numbered_and_kept(read: Reading) -> None:
    source = "See [#]_ and [#b]_ and [Cit]_.\n\n.. [#] One.\n.. [#b] Two.\n.. [Cit] Three.\n"
    assert read.blocks(source) == [
        ("paragraph", "See [1] and [2] and [Cit]."),
        ("paragraph", "[1] One."), ("paragraph", "[2] Two."), ("paragraph", "[Cit] Three."),
    ]  # fmt: skip


def test_substitutions_are_put_in(read: Reading) -> None:
    source = "|a| |c| |icon| |none|\n\n.. |a| replace:: x |b|\n.. |b| replace:: **y**\n"
    source += ".. |c| unicode:: 0xA9\n.. |icon| image:: i.png\n"
    assert read.blocks(source) == [("paragraph", "x y © none")]


def test_lines_and_quotes_keep_their_words(read: Reading) -> None:
    assert read.blocks("| one\n| two\n") == [("paragraph", "one\ntwo")]
    assert read.blocks("Text\n\n   Quoted.\n\n   -- Somebody\n") == [
        ("paragraph", "Text"), ("paragraph", "Quoted."), ("paragraph", "Somebody"),
    ]  # fmt: skip
    assert read.blocks(".. rubric:: Bold *line*\n") == [("paragraph", "Bold line")]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (":kbd:`Ctrl+C` :code:`a\\b` ``c\\d``", "Ctrl+C a\\b c\\d"),
        (":guilabel:`&Save` :menuselection:`File --> Open`", "Save File ‣ Open"),
        (":pep:`8` :rfc:`2822` :pep:`this <8>`", "PEP 8 RFC 2822 this"),
        (":abbr:`LIFO (last in, first out)`", "LIFO (last in, first out)"),
        (":file:`/usr/{name}/x` :download:`the file <a.zip>`", "/usr/name/x the file"),
        (":py:func:`~os.path.join` :class:`!Plain` :cpp:any:`a title <b::c>`", "join Plain a title"),
        (":wonder:`odd <words> here`", "odd <words> here"),
        ("`default` *em* **strong** `link <http://a.b>`_ word_", "default em strong link word_"),
        (":ref:`genindex` :ref:`the search <search>`", "Index the search"),
        (".. role:: mine(code)\n\n:mine:`x y`", "x y"),
    ],
)  # fmt: skip
def test_a_role_shows_its_words(read: Reading, source: str, words: str) -> None:
    assert read.blocks(source) == [("paragraph", words)]


def test_markup_that_is_wrong_keeps_its_words(read: Reading) -> None:
    broken = "+---+\n| a |\n+--\n"
    assert "a" in " ".join(text for _, text in read.blocks(broken))
    assert read.blocks("An *open start and `another\n") == [
        ("paragraph", "An *open start and `another")
    ]
    inconsistent = "A\n-\n\nB\n~\n\nC\n=\n\nD\n~\n\nEnd.\n"
    assert [text for _, text in read.blocks(inconsistent)] == ["A", "B", "C", "D", "End."]


def test_what_one_document_defines_does_not_reach_the_next(read: Reading) -> None:
    read("Page\n====\n\n.. role:: mine(math)\n.. default-role:: math\n.. |a| replace:: x\n\n`b`\n")
    assert read.blocks(":mine:`z` `y` |a|") == [("paragraph", "z y a")]


def test_the_pages_that_sphinx_makes_are_no_broken_links(read: Reading) -> None:
    assert read("Page\n====\n\n:ref:`genindex` and :ref:`gone`\n").links == (Link("gone", ""),)
