"""A whole data folder in one file, and back."""

import asyncio
import gzip
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.conftest import SAMPLE

from bythebook.adapters.backup.archive import pack, unpack
from bythebook.adapters.backup.restore import restore
from bythebook.adapters.backup.snapshot import take_snapshot
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.operations.service_address import ServiceAddress
from bythebook.ask.pipeline import collect
from bythebook.bootstrap import Core
from bythebook.domain.answers import Outcome
from bythebook.domain.questions import Question, Scope
from bythebook.errors import BusyBook, InputError
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

QUESTIONS = (
    "How do ROS 2 nodes communicate?",
    "What is the main weakness of a quadruped?",
    "Who won the football world cup in 1998?",
)


@pytest.fixture(scope="module")
def saved(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("saved") / "books.backup"
    back_up(sample_core.settings.data_dir, file)
    return file


def back_up(data_dir: Path, file: Path) -> None:
    with take_snapshot(data_dir) as folder:
        pack(folder, file, "1.0")


def ask_all(core: Core) -> list[tuple[object, ...]]:
    async def ask(question: str) -> Outcome:
        return await collect(Question(question, Scope(SAMPLE)), core.ask)

    outcomes = [asyncio.run(ask(question)) for question in QUESTIONS]
    return [
        (
            type(one).__name__,
            [citation.quote for s in getattr(one, "sentences", ()) for citation in s.citations],
        )
        for one in outcomes
    ]


def test_a_restored_folder_answers_with_the_same_quotes(
    sample_core: Core, saved: Path, tmp_path: Path
) -> None:
    restore(saved, tmp_path / "data", replace=False)
    core = Core(Settings(data_dir=tmp_path / "data"))
    try:
        assert core.library.damage(SAMPLE, deep=True) is None
        assert ask_all(core) == ask_all(sample_core)
    finally:
        core.close()


def test_index_files_keep_their_holes(sample_core: Core, saved: Path, tmp_path: Path) -> None:
    restore(saved, tmp_path / "data", replace=False)
    taken = [
        sum(path.stat().st_blocks for path in (folder / "books").rglob("*") if path.is_file())
        for folder in (sample_core.settings.data_dir, tmp_path / "data")
    ]
    assert taken[1] <= taken[0] * 1.2


def test_only_its_owner_may_read_a_backup(saved: Path) -> None:
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_the_commands_save_and_restore_records_too(tmp_path: Path) -> None:
    def run(*arguments: str, data: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bythebook", *arguments],
            env=os.environ | {"BYTHEBOOK_DATA_DIR": str(tmp_path / data)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    file = str(tmp_path / "all.backup")
    assert run("keys", "create", "--scope", "ask", data="one").returncode == 0
    assert "0 books" in run("backup", file, data="one").stdout
    assert run("restore", file, data="two").returncode == 0
    assert run("keys", "list", data="two").stdout == run("keys", "list", data="one").stdout
    refused = run("restore", file, data="two")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--replace" in refused.stderr
    assert run("restore", file, "--replace", data="two").returncode == 0
    assert run("backup", file, data="nowhere").returncode == 2
    assert run("backup", str(tmp_path / "no" / "file"), data="one").returncode == 2


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def change_a_byte(content: bytes) -> bytes:
    plain = bytearray(gzip.decompress(content))
    plain[-3000] ^= 1  # within the last file or what follows it
    at = plain.rindex(b"SQLite format 3") if b"SQLite format 3" in plain else len(plain) // 2
    plain[at + 20_000 if at + 20_000 < len(plain) else at] ^= 1
    return gzip.compress(bytes(plain), compresslevel=1)


def make_tar(name: str, listed: object) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        for member, text in ((name, json.dumps(listed).encode()), ("books/a/b", b"x")):
            info = tarfile.TarInfo(member)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    return content.getvalue()


LIST, FORMAT = "bythebook-backup.json", "bythebook-backup-1"


@pytest.mark.parametrize(
    "spoil",
    [
        cut,
        change_a_byte,
        lambda _: b"",
        lambda _: b"no archive at all" * 1000,
        lambda _: make_tar("other.json", {}),
        lambda _: make_tar(LIST, {"format": FORMAT}),
        lambda _: make_tar(LIST, {"format": "bythebook-backup-9", "files": []}),
        lambda _: make_tar(LIST, {"format": FORMAT, "files": []}),
        lambda _: make_tar(LIST, {"format": FORMAT, "files": [["books/../../x", 1, "0"]]}),
        lambda _: make_tar(LIST, {"format": FORMAT, "files": [["/etc/passwd", 1, "0"]]}),
        lambda _: make_tar(LIST, {"format": FORMAT, "files": [["books/a/b", 1, "0"]]}),
    ],
)
def test_a_damaged_or_foreign_file_changes_nothing(
    saved: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    file, data = tmp_path / "spoiled", tmp_path / "data"
    file.write_bytes(spoil(saved.read_bytes()))
    (data / "books" / "mine").mkdir(parents=True)
    with pytest.raises(InputError):
        restore(file, data, replace=True)
    assert [path.relative_to(data).as_posix() for path in data.rglob("*")] == [
        "books",
        "books/mine",
    ]


def test_a_folder_that_holds_books_is_not_replaced_unasked(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    with pytest.raises(InputError, match="holds books"):
        restore(saved, tmp_path, replace=False)


def test_the_folder_of_a_running_service_is_not_replaced(saved: Path, tmp_path: Path) -> None:
    with (
        ServiceAddress(tmp_path).announce("http://127.0.0.1:8000"),
        pytest.raises(BusyBook, match=r"127\.0\.0\.1:8000"),
    ):
        restore(saved, tmp_path, replace=True)


def test_a_book_that_is_being_ingested_is_not_replaced(saved: Path, tmp_path: Path) -> None:
    with BookFolder(tmp_path).hold("mine"), pytest.raises(BusyBook, match="'mine'"):
        restore(saved, tmp_path, replace=True)
    assert (tmp_path / "books").exists() is False or list((tmp_path / "books").iterdir()) == []


def test_a_book_published_again_meanwhile_is_saved_whole(tmp_path: Path) -> None:
    source, data = tmp_path / "source", tmp_path / "data"
    source.mkdir()
    core = Core(Settings(data_dir=data))

    def publish(words: str) -> None:
        (source / "page.md").write_text(f"# Page\n\nThe heron fishes {words}.\n", "utf-8")
        asyncio.run(ingest(IngestOrder(str(source), "herons"), core.ingest, lambda _: None))

    try:
        publish("at dawn")
        with take_snapshot(data) as folder:
            publish("at dusk")
            pack(folder, tmp_path / "one", "1.0")
    finally:
        core.close()
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "one", tmp_path / "out")
    kept = BookFolder(tmp_path / "out")
    assert kept.damage("herons", deep=True) is None
    assert "at dawn" in kept.documents("herons")[0].text
    assert not list(data.glob(".backup-*"))


def test_a_book_removed_while_it_is_saved_is_left_out(tmp_path: Path, sample_core: Core) -> None:
    data = tmp_path / "data"
    shutil.copytree(sample_core.settings.data_dir / "books" / SAMPLE, data / "books" / SAMPLE)
    (data / "books" / "half").mkdir()
    (data / "books" / "half" / "ingest.lock").touch()  # a first run that has published nothing
    back_up(data, tmp_path / "file")
    (tmp_path / "out").mkdir()
    names = [one.name for one in unpack(tmp_path / "file", tmp_path / "out")]
    assert names
    assert all(name.startswith(f"books/{SAMPLE}/") for name in names)
    assert not any(name.endswith("ingest.lock") for name in names)
