"""Embedders and a Qdrant server by settings alone: the command and the service, over loopback."""

import asyncio
import logging
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.adapters.providers.provider_stub import (
    ProviderStub,
    Reply,
    cohere_body,
    openai_body,
    provider_stub,
)
from tests.adapters.stores.qdrant_stub import Fault, QdrantStub, serve_qdrant
from tests.adapters.stores.small_books import HERON, PAGES, write_pages
from tests.conftest import free_port, serve_core
from typer.testing import CliRunner, Result

from bythebook import cli
from bythebook.ask.pipeline import collect
from bythebook.bootstrap import Core, sample_book
from bythebook.calibrate.pipeline import QUICK, CalibrateOrder, calibrate, warning_of
from bythebook.domain.answers import Answered, Refused
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError, WrongEmbedder
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
KEY = "sk-secret-0123456789abcdef"
QDRANT_KEY = "a-key-nobody-may-read"
QUESTION = "Where does the grey heron stand?"
FOREIGN = "Who won the football world cup in 1998?"


class Meaning:
    """Vectors that mean something, in as many numbers as asked for, all leaning one way.

    A part that all texts share lifts every cosine, as with many embedders: from what the bundled one gives
    to `lean + (1 - lean) * it`.
    """

    def __init__(self, core: Core, lean: float = 0.0) -> None:
        self._encoder = core.encoder
        self._lean = lean

    def __call__(self, texts: Sequence[str], dimension: int) -> list[list[float]]:
        own = self._encoder.encode(list(texts)) * np.sqrt(1 - self._lean)
        rows = np.zeros((len(texts), dimension))
        rows[:, : own.shape[1]] = own
        rows[:, -1] = np.sqrt(self._lean)
        found: list[list[float]] = rows.round(6).tolist()
        return found


@pytest.fixture
def provider(sample_core: Core) -> Iterator[ProviderStub]:
    with provider_stub(dimensions={"leaning": 512}) as stub:
        teach(stub, Meaning(sample_core))
        yield stub
        assert stub.violations == []


def teach(stub: ProviderStub, meaning: Meaning) -> None:
    def cohere(request: object) -> Reply:
        asked = request.body  # type: ignore[attr-defined]
        return Reply(body=cohere_body(asked["texts"], meaning(asked["texts"], 1024)))

    def openai(request: object) -> Reply:
        asked = request.body  # type: ignore[attr-defined]
        return Reply(body=openai_body(meaning(asked["input"], stub.dimensions[asked["model"]])))

    stub.answers |= {"/v2/embed": cohere, "/v1/embeddings": openai}


@pytest.fixture
def qdrant() -> Iterator[QdrantStub]:
    with serve_qdrant(QDRANT_KEY) as stub:
        yield stub


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return write_pages(tmp_path / "tales", PAGES)


class Shop:
    """A data folder, and the command run over it with some settings."""

    def __init__(self, data: Path, settings: Mapping[str, str] = {}) -> None:
        self.data = data
        self.settings = {"BYTHEBOOK_DATA_DIR": str(data), "BYTHEBOOK_THREADS": "2", **settings}

    def run(self, *words: str) -> Result:
        with logs_as_before():
            done = CliRunner().invoke(cli.app, words, env=self.settings)
        assert KEY not in done.output
        assert QDRANT_KEY not in done.output
        return done

    def with_settings(self, settings: Mapping[str, str]) -> "Shop":
        return Shop(self.data, settings)


@contextmanager
def logs_as_before() -> Iterator[None]:
    """Put back what serving sets for the whole process, which here is that of other tests too."""
    root, loggers = (
        logging.getLogger(),
        [logging.getLogger(name) for name in ("bythebook", "uvicorn")],
    )
    levels, handlers = [(one, one.level) for one in (root, *loggers)], list(root.handlers)
    hooks = sys.excepthook, threading.excepthook, sys.unraisablehook
    yield
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    for logger, level in levels:
        logger.setLevel(level)


def cohere_at(stub: ProviderStub) -> dict[str, str]:
    return {
        "BYTHEBOOK_EMBEDDER": "cohere",
        "BYTHEBOOK_EMBEDDER_MODEL": "embed-english-v3.0",
        "BYTHEBOOK_EMBEDDER_API_KEY": KEY,
        "BYTHEBOOK_EMBEDDER_BASE_URL": stub.url,
    }


def openai_at(stub: ProviderStub) -> dict[str, str]:
    return {
        "BYTHEBOOK_EMBEDDER": "openai",
        "BYTHEBOOK_EMBEDDER_API_KEY": KEY,
        "BYTHEBOOK_EMBEDDER_BASE_URL": f"{stub.url}/v1",
    }


def qdrant_at(stub: QdrantStub) -> dict[str, str]:
    return {"BYTHEBOOK_QDRANT_URL": stub.url, "BYTHEBOOK_QDRANT_API_KEY": QDRANT_KEY}


# Embedders


@pytest.mark.parametrize("settings_at", [cohere_at, openai_at])
def test_a_few_settings_move_a_book_onto_an_embedder(
    provider: ProviderStub, book: Path, tmp_path: Path, settings_at: object
) -> None:
    shop = Shop(tmp_path / "data", settings_at(provider))  # type: ignore[operator]
    done = shop.run("ingest", str(book))
    assert done.exit_code == 0, done.output
    assert "about $" in done.output
    assert "run `bythebook calibrate tales`" in done.output
    asked = shop.run("ask", QUESTION)
    assert asked.exit_code == 0, asked.output
    assert HERON in asked.output


def test_a_book_of_another_embedder_is_a_clear_error_at_the_start_and_at_a_question(
    provider: ProviderStub, book: Path, tmp_path: Path
) -> None:
    shop = Shop(tmp_path / "data", cohere_at(provider))
    assert shop.run("ingest", str(book), "--no-calibrate").exit_code == 0
    for other in ({}, openai_at(provider)):
        for words in (("serve", "--port", str(free_port())), ("ask", QUESTION)):
            done = shop.with_settings(other).run(*words)
            assert isinstance(done.exception, WrongEmbedder)
            assert "indexed by cohere/embed-english-v3.0" in done.exception.what
            assert "Ingest 'tales' again" in done.exception.help_message
    health = shop.with_settings({}).run("doctor")
    assert "FIX  book tales         was indexed by cohere/embed-english-v3.0" in health.output


def test_a_setting_that_is_missing_is_named(book: Path, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "data", {"BYTHEBOOK_EMBEDDER": "cohere"})
    assert isinstance(shop.run("ingest", str(book)).exception, InputError)
    health = shop.run("doctor")
    assert health.exit_code == 1
    assert (
        "FIX  settings           There is no key for Cohere. Set BYTHEBOOK_EMBEDDER"
        in health.output
    )


def test_scores_of_an_embedder_are_warned_of_until_they_are_fitted(
    provider: ProviderStub, tmp_path: Path, caplog: pytest.LogCaptureFixture, sample_core: Core
) -> None:
    """A book whose embedder finds everything alike: its guessed map lets all through, a fit does not."""
    teach(provider, Meaning(sample_core, lean=0.5))
    core = Core(
        Settings(
            data_dir=tmp_path / "data",
            embedder="openai",
            embedder_model="leaning",
            embedder_base_url=f"{provider.url}/v1",
        )
    )
    core.replace(judge=sample_core.judge)
    asyncio.run(ingest(IngestOrder(str(sample_book()), "robots"), core.ingest, lambda _: None))

    def ask(question: str) -> Answered | Refused:
        return asyncio.run(collect(Question(question, Scope("robots")), core.ask))

    def warning() -> str | None:
        live = core.library.book("robots")
        return warning_of(live, core.calibrations.of(live))

    assert "was only guessed: run `bythebook calibrate robots`" in str(warning())
    assert max(passage.relevance for passage in ask(FOREIGN).passages) > 0.5
    fitted = asyncio.run(calibrate(CalibrateOrder("robots", effort=QUICK), core.calibrate, _ignore))
    assert fitted is not None
    core.calibrations.keep("robots", fitted.calibration)
    assert "estimated from few questions" in str(warning())
    refused = ask(FOREIGN)
    assert isinstance(refused, Refused)
    assert refused.refusal_type == "low_relevance"
    assert isinstance(ask("How do ROS 2 nodes communicate?"), Answered)
    core.close()


def _ignore(_done: int, _total: int) -> None:
    """Watch no progress."""


# A Qdrant server


def test_a_book_is_copied_served_listed_and_removed_on_a_server(
    qdrant: QdrantStub, book: Path, tmp_path: Path, sample_core: Core
) -> None:
    shop = Shop(tmp_path / "data")
    assert shop.run("ingest", str(book), "--no-calibrate").exit_code == 0
    there = shop.with_settings(qdrant_at(qdrant))
    copied = there.run("books", "copy", "tales", "--to", qdrant.url)
    assert copied.exit_code == 0, copied.output
    assert "tales: 4 chunks copied." in copied.output
    assert "was there already" in there.run("books", "copy", "--to", qdrant.url).output
    assert there.run("ask", QUESTION).exit_code == 0
    settings = Settings(
        data_dir=shop.data, port=free_port(), qdrant_url=qdrant.url, qdrant_api_key=QDRANT_KEY
    )
    core = Core(settings)
    core.replace(encoder=sample_core.encoder, judge=sample_core.judge)
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=120) as client:
        reply = client.post("/api/query", json={"query": QUESTION}).json()
        assert reply["status"] == "success"
        assert reply["answer"]["citations"][0]["referenced_text"] == HERON
        parts = client.get("/health").json()["dependencies"]
        assert parts["qdrant"]["status"] == parts["index"]["status"] == "ok"
    assert "4 chunks" in there.run("books", "list").output
    assert there.run("books", "remove", "tales", "--yes").exit_code == 0
    assert qdrant.collections == set()
    assert "There is no book yet" in there.run("books", "list").output


def test_a_book_is_ingested_on_a_server_with_an_embedder_elsewhere(
    qdrant: QdrantStub, provider: ProviderStub, book: Path, tmp_path: Path
) -> None:
    shop = Shop(tmp_path / "data", {**cohere_at(provider), **qdrant_at(qdrant)})
    assert shop.run("ingest", str(book), "--no-calibrate").exit_code == 0
    (name,) = qdrant.collections
    assert qdrant.engine().count(name).count == 4
    provider.always("/v2/embed", Reply(body=cohere_body(["x"], [[1.0]])))
    (book / "birds.md").write_text("# Birds\n\nAnother page.\n", "utf-8")
    assert shop.run("ingest", str(book), "--no-calibrate").exit_code == 1
    assert qdrant.collections == {name}  # the old generation, whole, and nothing else
    assert qdrant.engine().count(name).count == 4
    provider.always("/v2/embed", None)
    assert HERON in shop.run("ask", QUESTION).output


# What doctor says

ANSWERS: dict[str, tuple[Reply, str]] = {
    "key": (Reply(401, {"message": f"no {KEY}"}), "does not know the key"),
    "credit": (Reply(402, {"message": "pay"}), "has no credit left"),
    "model": (Reply(404, {"message": "model 'x' not found"}), "does not know the model"),
    "rate": (Reply(429, {"message": "slow"}, {"Retry-After": "60"}), "Try again in 60 seconds"),
    "dimension": (
        Reply(body=cohere_body(["x"], [[1.0, 0.0]])),
        "2 numbers where 1024 were expected",
    ),
}


@pytest.mark.parametrize("how", ANSWERS)
def test_doctor_says_what_is_wrong_with_an_embedder(
    provider: ProviderStub, tmp_path: Path, how: str
) -> None:
    reply, message = ANSWERS[how]
    provider.always("/v2/embed", reply)
    health = Shop(tmp_path / "data", cohere_at(provider)).run("doctor")
    assert health.exit_code == 1
    (line,) = [one for one in health.output.splitlines() if one.startswith("FIX  embedder")]
    assert message in line
    assert len(provider.requests) == 1, "one cheap call"


def test_doctor_says_that_nobody_is_there(tmp_path: Path) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    settings = {
        "BYTHEBOOK_EMBEDDER": "openai",
        "BYTHEBOOK_EMBEDDER_BASE_URL": f"{nowhere}/v1",
        "BYTHEBOOK_QDRANT_URL": nowhere,
    }
    said = Shop(tmp_path / "data", settings).run("doctor").output.splitlines()
    for part, setting in (
        ("embedder", "BYTHEBOOK_EMBEDDER_BASE_URL"),
        ("qdrant", "BYTHEBOOK_QDRANT_URL"),
    ):
        (line,) = [one for one in said if one.startswith(f"FIX  {part}")]
        assert "cannot be reached" in line
        assert setting in line


@pytest.mark.parametrize(("status", "message"), [(401, "does not know the key"), (500, "failed")])
def test_doctor_says_what_is_wrong_with_a_server(
    qdrant: QdrantStub, tmp_path: Path, status: int, message: str
) -> None:
    shop = Shop(tmp_path / "data", qdrant_at(qdrant))
    assert "ok   qdrant" in shop.run("doctor").output
    qdrant.faults.append(Fault("/exists", status))
    (line,) = [one for one in shop.run("doctor").output.splitlines() if "  qdrant" in one]
    assert line.startswith("FIX")
    assert message in line


def test_no_key_is_logged(
    provider: ProviderStub,
    qdrant: QdrantStub,
    book: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    shop = Shop(tmp_path / "data", {**cohere_at(provider), **qdrant_at(qdrant)})
    shop.run("ingest", str(book), "--no-calibrate")
    shop.run("ask", QUESTION)
    assert KEY not in caplog.text
    assert QDRANT_KEY not in caplog.text
    kept = [path.read_bytes() for path in shop.data.rglob("*") if path.is_file()]
    assert kept
    assert not any(KEY.encode() in one or QDRANT_KEY.encode() in one for one in kept)
