"""PDFs that want to hang, crash or fill the machine: refused or skipped, with a reason."""

import os
import resource
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.unit.readers.pdf_writer import PdfWriter, stream, write_objects

from bythebook.adapters.readers.pdf.process import Limits, extract
from bythebook.adapters.readers.pdf.reader import PdfReader
from bythebook.bootstrap import Core
from bythebook.domain.books import SourceBook
from bythebook.errors import UnreadableBook
from bythebook.settings import Settings

PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Resources<</Font<</F 6 0 R>>>>>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
WORDS = b"BT /F 12 Tf 72 700 Td (The harbour master kept a ledger of every vessel.) Tj ET"
LONGEST_SECONDS = 300  # what hangs, hangs for ever
MOST_MEMORY_BYTES = 250_000_000


@pytest.fixture(autouse=True)
def _bounded() -> Iterator[None]:
    """Every one of these must end soon, leave no process behind and not fill this one."""
    started, filled = time.monotonic(), _most_memory()
    yield
    assert time.monotonic() - started < LONGEST_SECONDS
    assert _children() == []
    assert _most_memory() - filled < MOST_MEMORY_BYTES


def _most_memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _children() -> list[str]:
    """Name the extracting processes that are still there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
        except OSError:
            continue
        if b"readers.pdf.extract" in command and int(parent) in (os.getpid(), 1):
            found.append(folder.name)
    return found


def _read(path: Path) -> SourceBook:
    return PdfReader().read(str(path), title=None, base_url=None)


def _file(folder: Path, content: bytes) -> Path:
    path = folder / "book.pdf"
    path.write_bytes(content)
    return path


def _one_page(contents: bytes, page: bytes = PAGE, pages: bytes = b"") -> bytes:
    tree = pages or b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
    return write_objects({1: CATALOG, 2: tree, 3: page, 5: contents, 6: FONT})


def _pack_twice(piece: bytes, megabytes: int) -> bytes:
    """Give a stream object of a few kilobytes that unpacks to many megabytes."""
    packer = zlib.compressobj(9)
    block = piece * (1_000_000 // len(piece))
    once = b"".join([packer.compress(block) for _ in range(megabytes)]) + packer.flush()
    twice = zlib.compress(once, 9)
    head = f"<</Length {len(twice)}/Filter[/FlateDecode/FlateDecode]>>stream\n".encode()
    return head + twice + b"\nendstream"


def _text(book: SourceBook) -> str:
    return "\n".join(document.read().text for document in book.documents)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"<html>not a book</html>", "not a PDF"),
        (b"%PDF-1.7\n" + os.urandom(50_000), "damaged"),
        (b"%PDF-1.7\n%%EOF", "damaged"),
    ],
)
def test_a_file_that_is_no_pdf_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(UnreadableBook, match=says) as refused:
        _read(_file(tmp_path, content))
    assert refused.value.help_message


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableBook, match="There is no PDF"):
        _read(tmp_path / "none.pdf")


def test_a_file_cut_off_in_the_middle_is_refused(tmp_path: Path) -> None:
    writer = PdfWriter()
    for number in range(20):
        writer.page().lines(72, 700, [f"Page {number} of the book has a few lines."] * 20)
    whole = writer.save(tmp_path / "whole.pdf").read_bytes()
    with pytest.raises(UnreadableBook, match="damaged") as refused:
        _read(_file(tmp_path, whole[: len(whole) // 2]))
    assert "bomb" not in str(refused.value)


def test_a_password_is_asked_for_by_name(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    source = _file(tmp_path, _one_page(stream(WORDS)))
    writer = pypdf.PdfWriter(clone_from=source)
    writer.encrypt(user_password="secret", algorithm="RC4-128")
    locked = tmp_path / "locked.pdf"
    writer.write(locked)
    with pytest.raises(UnreadableBook, match="password") as refused:
        _read(locked)
    assert "qpdf" in refused.value.help_message


def test_a_book_locked_only_against_changes_is_read(tmp_path: Path) -> None:
    pypdf = pytest.importorskip("pypdf")
    writer = pypdf.PdfWriter(clone_from=_file(tmp_path, _one_page(stream(WORDS))))
    writer.encrypt(user_password="", owner_password="owner", algorithm="RC4-128")
    locked = tmp_path / "locked.pdf"
    writer.write(locked)
    assert "The harbour master" in _text(_read(locked))


def test_a_scan_without_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    picture = stream(
        b"\xff" * 10_000,
        "/Type/XObject/Subtype/Image/Width 100/Height 100/BitsPerComponent 8/ColorSpace/DeviceGray",
    )
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R/Resources<</XObject<</I 7 0 R>>>>>>"
    content = write_objects(
        {
            1: CATALOG,
            2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            3: page,
            5: stream(b"600 0 0 700 0 0 cm /I Do"),
            7: picture,
        }
    )
    with pytest.raises(UnreadableBook, match="no text layer") as refused:
        _read(_file(tmp_path, content))
    assert "ocrmypdf" in refused.value.help_message


def test_pages_that_are_pictures_are_counted(tmp_path: Path) -> None:
    picture = stream(
        b"\xff" * 10_000,
        "/Type/XObject/Subtype/Image/Width 100/Height 100/BitsPerComponent 8/ColorSpace/DeviceGray",
    )
    scan = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 8 0 R/Resources<</XObject<</I 7 0 R>>>>>>"
    content = write_objects(
        {
            1: CATALOG, 2: b"<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 9 0 R]>>", 3: PAGE, 4: scan, 5: stream(WORDS),
            6: FONT, 7: picture, 8: stream(b"600 0 0 700 0 0 cm /I Do"), 9: scan,
        }
    )  # fmt: skip
    book = _read(_file(tmp_path, content))
    assert "The harbour master" in _text(book)
    assert any("2 of 3 pages are images" in warning for warning in book.warnings)


def _with_font(font: bytes) -> dict[int, bytes]:
    tree = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
    return {1: CATALOG, 2: tree, 3: PAGE, 5: stream(WORDS), 6: font}


def _bomb_in_contents() -> bytes:
    return _one_page(_pack_twice(b" ", 1500))


def _bomb_in_many_contents() -> bytes:
    shared = PAGE.replace(b"5 0 R/Res", b"[" + b"5 0 R " * 20 + b"]/Res")
    return _one_page(_pack_twice(b" ", 100), shared)


def _bomb_in_a_character_map() -> bytes:
    font = FONT.replace(b">>", b"/ToUnicode 7 0 R>>")
    return write_objects({**_with_font(font), 7: _pack_twice(b"<0041> <0042> ", 1200)})


def _bomb_in_graphics_states() -> bytes:
    return _one_page(_pack_twice(b"q ", 300))


PEAK = """
import resource, sys
from pathlib import Path
from bythebook.adapters.readers.pdf.process import Limits
from bythebook.adapters.readers.pdf.reader import PdfReader
from bythebook.errors import UnreadableBook

try:
    PdfReader(Limits(memory_bytes=int(sys.argv[2]))).read(sys.argv[1], title=None, base_url=None)
except UnreadableBook as refused:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, refused.what)
"""


@pytest.mark.parametrize("megabytes", [Limits().memory_bytes >> 20, 256])
@pytest.mark.parametrize(
    "bomb",
    [
        _bomb_in_contents,
        _bomb_in_many_contents,
        _bomb_in_a_character_map,
        _bomb_in_graphics_states,
    ],
)
def test_a_bomb_is_called_one_and_stays_within_the_memory_that_is_set(
    tmp_path: Path, bomb: Callable[[], bytes], megabytes: int
) -> None:
    path = _file(tmp_path, bomb())
    size = path.stat().st_size
    assert size < 10_000
    command = [sys.executable, "-c", PEAK, str(path), str(megabytes << 20)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    peak, _, what = done.stdout.strip().partition(" ")
    assert what == (
        f"book.pdf is a decompression bomb: its {size:,} bytes unpack beyond {megabytes} MB of memory."
    )
    assert int(peak) < megabytes << 20


def test_the_memory_for_a_pdf_is_a_setting(tmp_path: Path) -> None:
    path = _file(tmp_path, _bomb_in_contents())
    core = Core(Settings(data_dir=tmp_path / "data", pdf_memory_mb=128))
    with pytest.raises(UnreadableBook, match="unpack beyond 128 MB of memory"):
        core.reader.read(str(path), title=None, base_url=None)


def test_a_bomb_in_one_page_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    heavy = PAGE.replace(b"5 0 R/Res", b"8 0 R/Res")
    tree = b"<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 3 0 R]>>"
    objects = {1: CATALOG, 2: tree, 3: PAGE, 4: heavy, 5: stream(WORDS), 6: FONT}
    content = write_objects({**objects, 8: _pack_twice(b" ", 1500)})
    book = _read(_file(tmp_path, content))
    assert "The harbour master" in _text(book)
    (skipped,) = book.skipped  # page 3 was read after it
    assert skipped.name == "page 2"
    assert skipped.reason.startswith("This is a decompression bomb")


def test_a_page_that_is_given_up_does_not_cost_the_others(tmp_path: Path) -> None:
    bomb = _pack_twice(b"(x) Tj ", 600)
    heavy = PAGE.replace(b"5 0 R/Res", b"8 0 R/Res")
    content = write_objects(
        {
            1: CATALOG,
            2: b"<</Type/Pages/Count 2/Kids[4 0 R 3 0 R]>>",
            3: PAGE,
            4: heavy,
            5: stream(WORDS),
            6: FONT,
            8: bomb,
        }
    )
    began = time.monotonic()
    extract(_file(tmp_path, _one_page(stream(WORDS))))
    usual = time.monotonic() - began  # for one that is not silent, on this machine
    reader = PdfReader(Limits(silence_seconds=max(1.5, 4 * usual)))
    book = reader.read(str(_file(tmp_path, content)), title=None, base_url=None)
    assert "The harbour master" in _text(book)
    assert [skipped.name for skipped in book.skipped] == ["page 1"]


def test_a_page_tree_that_holds_itself_is_not_walked_for_ever(tmp_path: Path) -> None:
    content = write_objects(
        {
            1: CATALOG,
            2: b"<</Type/Pages/Count 100000/Kids[3 0 R 2 0 R 2 0 R]>>",
            3: PAGE,
            5: stream(WORDS),
            6: FONT,
        }
    )
    _read_or_refuse(_file(tmp_path, content))


def test_a_claim_of_a_hundred_thousand_pages_is_not_believed(tmp_path: Path) -> None:
    content = _one_page(stream(WORDS), pages=b"<</Type/Pages/Count 100000/Kids[3 0 R]>>")
    book = _read(_file(tmp_path, content))
    assert "The harbour master" in _text(book)
    assert [skipped.name for skipped in book.skipped] == [
        "pages 2, 3, 4, 5, 6 and 19,994 more",
        "pages from 20001 on",
    ]


def test_an_outline_that_goes_round_is_read_once(tmp_path: Path) -> None:
    catalog = b"<</Type/Catalog/Pages 2 0 R/Outlines 7 0 R>>"
    loop = b"<</Title(Ledger)/Parent 7 0 R/Next 8 0 R/First 8 0 R/Dest[3 0 R/Fit]>>"
    content = write_objects(
        {
            1: catalog,
            2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            3: PAGE,
            5: stream(WORDS),
            6: FONT,
            7: b"<</First 8 0 R/Last 8 0 R>>",
            8: loop,
        }
    )
    book = _read(_file(tmp_path, content))
    assert [document.read().title for document in book.documents] == ["Ledger"]


def test_an_outline_of_very_many_entries_is_cut_off(tmp_path: Path) -> None:
    count = 150_000
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R/Outlines 7 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        3: PAGE,
        5: stream(WORDS),
        6: FONT,
    }
    objects[7] = b"<</First 10 0 R/Last 10 0 R>>"
    for number in range(count):
        objects[10 + number] = (
            f"<</Title(Entry {number})/Parent 7 0 R/Next {11 + number} 0 R/Dest[3 0 R/Fit]>>".encode()
        )
    book = _read(_file(tmp_path, write_objects(objects)))
    assert "The harbour master" in _text(book)
    assert len(book.documents) < 1_000
    assert any("Only the first 20,000 entries" in warning for warning in book.warnings)


@pytest.mark.parametrize("place", ["1e30 1e30", "-99999999999 5", "nan nan", "1e-40 1e38"])
def test_text_beyond_all_measure_is_not_read_and_does_no_harm(tmp_path: Path, place: str) -> None:
    far = f"BT /F 12 Tf {place} Td (Far away) Tj ET BT /F 1e30 Tf 5 5 Td (Big) Tj ET\n".encode()
    assert "The harbour master" in _text(_read(_file(tmp_path, _one_page(stream(far + WORDS)))))


def test_a_page_of_countless_pieces_is_cut_off(tmp_path: Path) -> None:
    pieces = b"".join(
        b"BT /F 4 Tf %d %d Td (a) Tj ET\n" % (10 + number * 7 % 590, 10 + number // 80 % 770)
        for number in range(400_000)
    )
    book = _read_or_refuse(_file(tmp_path, _one_page(stream(pieces))))
    assert book is None or book.warnings or book.skipped


def test_very_many_pages_that_share_their_text_are_cut_off(tmp_path: Path) -> None:
    drawing = b"".join(
        b"BT /F 5 Tf %d %d Td (abc) Tj ET\n" % (20 + number * 137 % 560, 20 + number * 71 % 740)
        for number in range(300)
    )
    kids = b"3 0 R " * 19_000
    tree = b"<</Type/Pages/Count 19000/Kids[" + kids + b"]>>"
    book = _read(_file(tmp_path, _one_page(stream(drawing), pages=tree)))
    assert [skipped.name[:10] for skipped in book.skipped] == ["pages from"]


@pytest.mark.parametrize("piece", ["." * 50, "a" * 50, "www.", ". ", "1,", "-", "!)"])
def test_an_endless_line_is_read_in_good_time(tmp_path: Path, piece: str) -> None:
    line = (piece * 60_000)[:60_000]
    content = f"BT /F 0.6 Tf 1 0 0 1 10 400 Tm ({line.replace(')', chr(92) + ')')}x-) Tj ET\n"
    content += "BT /F 0.6 Tf 10 399 Td (and so on) Tj ET\n"
    assert "The harbour master" in _text(
        _read(_file(tmp_path, _one_page(stream(content.encode() + WORDS))))
    )


def test_a_process_that_falls_silent_is_given_up(tmp_path: Path) -> None:
    path = _file(tmp_path, _one_page(stream(WORDS)))
    with pytest.raises(UnreadableBook, match="could not be opened"):
        extract(path, Limits(silence_seconds=0.001, seconds=0.002))


def test_the_extracting_process_can_open_no_socket_and_write_no_file(tmp_path: Path) -> None:
    path = _file(tmp_path, _one_page(stream(WORDS)))
    code = """
import socket, sys
from bythebook.adapters.readers.pdf.extract import main
main(sys.argv[1], 0, 768 << 20)  # returns in the measuring process, and in the extracting one before
for attempt in (socket.socket, lambda: open(sys.argv[1] + '.new', 'w')):
    try:
        attempt()
    except OSError as error:
        print('no:', error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=True)
    extracting, _, measuring = done.stdout.decode().partition('{"peak":')
    assert extracting.split("\n")[-4:-2] == ["no: Too many open files"] * 2
    assert "no:" not in measuring


def test_no_process_is_left_when_the_reader_is_killed(tmp_path: Path) -> None:
    path = _file(tmp_path, _one_page(_pack_twice(b"(x) Tj ", 400)))  # silent for seconds
    code = (
        "import sys; from bythebook.adapters.readers.pdf.reader import PdfReader;"
        "PdfReader().read(sys.argv[1], title=None, base_url=None)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as reader:
        _wait_for(lambda: _children_of(reader.pid) != [])
        (measuring,) = _children_of(reader.pid)
        _wait_for(lambda: _children_of(measuring) != [])
        (child,) = _children_of(measuring)
        _wait_for(lambda: _memory_of(child) > 60_000_000)  # it has begun to unpack
        os.kill(int(child), signal.SIGSTOP)  # so that it does not come to an end by itself
        reader.send_signal(signal.SIGKILL)
        reader.wait()
    _wait_for(lambda: _memory_of(child) == _memory_of(measuring) == 0)


def _memory_of(process: str) -> int:
    """Give what a process holds; nothing if it has ended, reaped or not."""
    try:
        pages = (Path("/proc") / process / "statm").read_text().split()[1]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return int(pages) * resource.getpagesize()


def test_no_process_is_left_when_the_reader_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _file(tmp_path, _one_page(stream(WORDS)))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bythebook.adapters.readers.pdf.process._Progress.take", interrupt)
    with pytest.raises(KeyboardInterrupt):
        extract(path)


def _read_or_refuse(path: Path) -> SourceBook | None:
    with suppress(UnreadableBook):
        return _read(path)
    return None


def _children_of(parent: int | str) -> list[str]:
    found = Path(f"/proc/{parent}/task/{parent}/children")
    return found.read_text().split() if found.exists() else []


def _wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)
