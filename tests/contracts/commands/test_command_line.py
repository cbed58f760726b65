"""The `bythebook` command as a person or a script uses it: a process of its own."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.conftest import free_port

HERON = "The grey heron stands still in shallow water until a fish comes near."
GLASS = "Glass is made by melting sand with soda ash and limestone at 1700 degrees."
PAGES = {
    "birds.md": f"# Birds\n\n## The heron\n\n{HERON} It swallows the fish whole.\n",
    "glass.md": f"# Glass\n\n## How glass is made\n\n{GLASS} The melt cools slowly.\n",
}
AGAIN = ("My Tales", "--title", "Tales [of] Sand & Water")
ANSWERED = "How is glass made?"
FOREIGN = "Who won the football world cup in 1998?"


class Run:
    """What a command said and how it ended."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        assert "Traceback" not in self.err, self.err

    def require_failure(self) -> list[str]:
        """Check that it failed as it should: what went wrong, what to do, exit code 2."""
        lines = self.err.strip().split("\n")
        assert self.code == 2, self.err
        assert self.out == ""
        assert len(lines) == 2, self.err
        assert lines[0].startswith("Error: ")
        assert lines[1]
        return lines


class Shop:
    """A data folder, and the command run over it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"

    def run(self, *words: str, **variables: str) -> Run:
        given = {name: value for name, value in os.environ.items() if "BYTHEBOOK" not in name}
        environment = given | {"BYTHEBOOK_DATA_DIR": str(self.data), "COLUMNS": "80", **variables}
        command = [sys.executable, "-W", "error", "-m", "bythebook", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, cwd=self.home, timeout=300
        )
        return Run(done)

    def folder(self, name: str, pages: dict[str, bytes]) -> Path:
        folder = self.home / name
        folder.mkdir()
        for page, content in pages.items():
            (folder / page).write_bytes(content)
        return folder

    def files(self) -> dict[str, bytes]:
        """All that the data folder holds, marks of passing readers aside."""
        return {
            str(path.relative_to(self.data)): path.read_bytes()
            for path in sorted(self.data.rglob("*"))
            if path.is_file() and path.relative_to(self.data).parts[0] != "open"
        }


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A data folder with one small book in it, ingested by the command."""
    shop = Shop(tmp_path_factory.mktemp("shop"))
    folder = shop.folder("My Tales", {name: text.encode() for name, text in PAGES.items()})
    run = shop.run("ingest", str(folder), "--title", "Tales [of] Sand & Water")
    assert run.code == 0, run.err
    assert "Published my-tales: Tales [of] Sand & Water" in run.out
    assert "2 documents" in run.out
    assert "2 new, 0 kept, 0 removed" in run.out
    yield shop
    left = list((shop.data / "open").glob("*"))
    assert left == [], "a command left a copy of the index behind"


def test_ask_answers_with_quote_place_and_link(shop: Shop) -> None:
    run = shop.run("ask", ANSWERED)
    assert run.code == 0
    assert run.err == ""
    assert run.out.startswith("Glass is made by melting sand")
    assert f"[1] “{GLASS}”" in run.out
    assert "Glass · How glass is made" in run.out
    assert "http://127.0.0.1:8000/read/my-tales/glass?mark=" in run.out
    assert run.out.endswith("Start one to open these links: bythebook serve\n")
    public = shop.run("ask", ANSWERED, BYTHEBOOK_PUBLIC_URL="https://books.test/ask/")
    assert "https://books.test/ask/read/my-tales/glass?mark=" in public.out
    assert "bythebook serve" not in public.out


def test_ask_refuses_with_exit_code_1_and_where_to_read_on(shop: Shop) -> None:
    run = shop.run("ask", FOREIGN)
    assert run.code == 1
    assert run.out.startswith("The provided book content does not contain sufficient information")
    assert "Nearest sections:" in run.out
    assert "/read/my-tales/" in run.out


def test_ask_json_is_the_envelope_of_contract_a(shop: Shop) -> None:
    url = "https://ask.example.org/tales"
    run = shop.run("ask", ANSWERED, "--json", "--book", "my-tales", BYTHEBOOK_PUBLIC_URL=url)
    assert run.code == 0
    value = json.loads(run.out)
    assert set(value) == {"status", "answer", "refusal", "error", "metadata"}
    assert value["status"] == "success"
    assert value["refusal"] is value["error"] is None
    assert value["metadata"]["chunks_retrieved"] == 2
    citation = value["answer"]["citations"][0]
    assert citation["referenced_text"] == GLASS
    assert citation["document_id"] == "glass"
    assert citation["source_url"] == f"{url}/read/my-tales/glass#how-glass-is-made"
    assert citation["link"].startswith(f"{url}/read/my-tales/glass?mark=")


def test_a_json_refusal_has_exit_code_1_too(shop: Shop) -> None:
    run = shop.run("ask", FOREIGN, "--json", "--top-k", "1")
    assert run.code == 1
    value = json.loads(run.out)
    assert value["status"] == "refused"
    assert value["metadata"]["chunks_retrieved"] == 1
    assert len(value["refusal"]["nearest_sections"]) == 1


def test_ask_reads_a_selection_and_nothing_else(shop: Shop) -> None:
    selection = "The capital of Iceland is Reykjavik. It lies on a bay."
    empty = str(shop.home / "no-library-here")
    asked = ("ask", "What is the capital of Iceland?", "--selected-text", selection, "--json")
    run = shop.run(*asked, BYTHEBOOK_DATA_DIR=empty)
    assert run.code == 0
    answer = json.loads(run.out)["answer"]
    assert answer["mode"] == "selected_text_only"
    assert answer["text"].startswith("The capital of Iceland is Reykjavik.")
    missing = shop.run("ask", ANSWERED, "--selected-text", selection)
    assert missing.code == 1
    assert missing.out.startswith("The selected text does not contain this information")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("x", "--top-k", "21"), "top_k"),
        ((" ",), "query"),
        (("x", "--selected-text", "too short"), "selected_text"),
        (("x", "--book", "nothing"), "no book 'nothing'"),
    ],
)
def test_ask_keeps_the_contracts_limits(shop: Shop, words: tuple[str, ...], what: str) -> None:
    lines = shop.run("ask", *words).require_failure()
    assert what in lines[0]


def test_an_empty_library_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    lines = shop.run("ask", ANSWERED).require_failure()
    assert "bythebook ingest" in lines[1]
    listed = shop.run("books", "list")
    assert listed.code == 0
    assert "bythebook ingest PATH" in listed.out


BAD_SOURCES: dict[str, dict[str, bytes] | None] = {
    "missing": None,
    "empty": {},
    "binary": {"photo.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"},
    "latin": {"cafe.md": "# Café\n\nÀ la carte.".encode("latin-1")},
    "wordless": {"blank.md": b"\n\n"},
}


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_a_bad_source_is_one_clear_error_and_changes_nothing(shop: Shop, name: str) -> None:
    pages = BAD_SOURCES[name]
    folder = shop.home / name if pages is None else shop.folder(name, pages)
    before = shop.files()
    lines = shop.run("ingest", str(folder), "--book", "my-tales").require_failure()
    assert name in lines[0]  # the path of what is wrong
    assert shop.files() == before


HALF_BAD = {"good.md": b"# Good\n\nWords.", "cafe.md": "# Café\n\nÀ la carte.".encode("latin-1")}


def test_a_page_that_cannot_be_read_is_skipped_and_named(shop: Shop) -> None:
    run = shop.run("ingest", str(shop.folder("half-bad", HALF_BAD)))
    assert run.code == 0
    assert "1 document, " in run.out
    assert re.search(r"Skipped: cafe\.md: .*not UTF-8.*Save the file as UTF-8", run.out)
    assert shop.run("books", "remove", "half-bad", "--yes").code == 0


def test_a_strict_ingest_publishes_nothing_if_a_page_cannot_be_read(shop: Shop) -> None:
    folder = shop.folder("half-bad-too", HALF_BAD)
    before = shop.files()
    lines = shop.run("ingest", str(folder), "--strict").require_failure()
    assert "cafe.md" in lines[0]
    assert shop.files() == before


def test_the_report_accounts_for_the_text_at_the_terminal_as_data_and_as_a_page(
    shop: Shop,
) -> None:
    page = shop.home / "reports" / "tales.html"
    run = shop.run("ingest", *AGAIN, "--json", "--report", str(page))
    data = json.loads(run.out)
    assert data["coverage"] == 1.0
    assert data["characters"] == sum(document["characters"] for document in data["documents"])
    html = page.read_text()
    assert "<h2>All documents</h2>" in html
    assert "100.00 %" in html
    assert not re.search(r"(?:src|href)=", html), "the page needs something else"
    told = shop.run("books", "report", "my-tales")
    assert "100.00 % of the text is in the index" in told.out
    assert json.loads(shop.run("books", "report", "my-tales", "--json").out)["kept"] == 2


def test_a_quiet_ingest_prints_nothing(shop: Shop) -> None:
    run = shop.run("ingest", *AGAIN, "--quiet")
    assert (run.code, run.out, run.err) == (0, "", "")


def test_json_lines_tell_progress_and_end_with_the_report(shop: Shop) -> None:
    run = shop.run("ingest", *AGAIN, "--json-lines")
    events = [json.loads(line) for line in run.out.splitlines()]
    assert {event["event"] for event in events[:-1]} == {"progress"}
    assert {event["stage"] for event in events[:-1]} >= {"reading", "publishing"}
    assert (events[-1]["event"], events[-1]["book_id"]) == ("report", "my-tales")


def test_ctrl_c_leaves_the_book_as_it_was_and_the_next_run_goes_on(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    pages = {
        f"p{n}.md": f"# Page {n}\n\n".encode()
        + b" ".join(b"Stone %d-%d lies." % (n, m) for m in range(90))
        for n in range(120)
    }
    folder = shop.folder("stones", pages)
    environment = os.environ | {"BYTHEBOOK_DATA_DIR": str(shop.data)}
    command = [sys.executable, "-m", "bythebook", "ingest", str(folder), "--json-lines"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        for line in run.stdout:
            if '"embedding"' in line:
                break
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=300)
    assert run.returncode == 130
    assert said.strip() == "Stopped: the book is as it was, and the next run goes on from here."
    assert not list((shop.data / "books").iterdir())
    report = json.loads(shop.run("ingest", str(folder), "--json").out)
    assert 0 < report["embedded"] <= report["chunks"] - 64


def test_the_book_still_answers_after_bad_ingests(shop: Shop) -> None:
    assert shop.run("ask", ANSWERED).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--book", "../evil"),
        ("--base-url", "javascript:alert(1)"),
        ("--base-url", "https://exa mple.org"),
        ("--base-url", "http://a:99999/x"),
    ],
)
def test_a_bad_option_of_ingest_is_refused(shop: Shop, words: tuple[str, ...]) -> None:
    shop.run("ingest", str(shop.home / "My Tales"), *words).require_failure()
    assert not (shop.data / "evil").exists()
    assert [path.name for path in (shop.data / "books").iterdir()] == ["my-tales"]


def test_another_folder_of_the_same_name_does_not_replace_the_book(shop: Shop) -> None:
    other = shop.home / "elsewhere" / "My Tales"
    other.mkdir(parents=True)
    (other / "a.md").write_text("# Other\n\nQuite another book.\n")
    before = shop.files()
    what, remedy = shop.run("ingest", str(other)).require_failure()
    assert "my-tales" in what
    assert "--book" in remedy
    assert shop.files() == before


def test_a_data_folder_that_cannot_be_one_is_an_error(shop: Shop) -> None:
    blocked = shop.home / "a-file"
    blocked.write_text("not a folder")
    run = shop.run("ingest", str(shop.home / "My Tales"), BYTHEBOOK_DATA_DIR=str(blocked))
    assert "a-file" in run.require_failure()[0]


def test_a_dry_run_says_what_would_change_and_changes_nothing(shop: Shop) -> None:
    changed = shop.folder(
        "changed", {"glass.md": PAGES["glass.md"].encode(), "new.md": b"# New\n\nA new page."}
    )
    before = shop.files()
    run = shop.run("ingest", str(changed), "--book", "my-tales", "--dry-run", "--json")
    assert run.code == 0
    report = json.loads(run.out)
    assert report["published"] is False
    counts = [report[name] for name in ("added", "kept", "removed", "embedded")]
    assert counts == [1, 1, 1, 1]
    assert shop.files() == before


def test_a_dry_run_of_a_new_book_leaves_no_trace(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    folder = shop.folder("tales", {"birds.md": PAGES["birds.md"].encode()})
    run = shop.run("ingest", str(folder), "--dry-run")
    assert run.code == 0
    assert run.out.startswith("Would publish tales: Birds")
    assert not shop.data.exists()


def test_a_book_can_be_ingested_again_listed_and_removed(shop: Shop) -> None:
    second = shop.folder("second", {"birds.md": PAGES["birds.md"].encode()})
    assert shop.run("ingest", str(second)).code == 0
    again = shop.run("ingest", str(second), "--json")
    report = json.loads(again.out)
    assert (report["added"], report["kept"], report["embedded"]) == (0, 1, 0)
    listed = shop.run("books", "list").out
    assert listed.index("my-tales  Tales [of] Sand & Water") < listed.index("second  Birds")
    assert "2 documents, 2 chunks" in listed
    removed = shop.run("books", "remove", "second", "--yes")
    assert (removed.code, removed.out) == (0, "Removed second.\n")
    assert not (shop.data / "books" / "second").exists()
    assert "no book 'second'" in shop.run("books", "remove", "second", "--yes").require_failure()[0]


def test_removing_asks_first(shop: Shop) -> None:
    run = shop.run("books", "remove", "my-tales")  # nobody there to say yes
    assert run.code == 1
    assert (shop.data / "books" / "my-tales" / "current.json").is_file()


def test_removing_a_book_that_is_not_there_asks_nothing(shop: Shop) -> None:
    for name in ("nosuch", "../my-tales"):
        what, _ = shop.run("books", "remove", name).require_failure()  # which has no question in it
        assert what == f"Error: There is no book {name!r}."


def test_doctor_finds_all_well(shop: Shop) -> None:
    run = shop.run("doctor")
    assert run.code == 0, run.out
    assert "FIX" not in run.out
    for part in ("data folder", "library", "embedder", "index", "book my-tales"):
        assert re.search(rf"^ok\s+{part}", run.out, flags=re.MULTILINE)


def test_doctor_points_at_a_misspelt_variable(shop: Shop) -> None:
    run = shop.run("doctor", BYTHEBOOK_PROT="9000")
    assert run.code == 1
    assert re.search(r"^FIX\s+BYTHEBOOK_PROT\s+.*check its spelling", run.out, flags=re.MULTILINE)


def test_doctor_says_that_a_library_is_empty(tmp_path: Path) -> None:
    run = Shop(tmp_path).run("doctor")
    assert run.code == 1
    assert re.search(r"^FIX\s+library\s+.*bythebook ingest", run.out, flags=re.MULTILINE)


@pytest.mark.parametrize(
    ("command", "variable", "value"),
    [
        ("doctor", "BYTHEBOOK_PORT", "http"),
        ("ask", "BYTHEBOOK_THREADS", "0"),
        ("serve", "BYTHEBOOK_PUBLIC_URL", "ask.example.org"),
    ],
)
def test_a_wrong_setting_is_named(shop: Shop, command: str, variable: str, value: str) -> None:
    words = (command, ANSWERED) if command == "ask" else (command,)
    lines = shop.run(*words, **{variable: value}).require_failure()
    assert variable in lines[0]
    assert variable in lines[1]


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_serving_stays_on_this_machine(shop: Shop, command: str) -> None:
    assert shop.run("keys", "list").code == 0  # the records with keys are there
    before = shop.files()
    lines = shop.run(command, "--host", "0.0.0.0").require_failure()
    assert "0.0.0.0" in lines[0]
    assert "--host 127.0.0.1" in lines[1]
    assert shop.files() == before


def test_serving_on_a_used_port_says_so(shop: Shop) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        lines = shop.run("serve", "--port", str(port)).require_failure()
    assert f"Port {port}" in lines[0]
    assert "--port" in lines[1]


def test_a_server_serves_while_other_commands_work_and_stops_when_told(shop: Shop) -> None:
    port = free_port()
    quiet = {"BYTHEBOOK_DATA_DIR": str(shop.data), "BYTHEBOOK_LOG_LEVEL": "warning"}
    environment = os.environ | quiet
    command = [sys.executable, "-W", "error", "-m", "bythebook", "serve", "--port", str(port)]
    with subprocess.Popen(
        command, env=environment, cwd=shop.home, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                wait_until_ready(client)
                folder = shop.folder(
                    "late", {"moons.md": b"# Moons\n\nSaturn has 146 known moons.\n"}
                )
                assert shop.run("ingest", str(folder)).code == 0
                body = {"query": "How many moons does Saturn have?"}
                citation = client.post("/api/query", json=body).json()["answer"]["citations"][0]
                assert citation["referenced_text"] == "Saturn has 146 known moons."
                assert client.get(citation["link"]).status_code == 200
                assert shop.run("books", "remove", "late", "--yes").code == 0
                assert client.get("/read/late").status_code == 404
                assert client.post("/api/query", json=body).json()["status"] == "refused"
                for words in (("ask", ANSWERED), ("ask", FOREIGN), ("ask", ANSWERED, "--json")):
                    said = shop.run(*words).out
                    assert f"http://127.0.0.1:{port}/read/my-tales/" in said
                    assert ":8000" not in said
                    assert "bythebook serve" not in said
        finally:
            server.terminate()
            said = server.communicate(timeout=120)[1]
    assert said == ""
    assert server.returncode in {0, -signal.SIGTERM}


def wait_until_ready(client: httpx.Client) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if client.get("/readyz").status_code == 200:
                return
        except httpx.ConnectError:
            time.sleep(0.05)
    pytest.fail("the server did not get ready")


def test_eval_measures_a_question_set(shop: Shop) -> None:
    questions = [
        {"id": "1", "kind": "answered", "question": ANSWERED, "quote": GLASS},
        {"id": "2", "kind": "foreign", "question": FOREIGN},
    ]
    file = shop.home / "questions.jsonl"
    file.write_text("\n".join(json.dumps(question) for question in questions))
    report = shop.home / "reports" / "eval.json"
    run = shop.run("eval", str(file), "--book", "my-tales", "--json", str(report))
    assert run.code == 0, run.err
    assert re.search(r"foreign: refused\s+1\.000", run.out)
    written = json.loads(report.read_text())
    figures = written["figures"]["questions.jsonl, all"]
    assert figures["questions"] == 2
    assert figures["answered: gold quote in the answer"] == 1
    assert figures["quotes exact"] == 1
    assert [one["answered"] for one in written["questions"]] == [True, False]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b'{"id": "1", "kind": "foreign", "question": "x"}\n{"id": 2}\n', "Line 2"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_question_set_is_an_error(shop: Shop, content: bytes | None, what: str) -> None:
    file = shop.home / "bad.jsonl"
    file.unlink(missing_ok=True)
    if content is not None:
        file.write_bytes(content)
    assert what in shop.run("eval", str(file), "--book", "my-tales").require_failure()[0]


def test_the_version_is_printed(shop: Shop) -> None:
    run = shop.run("--version")
    assert run.code == 0
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", run.out)
