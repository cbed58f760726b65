"""AsciiDoc books: includes, conditions, blocks and inline markup."""

from pathlib import Path

import pytest
from tests.unit.readers.markdown.dialect_books import list_kinds, make, read, read_pages

MAIN = """= The Book of Birds
Ann Gray; Bo Gray
:doctype: book
:bird: grey heron

ifdef::backend-pdf[include::paper.adoc[]]
ifndef::backend-pdf[]
include::chapters/herons.adoc[]
endif::[]

include::chapters/nests.adoc[leveloffset=+1]

include::../outside.adoc[]
"""
HERONS = """[[herons]]
== Herons

(((herons, grey)))The {bird} ((stands)) *still* -- in `shallow_water`, _always_; see <<nests>>,
<<where,the place>> and https://marsh.test[the marsh^].
// a comment
NOTE: Be quiet.

[WARNING]
.Mind
====
Deep `++**++` water.

* one
** inner
+
----
code <1>
----
* two
====

.heron.py
[source,python]
----
import marsh  # <1>
== not a heading
include::code.py[tag=wings]
----
<1> The marsh.

.Sizes
[cols="1,2",options="header"]
|===
|bird |size
|heron
|90 cm \\| tall
2+|both
|===

bill:: a beak
wing:: a limb
+
with feathers

image::heron.png[A heron,300]

....
  plain text
....

[quote, Ann Gray]
____
Wait.
____
"""
NESTS = "[[nests]]\n= Nests\n\n[[where]]\n== Where\n\nHigh.footnote:[Or low.] stem:[x^2]\n"
CODE = "a = 1\n# tag::wings[]\nwings = 2\n# end::wings[]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "outside.adoc").write_text("Stolen words.", "utf-8")
    files = {
        "book.adoc": MAIN, "chapters/herons.adoc": HERONS, "chapters/nests.adoc": NESTS,
        "chapters/code.py": CODE, "paper.adoc": "Only on paper.\n", "README.adoc": "= About\n",
    }  # fmt: skip
    return make(tmp_path / "book", files)


def test_a_main_file_is_divided_into_its_chapters(folder: Path) -> None:
    book = read(folder)
    pages = [document.read() for document in book.documents]
    assert (book.reader, book.title) == ("AsciiDoc", "The Book of Birds")
    assert [(page.document_id, page.title) for page in pages] == [
        ("herons", "Herons"), ("nests", "Nests"),
    ]  # fmt: skip
    assert pages[0].url == "https://book.test/book.html"
    assert [section.anchor for section in pages[1].sections] == ["", "where"]
    assert any("../outside.adoc" in warning for warning in book.warnings)


def test_blocks_and_inline_markup_are_read(folder: Path) -> None:
    pages = read_pages(folder)
    assert list_kinds(pages["herons"]) == [
        ("heading", "Herons"),
        (
            "paragraph",
            """The grey heron stands still — in shallow_water, always; see Nests, the place and the marsh. \
NOTE: Be quiet.""",
        ),
        ("paragraph", "Mind"),
        ("paragraph", "Deep ** water."),
        ("list", "one\ninner"),
        ("code", "code (1)"),
        ("list", "two"),
        ("caption", "heron.py"),
        ("code", "import marsh (1)\n== not a heading\nwings = 2"),
        ("list", "The marsh."),
        ("paragraph", "Sizes"),
        ("table", "bird | size\nheron | 90 cm | tall\nboth"),
        ("list", "bill\na beak\nwing\na limb\nwith feathers"),
        ("caption", "A heron"),
        ("code", "  plain text"),
        ("paragraph", "Wait."),
        ("paragraph", "— Ann Gray"),
    ]
    assert pages["nests"].text == "Nests\n\nWhere\n\nHigh. (Or low.) $x^2$"
    assert [link.document_id for link in pages["herons"].links] == ["nests", "nests"]


def test_a_folder_of_pages_follows_its_navigation(tmp_path: Path) -> None:
    files = {
        "antora.yml": "name: birds\ntitle: Birds\n",
        "modules/ROOT/nav.adoc": "* xref:herons.adoc[Herons]\n** xref:nests.adoc[]\n* xref:index.adoc[Home]\n",
        "modules/ROOT/pages/index.adoc": "= Home\n\nText.\n",
        "modules/ROOT/pages/nests.adoc": "= Nests\n\nSee xref:herons.adoc[].\n",
        "modules/ROOT/pages/herons.adoc": "= Herons\n\nText.\n",
    }
    book = read(make(tmp_path, files))
    pages = [document.read() for document in book.documents]
    assert book.title == "Birds"
    assert [page.title for page in pages] == ["Herons", "Nests", "Home"]
    assert pages[1].chapter == "Herons"
    assert pages[1].text == "Nests\n\nSee Herons."


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    files = {
        "a.adoc": "= A\n\n== One\n\ninclude::b.adoc[]\ninclude::c.adoc[]\n",
        "b.adoc": "Words.\n\ninclude::b.adoc[]\ninclude::c.adoc[]\n",
        "c.adoc": "More.\n\ninclude::b.adoc[]\n",
    }
    book = read(make(tmp_path, files))
    assert "Words." in book.documents[0].read().text
    assert any("which does not exist" in warning for warning in book.warnings)
