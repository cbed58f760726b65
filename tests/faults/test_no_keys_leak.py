"""A key goes to its provider and nowhere else; nobody but the provider is looked for."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.adapters.providers.model_stub import KEY, Answer, ModelStub, answer_text, serve_model
from tests.faults.model_service import MODEL_NAME, READY_SECONDS, WAYS, ServiceReply, ask
from tests.faults.served import HIGH_LIMITS, library_of, serve_folder
from tests.faults.test_model_misbehaviours import GOOD, MISBEHAVIOURS, QUESTION

from bythebook.bootstrap import Core

OTHERS = {"OPENAI_API_KEY": "sk-openai-of-the-user-77", "OPENROUTER_API_KEY": "sk-or-v1-user-88"}
LOOPBACK = {"127.0.0.1", "localhost", "::1", ""}
# Python itself tells of every name that is looked up and of every connection.
LISTENER = """
import os, sys
_file = os.open(os.environ["LOOKED_UP"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
def _note(event, given):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex"):
        os.write(_file, f"{given[0]}\\n".encode())
    elif event in ("socket.connect", "socket.sendto") and isinstance(given[1], tuple):
        os.write(_file, f"{given[1][0]}\\n".encode())
sys.addaudithook(_note)
"""
ECHOING = (
    Answer(status=401, body={"error": {"message": f"Incorrect API key provided: {KEY}"}}),
    Answer(status=403, body={"error": {"message": f"{KEY} may not"}}),
    Answer(GOOD[:40], end=None, error_chunk={"message": f"for {KEY}", "code": 500}),
    Answer(answer_text((f"The key is {KEY}.", [1]))),
    Answer(f"{KEY} is what I was called with"),
)


@dataclass
class Run:
    """All that a run of the service left anywhere."""

    folder: Path
    looked_up: set[str] = field(default_factory=set)
    replies: list[ServiceReply] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def stub() -> Iterator[ModelStub]:
    with serve_model() as stub:
        yield stub
    assert stub.faults == []  # so each request bore the key, and only the right one


@pytest.fixture(scope="module")
def run(sample_core: Core, stub: ModelStub, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Let the command meet every misbehaviour of a provider that repeats keys, talking of all."""
    home = tmp_path_factory.mktemp("leaks")
    (home / "site").mkdir()
    (home / "site" / "sitecustomize.py").write_text(LISTENER)
    settings = {
        **HIGH_LIMITS,
        **OTHERS,
        "BYTHEBOOK_LLM_BASE_URL": stub.url,
        "BYTHEBOOK_LLM_API_KEY": KEY,
        "BYTHEBOOK_LLM_MODEL": MODEL_NAME,
        "BYTHEBOOK_LOG_LEVEL": "debug",
        "LOOKED_UP": str(home / "looked-up.txt"),
        "PYTHONPATH": str(home / "site"),
    }
    run = Run(library_of(sample_core, home / "data"))
    quick = [one.answer for name, one in MISBEHAVIOURS.items() if "stall" not in name]
    told_to_wait = quick.pop([one.status for one in quick].index(429))
    with serve_folder(run.folder, settings, READY_SECONDS) as process:
        url = f"http://127.0.0.1:{process.port}"

        def ask_once(answer: Answer, way: str) -> None:
            stub.will(answer)
            run.replies.append(ask(url, way, QUESTION))

        for number, answer in enumerate((*ECHOING, *quick, told_to_wait)):
            ask_once(Answer(GOOD), WAYS[number % len(WAYS)])  # so that the breaker stays closed
            ask_once(answer, WAYS[number % len(WAYS)])
        for path in ("/metrics", "/health", "/readyz", "/openapi.json"):
            reply = process.ask("GET", path)
            run.pages[path] = reply.body.decode()
    environment = {**os.environ, **settings, "BYTHEBOOK_DATA_DIR": str(run.folder)}
    stub.will(ECHOING[0])
    for command in ("doctor", "stats"):
        done = subprocess.run(
            [sys.executable, "-m", "bythebook", command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=READY_SECONDS,
            check=False,
        )
        run.commands[command] = done.stdout + done.stderr
    run.looked_up = set((home / "looked-up.txt").read_text().split("\n"))
    return run


def test_the_run_was_what_it_should_be(run: Run) -> None:
    verdicts = [one.verdict for one in run.replies]
    assert verdicts.count("answered") >= 15
    failing = [one for one in MISBEHAVIOURS.values() if one.verdict == "model_failed"]
    echoing = [one for one in ECHOING if one.status >= 400 or one.error_chunk]
    assert verdicts.count("model_failed") == len(failing) + len(echoing)
    assert "model" in run.commands["doctor"]
    assert (run.folder / "said.txt").stat().st_size > 2000


def test_no_other_host_is_looked_up(run: Run, stub: ModelStub) -> None:
    assert "127.0.0.1" in run.looked_up  # the listener listened
    assert run.looked_up <= LOOPBACK


@pytest.mark.parametrize("key", [KEY, *OTHERS.values()])
def test_no_key_is_left_anywhere(run: Run, key: str) -> None:
    held = [
        str(path.relative_to(run.folder))
        for path in run.folder.rglob("*")
        if path.is_file() and key.encode() in path.read_bytes()
    ]
    assert held == []  # neither the log nor any table of the records
    assert (run.folder / "said.txt").is_file()
    assert [name for name, text in {**run.pages, **run.commands}.items() if key in text] == []
    assert [one.way for one in run.replies if key in one.body + str(dict(one.headers))] == []
