"""Sources that want to fill, hang or rob the machine, given to the command as a person would."""

import json
import os
import re
import subprocess
import sys
import time
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.readers.pdf_writer import stream, write_objects
from tests.unit.readers.test_pictures import png

SECONDS = 600  # what hangs, hangs for ever
MEMORY_KB = 700_000  # of which the bundled model and its runtime take about 200,000
GOOD = "The heron waits at the river until a fish comes near."
SECRET = "the key lies under the mat"
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Birds</dc:title></metadata><manifest>{}'
    "</manifest><spine>{}</spine></package>"
)


@dataclass
class Ended:
    """How the command ended, and the most memory it took."""

    code: int
    out: str
    err: str

    @property
    def report(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


@dataclass
class Home:
    """A folder of its own for each run; all but `data` in it must stay as it was."""

    folder: Path

    def ingest(self, source: Path | str) -> Ended:
        before = self._listing()
        environment = os.environ | {
            "BYTHEBOOK_DATA_DIR": str(self.folder / "data"),
            "TMPDIR": str(self.folder),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "bythebook", "ingest", str(source), "--json"]
        out, err = self.folder.parent / "out", self.folder.parent / "err"
        with out.open("w") as stdout, err.open("w") as stderr:
            process = subprocess.Popen(
                [*command, "--book", "b"],
                stdout=stdout, stderr=stderr, env=environment, cwd=self.folder,
            )  # fmt: skip
            peak = _watch(process)
        ended = Ended(process.returncode, out.read_text(), err.read_text())
        assert "Traceback" not in ended.err
        assert peak < MEMORY_KB
        assert self._listing() == before
        return ended

    def _listing(self) -> list[str]:
        paths = (path.relative_to(self.folder) for path in self.folder.rglob("*"))
        return sorted(str(path) for path in paths if path.parts[0] != "data")


def _watch(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process to end in time, and give its own peak of memory."""
    peak, deadline = 0, time.monotonic() + SECONDS
    while process.poll() is None:
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            pytest.fail("it took too long")
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            continue
        if found := re.search(r"VmHWM:\s+(\d+) kB", status):
            peak = int(found.group(1))
        time.sleep(0.02)
    assert peak
    return peak


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


def write_epub(path: Path, pages: dict[str, bytes | str]) -> Path:
    items = "".join(
        f'<item id="p{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(pages)))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("b.opf", PACKAGE.format(items, spine))
        for name, content in pages.items():
            archive.writestr(name, content)
    return path


def xhtml(body: str, before: str = "") -> str:
    return (
        f'<?xml version="1.0"?>{before}<html xmlns="http://www.w3.org/1999/xhtml">'
        f"<head><title>Birds</title></head><body>{body}</body></html>"
    )


def test_a_page_of_one_endless_line_is_skipped_and_the_rest_is_read(home: Home) -> None:
    folder = home.folder / "book"
    folder.mkdir()
    (folder / "good.md").write_text(f"# Birds\n\n{GOOD}\n")
    (folder / "line.md").write_text("# Line\n\n" + "word [link](x) *and* `so on " * 2_000_000)
    report = home.ingest(folder).report
    assert report["chunks"] == 1
    assert [part["name"] for part in report["skipped"]] == ["line.md"]
    assert "line" in report["skipped"][0]["reason"]


def test_a_folder_that_links_to_itself_and_to_others_is_read_once(home: Home) -> None:
    folder, outside = home.folder / "book", home.folder / "private"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text(f"# Secret\n\n{SECRET}\n")
    (folder / "good.md").write_text(f"# Birds\n\n{GOOD}\n")
    (folder / "again").symlink_to(folder)
    (folder / "out").symlink_to(outside)
    (folder / "secret.md").symlink_to(outside / "secret.md")
    os.mkfifo(folder / "pipe.md")
    assert home.ingest(folder).report["chunks"] == 1
    data = b"".join(p.read_bytes() for p in (home.folder / "data").rglob("*.json"))
    assert SECRET.encode() not in data


def test_pictures_formulas_and_links_that_attack_cost_only_themselves(home: Home) -> None:
    book = home.folder / "book"
    book.mkdir()
    (home.folder / "secret.png").write_bytes(png())
    (book / "good.png").write_bytes(png())
    (book / "huge.png").write_bytes(png(10_000, 10_000))
    (book / "fake.png").write_text("<html><script>alert(1)</script></html>")
    (book / "draw.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script><circle r="1"/></svg>'
    )
    pictures = ("good.png", "huge.png", "fake.png", "draw.svg", "../secret.png")
    shown = "\n\n".join(f"![A {name}]({name})" for name in (*pictures, "http://a.test/x.png"))
    bombs = f"$${'{' * 50_000}x{'}' * 50_000}$$\n\n$${'a' * 900_000}$$"
    (book / "page.md").write_text(
        f"# Birds\n\n{GOOD}\n\n{shown}\n\n{bombs}\n\n<a href='javascript:alert(1)'>Go</a>\n"
    )
    report = home.ingest(book).report
    assert {one["target"] for one in report["lost_pictures"]} == {
        "huge.png", "fake.png", "../secret.png", "http://a.test/x.png",
    }  # fmt: skip
    kept = list(home.folder.glob("data/books/b/generations/*/pictures/*"))
    assert sorted(path.suffix for path in kept) == [".png", ".svg"]
    assert not any(b"script" in path.read_bytes() for path in kept)
    (stored,) = home.folder.glob("data/books/b/generations/*/documents/*.json")
    document = json.loads(stored.read_text())
    assert GOOD in document["text"]
    assert not any("javascript" in str(mark) for mark in document["marks"])


def test_an_epub_that_inflates_to_gigabytes_costs_only_that_page(home: Home) -> None:
    page = xhtml(f"<h1>Birds</h1><p>{GOOD}</p>")
    bomb = b"<html><body>" + bytes(60_000_000).replace(b"\0", b" ")
    bombs: dict[str, bytes | str] = {f"bomb{n}.xhtml": bomb * 17 for n in range(2)}
    book = write_epub(home.folder / "birds.epub", {"good.xhtml": page, **bombs})
    report = home.ingest(book).report
    assert report["chunks"] == 1
    assert len(report["skipped"]) == 2
    assert all("decompression bomb" in part["reason"] for part in report["skipped"])


def test_an_epub_reaches_no_file_through_an_entity(home: Home) -> None:
    secret = home.folder / "secret.txt"
    secret.write_text(SECRET)
    entities = (
        f'<!DOCTYPE html [<!ENTITY x SYSTEM "{secret.as_uri()}"><!ENTITY a "ha">'
        + "".join(f'<!ENTITY a{n} "&a{n - 1 or ""};&a{n - 1 or ""};">' for n in range(1, 40))
        + "]>"
    )
    page = xhtml(f"<h1>Birds</h1><p>{GOOD} &x; &a39;</p>", entities)
    assert home.ingest(write_epub(home.folder / "birds.epub", {"p.xhtml": page})).report["chunks"]
    for path in (home.folder / "data").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


def test_a_pdf_that_unpacks_without_end_is_refused(home: Home) -> None:
    packer = zlib.compressobj(9)
    piece = b"BT /F 12 Tf 72 700 Td (x) Tj ET\n" * 32768
    packed = b"".join(packer.compress(piece) for _ in range(500)) + packer.flush()
    book = home.folder / "bomb.pdf"
    book.write_bytes(
        write_objects(
            {
                1: b"<</Type/Catalog/Pages 2 0 R>>",
                2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
                3: b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
                b"/Resources<</Font<</F 5 0 R>>>>>>",
                4: stream(packed).replace(b"/FlateDecode", b"[/FlateDecode/FlateDecode]", 1),
                5: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            }
        )
    )
    assert book.stat().st_size < 3_000_000
    ended = home.ingest(book)
    assert ended.code == 2
    assert "bomb.pdf is a decompression bomb" in ended.err


@pytest.mark.parametrize(
    "address",
    ["http://2130706433/", "http://localhost:9/", "http://[::ffff:127.0.0.1]/", "http://0x7f.1/"],
)
def test_no_private_address_is_read_unless_it_is_allowed(home: Home, address: str) -> None:
    ended = home.ingest(address)
    assert ended.code == 2
    assert len(ended.err.strip().splitlines()) == 2
    assert not (home.folder / "data" / "books" / "b").exists()
