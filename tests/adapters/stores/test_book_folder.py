import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bythebook.adapters.library.book_folder import BookFolder
from bythebook.domain.books import (
    Block,
    Book,
    Cut,
    CutDocument,
    Document,
    LeftOut,
    Link,
    MissingPicture,
    PageMark,
    Section,
    Skipped,
    Unit,
)
from bythebook.domain.marks import (
    Admonition,
    Anchor,
    Cell,
    CodeLines,
    Formula,
    Item,
    LinkMark,
    Note,
    NoteReference,
    Picture,
    Quotation,
    Style,
)
from bythebook.domain.reports import BrokenLink, DocumentReport, IngestReport
from bythebook.errors import (
    BusyBook,
    StoreFailed,
    UnknownBook,
    UnknownDocument,
    UnreadableBook,
)

DRAWING = b"<svg/>"
FILE = f"{hashlib.sha256(DRAWING).hexdigest()}.svg"
PICTURES = {FILE: DRAWING}
DOCUMENT = Document(
    "part/page",
    "A page “quoted” 🤖",
    "Part",
    "A page\n\nSome words.",
    (Block("heading", 0, 6, level=1), Block("paragraph", 8, 19)),
    (Section("A page", "a-page", ("Part", "A page"), 0, 19),),
    "https://book.test/page",
    pages=(PageMark(0, 1, "i"),),
    links=(Link("other.md", "other", "there"),),
    anchors=("here",),
    left_out=(LeftOut("navigation", "Home"),),
    marks=(
        Admonition(0, 19, "tip"), Quotation(0, 19), Note(0, 19, "1"), Anchor(0, 0, "here"),
        LinkMark(8, 12, "https://site.test"), LinkMark(8, 12, "", "other", "there"), Item(8, 12, 1, 2),
        Cell(8, 12, is_head=True, align="right"), Cell(8, 12), CodeLines(8, 12), Style(8, 12, "strong"),
        Formula(8, 12, "<math></math>", display=True), Formula(8, 12), NoteReference(8, 9, "1"),
        Picture(8, 12, FILE, 3, 4, display=True),
    ),
    missing_pictures=(MissingPicture("gone.png", "There is no such file."),),
)  # fmt: skip
CUTS = (Cut(8, 19, 3, (Unit("sentence", 0, 11),), "a | b"),)


def book(book_id: str = "tales", generation: str = "g1") -> Book:
    return Book(book_id, "Tales", generation, "model", 1, 1, 19, "tales", "2026-01-01T00:00:00Z")


def cut(document: Document) -> CutDocument:
    return CutDocument(f"mark of {document}", document, CUTS)


def report(documents: Sequence[Document], *, kept: bool = False) -> IngestReport:
    told = tuple(
        DocumentReport(page.document_id, page.title, 19, 15, {"navigation": 4}, 1, 0.5, kept)
        for page in documents
    )
    return IngestReport(
        "tales", "Tales", "Fake", "tales", 1, 1, 0, 0, 1, 3, 0.0, 1.5, True, told,
        (Skipped("bad.md", "It is torn."),), (BrokenLink("part/page", "gone.md"),), ("A note.",),
    )  # fmt: skip


def publish(folder: BookFolder, wanted: Book, *documents: Document, kept: bool = False) -> None:
    pages = documents or (DOCUMENT,)
    with folder.hold(wanted.book_id) as generations:
        (generations / wanted.generation).mkdir()
        folder.publish(
            wanted, [cut(page) for page in pages], report(pages, kept=kept), PICTURES.get
        )


@pytest.fixture
def folder(tmp_path: Path) -> BookFolder:
    return BookFolder(tmp_path)


def test_a_new_library_is_empty(folder: BookFolder) -> None:
    assert list(folder.books()) == []
    assert not folder.root.exists()


def test_a_published_book_reads_back_as_it_was(folder: BookFolder) -> None:
    publish(folder, book())
    assert folder.book("tales") == book()
    assert folder.documents("tales") == [DOCUMENT]
    assert folder.document("tales", "part/page") == DOCUMENT
    assert folder.cut_documents(book()) == {cut(DOCUMENT).fingerprint: cut(DOCUMENT)}
    assert folder.report("tales") == report([DOCUMENT])


def test_a_generation_from_before_there_were_marks_is_still_read(folder: BookFolder) -> None:
    publish(folder, book(), replace(DOCUMENT, marks=(), missing_pictures=()))
    home = folder.generation_folder(book())
    stored = home / "documents" / "00000.json"
    value = json.loads(stored.read_bytes())
    for name in ("marks", "missing_pictures"):
        del value[name]
    stored.write_text(json.dumps(value))
    told = json.loads((home / "report.json").read_bytes())
    del told["lost_pictures"]
    (home / "report.json").write_text(json.dumps(told))
    (home / "checksums.json").unlink()
    read = BookFolder(folder.root.parent)
    assert read.document("tales", "part/page").marks == ()
    assert read.report("tales").lost_pictures == ()


def changed(words: str, document_id: str = "part/page") -> Document:
    return replace(DOCUMENT, document_id=document_id, text=f"A page\n\n{words}")


def test_the_text_that_a_generation_changes_is_kept_and_can_be_purged(folder: BookFolder) -> None:
    other = changed("Some words.", "other")
    publish(folder, book(), DOCUMENT, other)
    assert folder.older_generations("tales") == []
    publish(folder, book(generation="g2"), changed("New words."), other)
    publish(folder, book(generation="g3"), changed("New words."))
    assert folder.older_generations("tales") == ["g2", "g1"]
    first = folder.older_text("tales", "g1")
    assert first is not None
    assert [one.text for one in first.changed] == [DOCUMENT.text]
    assert first.document_ids == {"part/page", "other"}
    second = folder.older_text("tales", "g2")
    assert second is not None
    assert [one.document_id for one in second.changed] == ["other"]
    (folder.root / "tales" / "older" / "g9.json.partial").write_text("Some words")
    assert folder.purge("tales") == 2
    assert folder.older_text("tales", "g1") is None
    assert "Some words" not in "".join(
        path.read_text("utf-8", "replace") for path in folder.root.rglob("*") if path.is_file()
    )


def test_older_text_is_bounded_and_a_damaged_file_of_it_is_passed_over(tmp_path: Path) -> None:
    noise = random.Random(1)
    texts = [noise.randbytes(400_000).hex() for _ in range(4)]
    folder = BookFolder(tmp_path, older_text_mb=1)
    for number, text in enumerate(texts):
        publish(folder, book(generation=f"g{number}"), changed(text))
    assert folder.older_generations("tales") == ["g2", "g1"]
    for path in folder.root.rglob("*.gz"):
        path.write_bytes(path.read_bytes()[:-40])
    assert folder.older_text("tales", "g2") is None
    nothing = BookFolder(tmp_path, older_text_mb=0)
    publish(nothing, book(generation="g4"), changed("Other words."))
    assert nothing.older_generations("tales") == []


def test_pictures_are_kept_with_a_generation_and_shared_with_the_next(folder: BookFolder) -> None:
    publish(folder, book())
    old = folder.generation_folder(book()) / "pictures" / FILE
    inode = old.stat().st_ino
    publish(folder, book(generation="g2"))
    new = folder.generation_folder(book(generation="g2")) / "pictures" / FILE
    assert new.stat().st_ino == inode
    assert folder.picture("tales", FILE) == DRAWING
    assert folder.damage("tales", deep=True) is None
    new.write_bytes(b"<SVG/>")
    publish(folder, book(generation="g3"))  # a damaged one is read from the source again
    assert folder.picture("tales", FILE) == DRAWING


@pytest.mark.parametrize("file", ["x.svg", "../contents.json", f"{'0' * 64}.png", FILE + ".gz"])
def test_only_pictures_of_the_book_are_given(folder: BookFolder, file: str) -> None:
    publish(folder, book())
    with pytest.raises(UnknownDocument):
        folder.picture("tales", file)


def test_a_picture_that_changes_while_it_is_read_stops_the_run(folder: BookFolder) -> None:
    PICTURES.pop(FILE)
    try:
        with pytest.raises(UnreadableBook, match="changed while"):
            publish(folder, book())
    finally:
        PICTURES[FILE] = DRAWING
    assert not folder.holds("tales")


def test_a_kept_document_shares_its_file_with_the_generation_before(folder: BookFolder) -> None:
    publish(folder, book())
    old = folder.generation_folder(book()) / "documents" / "00000.json"
    inode = old.stat().st_ino
    publish(folder, book(generation="g2"), kept=True)
    new = folder.generation_folder(book(generation="g2")) / "documents" / "00000.json"
    assert new.stat().st_ino == inode
    assert folder.document("tales", "part/page") == DOCUMENT
    assert not old.exists()


def test_a_document_read_again_is_written_again_though_its_mark_is_the_same(
    folder: BookFolder,
) -> None:
    publish(folder, book())
    damaged = folder.generation_folder(book()) / "documents" / "00000.json"
    damaged.write_bytes(b"{")
    publish(folder, book(generation="g2"))
    assert folder.document("tales", "part/page") == DOCUMENT


def test_a_damaged_report_is_a_failed_store(folder: BookFolder) -> None:
    publish(folder, book())
    (folder.generation_folder(book()) / "report.json").write_text("{}")
    with pytest.raises(StoreFailed, match="report"):
        folder.report("tales")


def test_books_are_listed_by_id_and_documents_in_reading_order(folder: BookFolder) -> None:
    pages = [replace(DOCUMENT, document_id=name) for name in ("z", "a", "m")]
    for name in ("zebra", "ant", "mole"):
        publish(folder, book(name), *pages)
    assert [found.book_id for found in folder.books()] == ["ant", "mole", "zebra"]
    assert [page.document_id for page in folder.documents("ant")] == ["z", "a", "m"]


def test_a_new_generation_replaces_the_texts_for_those_who_read_before(folder: BookFolder) -> None:
    publish(folder, book())
    assert folder.document("tales", "part/page").text == DOCUMENT.text
    publish(folder, book(generation="g2"), replace(DOCUMENT, text="Other words, same page."))
    assert folder.document("tales", "part/page").text == "Other words, same page."
    assert [path.name for path in (folder.root / "tales" / "generations").iterdir()] == ["g2"]


def test_what_is_not_there_is_unknown(folder: BookFolder) -> None:
    publish(folder, book())
    with pytest.raises(UnknownBook, match="nothing"):
        folder.book("nothing")
    with pytest.raises(UnknownDocument, match="nothing"):
        folder.document("tales", "nothing")


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/b", "../tales", "Tales", "tales\0", "tales\n", "-tales", "a" * 65]
)
def test_a_name_that_cannot_be_a_books_id_reaches_no_file(folder: BookFolder, name: str) -> None:
    publish(folder, book())
    with pytest.raises(UnknownBook):
        folder.book(name)
    with pytest.raises(UnknownBook), folder.hold(name):
        pytest.fail("held a book of a bad name")
    assert [path.name for path in folder.root.iterdir()] == ["tales"]


def test_a_document_id_is_a_name_and_never_a_path(folder: BookFolder) -> None:
    publish(folder, book())
    for name in ("../../current.json", "documents/00000.json", "\0", "/etc/passwd", "x" * 9999):
        with pytest.raises(UnknownDocument):
            folder.document("tales", name)


def test_a_held_book_is_busy_and_free_again_after(folder: BookFolder, tmp_path: Path) -> None:
    other = BookFolder(tmp_path)
    with folder.hold("tales"):
        with pytest.raises(BusyBook, match="tales"), other.hold("tales"):
            pytest.fail("held twice")
        with other.hold("another"):
            pass
    with other.hold("tales"):
        pass


def test_the_hold_of_a_dead_process_ends_with_it(folder: BookFolder, tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from bythebook.adapters.library.book_folder import BookFolder\n"
        "with BookFolder(Path(sys.argv[1])).hold('tales'): os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], timeout=300, check=False)
    assert done.returncode == 9
    with folder.hold("tales") as generations:
        assert generations.is_dir()


def test_holding_sweeps_what_a_killed_run_left(folder: BookFolder) -> None:
    publish(folder, book())
    (folder.root / "tales" / "generations" / "half-made" / "shard").mkdir(parents=True)
    with folder.hold("tales") as generations:
        assert [path.name for path in generations.iterdir()] == ["g1"]


def test_removing_a_book_removes_all_of_it(folder: BookFolder) -> None:
    publish(folder, book())
    publish(folder, book("other"))
    folder.remove("tales")
    assert [path.name for path in folder.root.iterdir()] == ["other"]
    with pytest.raises(UnknownBook):
        folder.remove("tales")
    publish(folder, book())  # and it can come back
    assert folder.document("tales", "part/page") == DOCUMENT


def test_a_busy_book_is_not_removed(folder: BookFolder, tmp_path: Path) -> None:
    publish(folder, book())
    with BookFolder(tmp_path).hold("tales"), pytest.raises(BusyBook):
        folder.remove("tales")
    assert folder.book("tales") == book()


DAMAGED = ["", "{", "[]", "null", '{"book_id": "tales"}', '{"surprise": 1}', "\x00\x00"]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_pointer_is_a_failed_store(folder: BookFolder, content: str) -> None:
    publish(folder, book())
    (folder.root / "tales" / "current.json").write_text(content)
    for read in (folder.books, lambda: folder.book("tales"), lambda: folder.documents("tales")):
        with pytest.raises(StoreFailed, match="tales") as caught:
            read()
        assert "Ingest" in caught.value.help_message


def test_a_book_with_a_damaged_pointer_can_be_removed(folder: BookFolder) -> None:
    publish(folder, book())
    (folder.root / "tales" / "current.json").write_text("{")
    folder.remove("tales")
    assert not (folder.root / "tales").exists()
    assert list(folder.books()) == []


def test_a_damaged_pointer_is_put_right_by_publishing_again(folder: BookFolder) -> None:
    publish(folder, book())
    (folder.root / "tales" / "current.json").write_bytes(b"\xff\xfe")
    publish(folder, book(generation="g2"))
    assert folder.book("tales").generation == "g2"
    assert [path.name for path in (folder.root / "tales" / "generations").iterdir()] == ["g2"]


@pytest.mark.parametrize("name", ["contents.json", "documents/00000.json"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff", b'{"a": 1}', b"[1]"])
def test_damaged_texts_are_a_failed_store(
    folder: BookFolder, name: str, content: bytes | None
) -> None:
    publish(folder, book())
    file = folder.generation_folder(book()) / name
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(StoreFailed):
        folder.document("tales", "part/page")
    with pytest.raises(StoreFailed):
        folder.documents("tales")


def test_a_reader_never_sees_half_a_pointer(folder: BookFolder, tmp_path: Path) -> None:
    """Replacing a file is one step: whoever opened the old one reads it to its end."""
    publish(folder, book())
    pointer = folder.root / "tales" / "current.json"
    with pointer.open() as old:
        inode = os.fstat(old.fileno()).st_ino
        publish(folder, book(generation="g2"))
        assert json.load(old)["generation"] == "g1"
    assert pointer.stat().st_ino != inode
    assert not list(tmp_path.rglob("*.partial"))
