"""Folders of reStructuredText as books: order, chapters, addresses, references, parts."""

from pathlib import Path

import pytest

from bythebook.adapters.readers.rst.reader import RstReader
from bythebook.domain.books import Document, Link, SourceBook
from bythebook.errors import UnreadableBook


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def page(title: str, body: str = "Words.") -> str:
    return f"{title}\n{'=' * len(title)}\n\n{body}\n"


def toctree(*entries: str, options: str = "") -> str:
    return f".. toctree::\n{options}\n" + "".join(f"   {entry}\n" for entry in entries)


def read(folder: Path, base_url: str | None = None) -> SourceBook:
    return RstReader().read(str(folder), title=None, base_url=base_url)


def documents(folder: Path, base_url: str | None = None) -> dict[str, Document]:
    return {d.document_id: d.read() for d in read(folder, base_url).documents}


def marks(folder: Path) -> dict[str, str]:
    return {d.document_id: d.fingerprint for d in read(folder).documents}


BOOK = {
    "index.rst": page("My Book", toctree("guide/index", "Named <zebra>") + "\n" + toctree(
        "extra/*", options="   :glob:\n   :hidden:\n")),
    "zebra.rst": page("Zebra", toctree("deep.rst")),
    "deep.rst": page("Deep"),
    "guide/index.rst": page("Guide", toctree("two", "one", "/zebra")),
    "guide/one.rst": page("One"),
    "guide/two.rst": page("Two"),
    "guide/unlisted.rst": page("Unlisted"),
    "extra/b.rst": page("B"),
    "extra/a.rst": page("A"),
    "alone.rst": ":orphan:\n\n" + page("Alone"),
}  # fmt: skip


def test_the_tables_of_contents_give_order_and_chapters(tmp_path: Path) -> None:
    write(tmp_path, BOOK)
    found = documents(tmp_path, "https://book.test/en")
    assert [(name, d.chapter) for name, d in found.items()] == [
        ("index", "My Book"),
        ("guide/index", "Guide"),
        ("guide/two", "Guide"),
        ("guide/one", "Guide"),
        ("zebra", "Guide"),
        ("deep", "Guide"),
        ("extra/a", "A"),
        ("extra/b", "B"),
        ("alone", "Alone"),
        ("guide/unlisted", "Guide"),
    ]
    assert found["guide/index"].url == "https://book.test/en/guide/index.html"
    assert found["alone"].text == "Alone\n\nWords."


def test_a_project_is_found_below_its_folder_and_named_by_its_configuration(
    tmp_path: Path,
) -> None:
    conf = "import nowhere\nproject = 'The Project'\nraise SystemExit\n"
    conf += "exclude_patterns = ['drafts', '**/_*.rst']\nhtml_baseurl = 'https://own.test'\n"
    names = ("index", "drafts/a", "part/_b", "part/c")
    write(tmp_path / "docs", {f"{name}.rst": page(name) for name in names} | {"conf.py": conf})
    book = read(tmp_path)
    assert (book.title, book.reader, book.base_url) == (
        "The Project", "Sphinx", "https://own.test/",
    )  # fmt: skip
    assert [d.document_id for d in book.documents] == ["index", "part/c"]


def test_a_plain_folder_is_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, {"b.rst": page("B"), "a.rst": page("A")})
    book = read(tmp_path)
    assert book.reader == "reStructuredText"
    assert [d.document_id for d in book.documents] == ["a", "b"]


def test_the_toctree_is_navigation_and_its_links_are_kept(tmp_path: Path) -> None:
    shown = toctree("a", "gone", "https://x.test", options="   :caption: Parts\n")
    write(tmp_path, {"index.rst": page("Top", shown), "a.rst": page("A page")})
    index = documents(tmp_path)["index"]
    assert index.text == "Top"
    assert [part.text for part in index.left_out] == ["Parts", "A page"]
    assert index.links == (Link("a", "a"), Link("gone", ""))
    assert any("gone" in warning for warning in read(tmp_path).warnings)


REFERRING = """See :doc:`sub/b`, :doc:`the B <sub/b>`, :doc:`/sub/b`, :doc:`gone`,
:ref:`here <Lab_el>`, :ref:`lab_el`, :ref:`fig`, :ref:`nowhere`, :term:`API`,
`page <sub/b.html#second>`_, `lost <lost.html>`__, `out <../other/x.html>`__, `web <https://x.test/y.html>`_.
"""
REFERRED = page("The *B* page", """.. _Lab_el:

Second part
-----------

Words.

.. _fig:

.. figure:: x.png

   A figure.

.. glossary::

   API
   Interface
      What programs call.
""")  # fmt: skip


def test_references_show_the_titles_of_what_they_lead_to(tmp_path: Path) -> None:
    write(tmp_path, {"a.rst": page("A", REFERRING), "sub/b.rst": REFERRED})
    found = documents(tmp_path)
    assert found["a"].text.split("\n\n")[1] == (
        "See The B page, the B, The B page, gone, here, Second part, A figure., nowhere, API, "
        "page, lost, out, web."
    )
    assert found["a"].links == (
        Link("sub/b", "sub/b"),
        Link("/sub/b", "sub/b"),
        Link("gone", ""),
        Link("Lab_el", "sub/b", "lab-el"),
        Link("lab_el", "sub/b", "lab-el"),
        Link("fig", "sub/b", "fig"),
        Link("nowhere", ""),
        Link("API", "sub/b", "term-API"),
        Link("sub/b.html#second", "sub/b", "second"),
        Link("lost.html", ""),
    )
    anchors = {s.anchor for s in found["sub/b"].sections} | set(found["sub/b"].anchors)
    assert {"lab-el", "fig", "term-API", "term-Interface", "second-part"} <= anchors
    assert "API, Interface: What programs call." in found["sub/b"].text


def test_an_escaped_bracket_is_a_word_of_a_label(tmp_path: Path) -> None:
    label = r".. _`Via \<T\>`:"
    write(tmp_path, {"a.rst": page("A", r":ref:`Via \<T\>`"), "b.rst": f"{label}\n\n{page('B')}"})
    a = documents(tmp_path)["a"]
    assert (a.text, a.links) == ("A\n\nB", (Link("Via <T>", "b", "via-t"),))
    before = marks(tmp_path)["a"]
    write(tmp_path, {"b.rst": f"{label}\n\n{page('C')}"})
    assert marks(tmp_path)["a"] != before


def test_a_name_inside_a_document_is_a_link_or_broken(tmp_path: Path) -> None:
    body = "`Here`_, target_, web_, none_, `there`__.\n\n.. _target:\n\nText.\n\n.. _web: https://x.test\n"
    write(tmp_path, {"a.rst": page("A", f"{body}\n__ gone.html\n\nHere\n----\n\nx\n")})
    document = documents(tmp_path)["a"]
    assert document.links == (
        Link("#here", "a", "here"), Link("#target", "a", "target"), Link("none", ""),
        Link("gone.html", ""),
    )  # fmt: skip
    assert "Here, target, web, none_, there." in document.text


def test_included_text_is_part_of_the_document_and_no_document(tmp_path: Path) -> None:
    body = "* .. include:: _word.txt\n\n  .. include:: _part.rst\n     :start-after: begin\n     :end-before: end\n"
    body += "\n::\n\n   .. include:: _part.rst\n\n.. .. include:: gone.rst\n"
    body += "\n.. code-block:: rst\n\n   .. include:: gone.rst\n\n   .. wonder:: x\n"
    part = "no\n\n.. begin\n\nIn **part**.\n\n.. _label:\n\nSub\n---\n\n.. end\n\nnot\n"
    write(tmp_path, {"a.rst": page("A", body + "\nSee :ref:`label`.\n"), "_part.rst": part})
    write(tmp_path, {"_word.txt": "Item"})
    found = documents(tmp_path)
    assert list(found) == ["a"]
    assert "Item\nIn part." in found["a"].text
    assert ".. include:: _part.rst" in found["a"].text
    assert "not" not in found["a"].text
    assert "See Sub." in found["a"].text
    assert read(tmp_path).warnings == ()


CODE = "one\n# start\ndef f():\n    two\n# stop\nthree\n"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", CODE.strip()),
        ("   :lines: 1,3-4\n", "one\ndef f():\n    two"),
        ("   :lines: 4-\n   :dedent: 4\n", "    two\n# stop\nthree"),
        ("   :start-after: start\n   :end-before: stop\n", "def f():\n    two"),
        ("   :start-at: start\n   :end-at: stop\n", "# start\ndef f():\n    two\n# stop"),
        ("   :pyobject: f\n", "def f():\n    two"),
    ],
)
def test_included_code_is_the_chosen_lines(tmp_path: Path, options: str, expected: str) -> None:
    body = f".. literalinclude:: x.py\n   :language: python\n{options}"
    write(tmp_path, {"a.rst": page("A", body), "x.py": CODE})
    document = documents(tmp_path)["a"]
    (block,) = (block for block in document.blocks if block.kind == "code")
    assert (document.text[block.start : block.end], block.language) == (expected, "python")


def test_a_missing_include_is_reported(tmp_path: Path) -> None:
    body = ".. include:: gone.rst\n\n.. literalinclude:: ../secret.txt\n"
    (tmp_path.parent / "secret.txt").write_text("secret")
    write(tmp_path, {"a.rst": page("A", body)})
    book = read(tmp_path)
    assert [w.split("includes ")[1] for w in book.warnings] == [
        "gone.rst, which does not exist.", "../secret.txt, which does not exist.",
    ]  # fmt: skip
    assert book.documents[0].read().text == "A"


def test_files_that_only_include_each_other_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"a.rst": ".. include:: b.rst\n", "b.rst": ".. include:: a.rst\n"})
    with pytest.raises(UnreadableBook, match="is included by another one"):
        read(tmp_path)


def test_an_unknown_directive_is_reported_once(tmp_path: Path) -> None:
    files = {f"{n}.rst": page(n, ".. wonder:: x\n\n.. wonder:: y\n") for n in "ab"}
    write(tmp_path, files | {"c.rst": page("c", ".. autoclass:: d.E\n\n::\n\n   .. shown:: z\n")})
    book = read(tmp_path)
    assert len(book.warnings) == 2
    assert any("autoclass" in warning for warning in book.warnings)
    assert any("wonder" in w and "2 documents" in w for w in book.warnings)


def test_the_configuration_gives_words_to_the_text(tmp_path: Path) -> None:
    conf = """
macros = {'DISTRO': 'jazzy'}
version = '2.1'
rst_prolog = ".. |product| replace:: The Thing"
extlinks = {'issue': ('https://x.test/%s', 'issue %s')}
"""
    body = "ros-{DISTRO} |product| |version| :issue:`7` :issue:`that <8>`"
    write(tmp_path, {"index.rst": page("A", body), "conf.py": conf})
    assert documents(tmp_path)["index"].text == "A\n\nros-jazzy The Thing 2.1 issue 7 that"


@pytest.mark.parametrize(
    ("changed", "text", "expected"),
    [
        ("b.rst", page("New title"), {"a", "b"}),
        ("b.rst", page("B", "Other words."), {"b"}),
        ("_part.rst", "Other part.\n", {"a"}),
        ("new.html.rst", page("x"), {"new.html"}),
        ("gone.rst", page("x"), {"a", "gone"}),
        ("conf.py", "version = '2'\n", {"a", "b"}),
    ],
)
def test_a_fingerprint_changes_with_all_that_its_document_takes(
    tmp_path: Path, changed: str, text: str, expected: set[str]
) -> None:
    body = "See :doc:`b` and `that <gone.html>`__.\n\n.. include:: _part.rst\n"
    write(tmp_path, {"a.rst": page("A", body), "b.rst": page("B"), "_part.rst": "Part.\n"})
    before = marks(tmp_path)
    assert marks(tmp_path) == before
    write(tmp_path, {changed: text})
    after = marks(tmp_path)
    assert {name for name in after if after[name] != before.get(name)} == expected


def test_a_single_file_is_a_book(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text(page("One file"))
    book = RstReader().read(str(path), title=None, base_url="https://x.test/one")
    assert (book.title, book.documents[0].document_id) == ("One file", "one")
    assert book.documents[0].read().url == "https://x.test/one"


@pytest.mark.parametrize("name", ["gone", "empty", "a.png"])
def test_what_is_no_book_is_told_with_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    with pytest.raises(UnreadableBook) as caught:
        read(tmp_path / name)
    assert caught.value.help_message
