"""Lasting damage to a book: every way of asking says which book it is and what to run."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx
import pytest
from tests.conftest import SAMPLE, free_port, serve_core
from tests.contracts.commands.test_command_line import PAGES, Shop, wait_until_ready
from tests.contracts.fakes import FakeIndex, MemoryThreads, call, fake_service

from bythebook.bootstrap import Core
from bythebook.errors import DamagedBook, StoreFailed
from bythebook.http.wire.problems import problem_of
from bythebook.operate.soundness import Soundness
from bythebook.settings import Settings

DAMAGE = DamagedBook("tales", "shard/segment.json is missing", source="/srv/secret/tales")
TO_RUN = "The book 'tales' is damaged. Run `bythebook ingest SOURCE --book tales`."
WAYS = (
    ("POST", "/api/query", {"query": "Which bird waits?"}),
    ("POST", "/v1/query", {"query": "Which bird waits?"}),
    ("POST", "/query", {"query": "Which bird waits?"}),
    ("POST", "/chat/run", {"message": "Which bird waits?"}),
    ("POST", "/chat/stream", {"message": "Which bird waits?"}),
    ("POST", "/ask", {"question": "Which bird waits?"}),
    ("GET", "/search?q=Which+bird+waits", None),
    ("GET", "/?q=Which+bird+waits", None),
)


@pytest.mark.parametrize(("method", "path", "body"), WAYS)
def test_lasting_damage_says_which_book_and_what_to_run(
    method: str, path: str, body: dict[str, object] | None
) -> None:
    service = fake_service(index=FakeIndex(failure=DAMAGE), threads=MemoryThreads())
    reply = call(service, method, path, body)
    assert reply.status_code == (200 if path.startswith("/?") else 503)  # a page tells of it itself
    told = unescape(reply.text)
    assert TO_RUN in told
    assert not re.search(r"try again|temporarily", told, re.IGNORECASE)
    assert "secret" not in told
    assert "retry-after" not in reply.headers


def test_the_longest_id_fits_into_the_message_of_contract_a() -> None:
    assert len(problem_of(DamagedBook("x" * 64, "contents.json is missing")).message) <= 200


# A service over a damaged library


@pytest.fixture
def damaged(sample_core: Core, tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of a service that started with a document missing."""
    data = tmp_path / "library"
    shutil.copytree(sample_core.settings.data_dir / "books", data / "books")
    core = Core(Settings(data_dir=data, port=free_port(), limit_ip=0))
    folder = core.library.generation_folder(core.library.book(SAMPLE))
    (folder / "documents" / "00003.json").unlink()
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=120) as client:
        yield client


def test_a_missing_document_degrades_health_before_anybody_asks(damaged: httpx.Client) -> None:
    health = damaged.get("/health").json()
    assert health["status"] == "degraded"
    assert health["dependencies"]["books"]["status"] == "failed"
    assert health["dependencies"]["books"]["message"] == TO_RUN.replace("tales", SAMPLE)
    others = {name: part for name, part in health["dependencies"].items() if name != "books"}
    assert {part["status"] for part in others.values()} == {"ok"}
    assert damaged.get("/readyz").status_code == 200  # what is whole is answered from


def test_a_page_of_a_missing_document_says_what_to_run(damaged: httpx.Client) -> None:
    statuses = set()
    for accept in ("text/html", "application/json"):
        reply = damaged.get(f"/read/{SAMPLE}", headers={"Accept": accept})
        statuses.add(reply.status_code)
        assert TO_RUN.replace("tales", SAMPLE) in unescape(reply.text)
    assert statuses == {503}


class Files:
    """Books of which some are damaged, and how often they were checked."""

    def __init__(self, *damaged: str) -> None:
        self.damaged = set(damaged)
        self.looks = 0

    def book_ids(self) -> list[str]:
        self.looks += 1
        return ["one", "two", "three"]

    def damage(self, book_id: str, *, deep: bool = False) -> DamagedBook | None:
        assert not deep
        return DamagedBook(book_id, "gone") if book_id in self.damaged else None


def test_books_are_looked_at_seldom_while_whole_and_always_while_damaged() -> None:
    files, now = Files(), [100.0]
    soundness = Soundness(files, every_seconds=30, clock=lambda: now[0])

    def fault() -> str:
        try:
            asyncio.run(soundness.check())
        except DamagedBook as error:
            return error.what
        return ""

    assert [fault(), fault()] == ["", ""]
    assert files.looks == 1
    files.damaged = {"two"}
    now[0] += 31
    assert [fault(), fault()] == ["The book 'two' is damaged: gone."] * 2
    files.damaged = set()  # ingested again
    assert fault() == ""
    assert files.looks == 4


def test_several_damaged_books_are_all_named() -> None:
    soundness = Soundness(Files("one", "three"), every_seconds=30)
    with pytest.raises(StoreFailed) as caught:
        asyncio.run(soundness.check())
    for book_id in ("one", "three"):
        assert f"--book {book_id}`" in caught.value.public
        assert f"'{book_id}' is damaged: gone." in caught.value.what
    assert not caught.value.retryable


# The command line


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A data folder with one small book in it."""
    shop = Shop(tmp_path)
    folder = shop.folder("My Tales", {name: text.encode() for name, text in PAGES.items()})
    run = shop.run("ingest", str(folder), "--book", "tales", "--no-calibrate")
    assert run.code == 0, run.err
    return shop


def find_file(shop: Shop, name: str) -> Path:
    return next(path for path in sorted(shop.data.rglob(name)) if "open" not in path.parts)


def test_doctor_says_which_file_of_which_book_and_what_to_run(shop: Shop) -> None:
    well = shop.run("doctor", "--deep")
    assert well.code == 0, well.out
    assert re.search(r"^ok\s+book tales\s+.*every file as it was published$", well.out, re.M)
    again = f"`bythebook ingest '{shop.home / 'My Tales'}' --book tales`"

    document = find_file(shop, "documents/00000.json")
    content = document.read_bytes()
    document.write_bytes(content.replace(b"heron", b"crane"))
    assert shop.run("doctor").code == 0  # sizes are right
    deep = shop.run("doctor", "--deep")
    assert deep.code == 1
    assert re.search(
        r"^FIX\s+book tales\s+The book 'tales' is damaged: documents/00000\.json", deep.out, re.M
    )
    assert again in deep.out

    document.unlink()
    for words in (("doctor",), ("doctor", "--deep")):
        run = shop.run(*words)
        assert run.code == 1
        assert "documents/00000.json is missing" in run.out
        assert again in run.out

    mended = shop.run("ingest", str(shop.home / "My Tales"), "--book", "tales", "--no-calibrate")
    assert mended.code == 0
    assert shop.run("doctor", "--deep").code == 0


def test_doctor_goes_on_after_a_damaged_pointer(shop: Shop) -> None:
    find_file(shop, "current.json").write_text("{")
    run = shop.run("doctor", "--deep")
    assert run.code == 1
    assert "current.json cannot be read" in run.out
    assert "`bythebook ingest SOURCE --book tales`" in run.out


def test_ask_says_what_to_run_and_not_to_try_again(shop: Shop) -> None:
    find_file(shop, "segment.json").unlink()
    what, to_do = shop.run("ask", "How is glass made?").require_failure()
    assert re.fullmatch(r"Error: The book 'tales' is damaged: .*segment\.json is missing\.", what)
    assert "--book tales" in to_do
    assert "ry again" not in to_do


def test_serving_logs_damage_at_the_start(shop: Shop) -> None:
    find_file(shop, "documents/00001.json").unlink()
    port = free_port()
    given = {"BYTHEBOOK_DATA_DIR": str(shop.data), "BYTHEBOOK_LOG_FORMAT": "json"}
    command = [sys.executable, "-m", "bythebook", "serve", "--port", str(port)]
    with subprocess.Popen(
        command, env=os.environ | given, cwd=shop.home, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                wait_until_ready(client)
        finally:
            server.terminate()
            logged = server.communicate(timeout=120)[1]
    lines = [json.loads(line) for line in logged.splitlines()]
    told = [line for line in lines if "00001.json is missing" in str(line)]
    assert told, logged
    assert told[0]["level"] == "error"
    assert "--book tales" in str(told[0])
