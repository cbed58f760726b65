"""Files made to break the reader are limited, reported, and do not affect the rest of the book."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from docutils.parsers.rst import directives, roles

from bythebook.adapters.readers.rst.files import RST_BOUNDS, RstBounds
from bythebook.adapters.readers.rst.reader import RstReader
from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook


def read(folder: Path, bounds: RstBounds = RST_BOUNDS) -> SourceBook:
    return RstReader(bounds).read(str(folder), title=None, base_url=None)


def test_files_that_are_no_text_are_skipped_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "good.rst").write_text("Good\n====\n")
    (tmp_path / "binary.rst").write_bytes(b"\x00\x01")
    (tmp_path / "latin.rst").write_bytes("é".encode("latin-1"))
    (tmp_path / "large.rst").write_text("word\n" * 1000)
    (tmp_path / "line.rst").write_text("w" * 1001)
    book = read(tmp_path, RstBounds(file_bytes=3000, line_length=1000))
    assert [d.document_id for d in book.documents] == ["good"]
    assert [s.name for s in book.skipped] == [
        "binary.rst", "large.rst", "latin.rst", "line.rst",
    ]  # fmt: skip
    assert all(s.reason for s in book.skipped)


def test_nothing_outside_of_the_folder_is_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret.rst"
    secret.write_text("Secret\n======\n")
    book = tmp_path / "book"
    book.mkdir()
    (book / "link.rst").symlink_to(secret)
    (book / "part.txt").symlink_to(secret)
    absolute = f".. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n"
    body = f".. include:: part.txt\n\n.. literalinclude:: ../secret.rst\n\n{absolute}"
    body += f"\n.. csv-table::\n   :file: {secret}\n\n.. raw:: html\n   :url: file://{secret}\n"
    (book / "a.rst").write_text(f"A\n=\n\n{body}")
    found = read(book)
    assert [d.document_id for d in found.documents] == ["a"]
    assert "Secret" not in found.documents[0].read().text
    assert [s.name for s in found.skipped] == ["link.rst"]


def test_the_configuration_is_never_run(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nproject = 'P'\nmacros = {{1: [}}\n"
    )
    (tmp_path / "index.rst").write_text("A\n=\n")
    assert len(read(tmp_path).documents) == 1
    assert not (tmp_path / "ran").exists()


def test_a_file_that_includes_itself_is_put_in_once(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("A\n=\n\nWords.\n\n.. include:: b.txt\n")
    (tmp_path / "b.txt").write_text("Part.\n\n.. include:: b.txt\n")
    book = read(tmp_path)
    assert book.documents[0].read().text == "A\n\nWords.\n\nPart."
    assert any("itself" in warning for warning in book.warnings)


def test_parts_of_parts_cannot_grow_without_bound(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("A\n=\n\n" + ".. include:: p0.txt\n\n" * 10)
    for depth in range(9):
        part = f"word {depth}\n\n" + f".. include:: p{depth + 1}.txt\n\n" * 10
        (tmp_path / f"p{depth}.txt").write_text(part)
    started = time.process_time()
    book = read(tmp_path)
    assert len(book.documents[0].read().text) < 10_000_000
    assert any("too much" in warning for warning in book.warnings)
    assert time.process_time() - started < 120  # without a bound it takes for ever


@pytest.mark.parametrize(
    "text",
    [
        "- " * 3000 + "x\n",
        "".join("   " * depth + ".. note::\n\n" for depth in range(300)) + "   " * 300 + "x\n",
    ],
)
def test_deep_nesting_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.rst").write_text(text)
    (tmp_path / "b.rst").write_text("B\n=\n\nFine.\n")
    deep, fine = read(tmp_path).documents
    with pytest.raises(UnreadableBook, match="nested too deeply"):
        deep.read()
    assert fine.read().text == "B\n\nFine."


@pytest.mark.parametrize(
    "text",
    [
        "*a " * 300_000,
        "`a " * 300_000,
        ":a" * 400_000 + "`x`",
        " " * 900_000 + "x",
        ":" * 900_000 + "\n====\n",
        ("+" + "-+" * 300 + "\n|" + "a|" * 300 + "\n") * 400 + "+" + "-+" * 300 + "\n",
        ".. raw:: html\n\n   " + "<a " * 200_000,
        "\n" * 300_000,
    ],
)
def test_tangled_text_takes_bounded_time_and_keeps_its_words(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.rst").write_text(f"{text}\n\nLast word.\n")
    started = time.process_time()
    assert "Last word." in read(tmp_path).documents[0].read().text
    assert time.process_time() - started < 120  # quadratic work takes hours


def test_substitutions_of_substitutions_are_bounded(tmp_path: Path) -> None:
    chain = "".join(f".. |a{n}| replace:: {f'|a{n + 1}| ' * 10}\n" for n in range(30))
    (tmp_path / "a.rst").write_text(f"A\n=\n\n|a0| end\n\n{chain}.. |a30| image:: x.png\n")
    assert len(read(tmp_path).documents[0].read().text) < 5_000_000


def test_a_parse_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "a.rst").write_text("A\n=\n\nWords.\n")
    with pytest.raises(UnreadableBook, match="longer than"):
        read(tmp_path, RstBounds(parse_seconds=0.0)).documents[0].read()


def test_documents_read_at_once_do_not_mix(tmp_path: Path) -> None:
    for number in range(24):
        body = f".. role:: r{number}\n\n.. tabs::\n\n   .. tab:: T{number}\n\n      * :r{number}:`w{number}`\n"
        (tmp_path / f"p{number:02}.rst").write_text(f"P{number}\n====\n\n{body * 20}")
    alone = [d.read().text for d in read(tmp_path).documents]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda d: d.read().text, read(tmp_path).documents))
    assert together == alone


def test_docutils_itself_is_left_as_it_was(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = vars(directives)["_directives"], vars(roles)["_roles"]
    before = [dict(names) for names in kept]
    (tmp_path / "a.rst").write_text(
        ".. role:: x\n\n.. default-role:: code\n\n.. tabs::\n\n   a\n\n:x:`y` `unclosed\n\n===\nbad\n"
    )
    read(tmp_path).documents[0].read()
    assert list(kept) == before
    assert capfd.readouterr() == ("", "")
