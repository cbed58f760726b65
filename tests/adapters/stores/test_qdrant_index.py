"""The Qdrant server as chunk index: the common suite in process and over HTTP, then what filter_by_ids it does."""

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse
from tests.adapters.stores.index_suite import IndexSuite, MakeCore, find_within, sections, vectors
from tests.adapters.stores.qdrant_stub import Fault, Misdeed, QdrantStub, serve_qdrant
from tests.adapters.stores.small_books import (
    BIRDS,
    CRAFTS,
    GLASS,
    HERON,
    PAGES,
    CountingEmbedder,
    core_over,
    find,
    publish,
)
from tests.conftest import SAMPLE

from bythebook.adapters.providers.resilience import Policy
from bythebook.adapters.qdrant.client import SharedQdrantClient
from bythebook.adapters.qdrant.copy import copy_book
from bythebook.adapters.qdrant.index import QdrantIndex
from bythebook.adapters.qdrant.layout import QdrantLayout, alias_name, book_collection_name
from bythebook.adapters.qdrant.writer import QdrantIndexWriter
from bythebook.ask.retrieve.fusion import fuse
from bythebook.bootstrap import Core
from bythebook.errors import InputError, StoreFailed, UnknownBook, WrongEmbedder
from bythebook.ports import Lookup

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
PATIENT = Policy(timeout=20.0, retries=1, backoff=0.01)  # a busy machine is no failure
HASTY = Policy(timeout=2.0, retries=1, backoff=0.01)
KEY = "a-key-nobody-may-read"
MakeClient = Callable[[], SharedQdrantClient]


class InProcess:
    """qdrant-client's in-process mode: it outlives its clients, and fails as a server does."""

    def __init__(self) -> None:
        self._engine = AsyncQdrantClient(":memory:")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._engine, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return await method(*args, **kwargs)
            except ValueError as error:
                if "not found" not in str(error):
                    raise
                body = b'{"status": {"error": "Not found"}, "time": 0.1}'
                raise UnexpectedResponse(404, "Not Found", body, httpx.Headers()) from error

        return call

    async def close(self) -> None:
        pass


def over_qdrant(core: Core, client: SharedQdrantClient, layout: QdrantLayout | None = None) -> Core:
    """Put a Qdrant server under a core."""
    layout = layout or QdrantLayout()
    core.replace(
        index=QdrantIndex(core.library, client, layout),
        index_writer=QdrantIndexWriter(core.library, client, layout),
    )
    return core


def copy_only_book(
    source: Core, target: Core, progress: list[tuple[int, int]] | None = None
) -> bool:
    """Copy the filter_by_ids book of a library to the server under another core."""
    (book,) = source.library.books()
    writer = cast("QdrantIndexWriter", target.index_writer)
    steps = [] if progress is None else progress

    def on_copied(done: int, total: int) -> None:
        steps.append((done, total))

    return asyncio.run(copy_book(book, source.library, source.index, writer, on_copied))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Core:
    """A core that filter_by_ids lends its model: loading it once is enough."""
    return core_over(tmp_path_factory.mktemp("unused"))


@pytest.fixture(scope="module", params=["in process", "over HTTP"])
def make_client(request: pytest.FixtureRequest) -> Iterator[MakeClient]:
    with ExitStack() as stack:
        if request.param == "in process":
            engine = cast("AsyncQdrantClient", InProcess())
            yield lambda: SharedQdrantClient(lambda: engine)
        else:
            stub = stack.enter_context(serve_qdrant(KEY))
            yield lambda: SharedQdrantClient.for_url(stub.url, KEY, PATIENT)


@pytest.fixture(scope="module")
def sample(sample_core: Core, make_client: MakeClient) -> Iterator[Core]:
    core = over_qdrant(core_over(sample_core.settings.data_dir, sample_core), make_client())
    assert copy_only_book(sample_core, core)
    yield core
    core.close()


@pytest.fixture(scope="module")
def client(make_client: MakeClient) -> Iterator[SharedQdrantClient]:
    client = make_client()
    yield client
    client.close()


@pytest.fixture
def another(model: Core, client: SharedQdrantClient) -> MakeCore:
    return lambda data_dir: over_qdrant(core_over(data_dir, model), client)


@pytest.fixture
def core(tmp_path: Path, another: MakeCore) -> Iterator[Core]:
    core = another(tmp_path / "data")
    yield core
    core.close()
    assert not (tmp_path / "data" / "open").exists()  # nothing embedded was opened


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "source"


class TestQdrantIndex(IndexSuite):
    """What every index must do."""

    def test_scores_are_those_of_the_embedded_index(self, sample: Core, sample_core: Core) -> None:
        for question in ("What is ROS 2?", "How does a robot keep its balance?", "?"):
            here, there = find(sample, question, limit=30), find(sample_core, question, limit=30)
            scores = {hit.chunk.chunk_id: (hit.cosine, hit.words) for hit in here}
            for hit in there:
                assert scores.pop(hit.chunk.chunk_id) == pytest.approx(
                    (hit.cosine, hit.words), abs=1e-5
                )
            assert scores == {}
            texts = [
                [p.chunk.text for p in fuse(hits, sample.embedder.model_id)[:8]]
                for hits in (here, there)
            ]
            assert texts[0] == texts[1]

    def test_a_copied_book_has_the_very_vectors_and_chunks(
        self, sample: Core, sample_core: Core
    ) -> None:
        hits = find(sample_core, "robot", limit=100)
        assert np.allclose(vectors(sample, hits), vectors(sample_core, hits), atol=1e-6)
        span = next(sections(sample_core, SAMPLE))
        ours, theirs = (find_within(core, "robot", span) for core in (sample, sample_core))
        chunks = [{hit.chunk.chunk_id: hit.chunk for hit in hits} for hits in (ours, theirs)]
        assert chunks[0] == chunks[1]


# Over HTTP: what is asked, in which order


@pytest.fixture
def stub() -> Iterator[QdrantStub]:
    with serve_qdrant(KEY) as stub:
        yield stub


@pytest.fixture
def served(tmp_path: Path, model: Core, stub: QdrantStub) -> Iterator[Core]:
    core = core_over(tmp_path / "data", model)
    over_qdrant(core, SharedQdrantClient.for_url(stub.url, KEY, PATIENT))
    yield core
    core.close()


def give(core: Core, stub: QdrantStub, fault: Fault) -> None:
    """Have the server misbehave; one that stalls is not waited for as long as others."""
    if fault.how == "stall":
        core.close()
        over_qdrant(core, SharedQdrantClient.for_url(stub.url, KEY, HASTY))
        find(core, "heron")
    stub.faults.append(fault)


def live_collection(core: Core, book_id: str = "tales") -> str:
    return book_collection_name(core.library.book(book_id))


def test_a_question_is_one_batch_of_both_ways_and_one_for_the_scores_still_missing(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    vector = asyncio.run(served.embedder.embed_query("heron"))
    find(served, "heron")  # so that the generation is known
    asked = len(stub.requests)
    hits = asyncio.run(served.index.search(Lookup("XK9000", vector, served.library.books(), 1)))
    path = f"/collections/{live_collection(served)}/points/query/batch"
    assert stub.lines(asked) == [f"POST {path}"] * 2
    first, second = stub.bodies("query/batch", asked)
    assert [(one["using"], one["limit"]) for one in first["searches"]] == [
        ("dense", 1),
        ("words", 1),
    ]
    by_meaning, by_words = sorted(hits, key=lambda hit: -hit.cosine)
    assert [one["filter"]["must"][0]["has_id"] for one in second["searches"]] == [
        [by_words.chunk.chunk_id],
        [by_meaning.chunk.chunk_id],
    ]
    assert by_words.cosine != 0
    assert (by_meaning.words, by_words.words > 0.1) == (0, True)


def test_a_generation_is_counted_then_switched_to_in_one_request_then_the_old_one_goes(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales", {"birds.md": BIRDS})
    old, asked = live_collection(served), len(stub.requests)
    publish(served, source, "tales", {"crafts.md": CRAFTS})
    new = live_collection(served)
    lines = stub.lines(asked)
    switches = [n for n, line in enumerate(lines) if line == "POST /collections/aliases"]
    assert len(switches) == 1
    assert lines.index(f"POST /collections/{new}/points/count") < switches[0]
    assert switches[0] < lines.index(f"DELETE /collections/{old}")
    (switch,) = stub.bodies("/aliases", asked)
    alias = alias_name("tales")
    assert switch["actions"] == [
        {"delete_alias": {"alias_name": alias}},
        {"create_alias": {"alias_name": alias, "collection_name": new}},
    ]
    assert stub.collections == {new}
    assert stub.aliases == {alias: new}


def test_an_unchanged_book_is_taken_over_from_the_server_without_the_vector_cache(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    for path in (served.settings.data_dir / "cache").iterdir():
        path.unlink()
    served.replace()  # the cache is opened again
    embedder = CountingEmbedder(served.embedder)
    report = publish(served, source, "tales", embedder=embedder)
    assert (report.kept, embedder.passages) == (4, [])
    assert any(line.endswith("points/scroll") for line in stub.lines())
    assert find(served, "glass")[0].chunk.text == GLASS


def test_payload_and_its_indexes_are_those_of_the_seeds_and_of_sections(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    name = live_collection(served)
    kinds = {field: kind["type"] for field, kind in stub.indexes[name].items()}
    assert kinds == {
        "chapter": "keyword",
        "section": "keyword",
        "source_url": "keyword",
        "content_hash": "keyword",
        "document_id": "keyword",
        "chunk_index": "integer",
        "page": "integer",
        "char_start": "integer",
        "char_end": "integer",
        "text": "text",
    }
    points, _ = stub.engine().scroll(name, with_payload=True)
    fields = {"book_id", "chunk_id", "text", "embedding_model", "token_count", *kinds}
    assert all(fields <= (point.payload or {}).keys() for point in points)
    assert {point.id for point in points} == served.index_writer.chunk_ids("tales")


@pytest.mark.parametrize("quantisation", ["scalar", "binary"])
def test_a_layout_for_large_libraries_reaches_the_server(
    served: Core, source: Path, stub: QdrantStub, quantisation: Any
) -> None:
    layout = QdrantLayout(shards=3, replicas=2, quantisation=quantisation, on_disk=True)
    over_qdrant(served, SharedQdrantClient.for_url(stub.url, KEY, PATIENT), layout)
    publish(served, source, "tales")
    (made,) = [one.body for one in stub.requests if one.line.startswith("PUT /collections/")][:1]
    assert (made["shard_number"], made["replication_factor"]) == (3, 2)
    assert made["quantization_config"][quantisation]["always_ram"] is True
    assert made["on_disk_payload"] is made["vectors"]["dense"]["on_disk"] is True
    assert made["hnsw_config"]["on_disk"] is made["sparse_vectors"]["words"]["index"]["on_disk"]
    assert find(served, "glass")[0].chunk.text == GLASS
    dense, words = stub.bodies("query/batch")[0]["searches"]
    assert dense["params"]["quantization"]["rescore"] is True  # so that cosines stay true
    assert words.get("params") is None


# Runs that fail, and runs that are killed


def test_a_generation_with_a_wrong_count_is_not_published(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    live, aliases, collections = live_collection(served), stub.aliases, stub.collections
    stub.faults.append(Fault("/points/count", "lie"))
    with pytest.raises(StoreFailed, match="holds 1 chunks where 2 were cut; the old one stays"):
        publish(served, source, "tales", {"birds.md": BIRDS})
    stub.faults.clear()
    assert live_collection(served) == live
    assert (stub.aliases, stub.collections) == (aliases, collections)
    assert find(served, "glass")[0].chunk.text == GLASS


def test_a_failure_after_the_switch_puts_the_alias_back(
    served: Core, source: Path, stub: QdrantStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(served, source, "tales")
    live, aliases = live_collection(served), stub.aliases

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(served.library, "publish", full)
        with pytest.raises(OSError, match="No space left"):
            publish(served, source, "tales", {"birds.md": BIRDS})
    assert stub.aliases == aliases
    assert stub.collections == {live}
    assert find(served, "glass")[0].chunk.text == GLASS


CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from bythebook.adapters.qdrant.layout import QdrantLayout
from bythebook.adapters.qdrant.client import SharedQdrantClient
from bythebook.adapters.qdrant.writer import QdrantIndexWriter
from bythebook.bootstrap import Core
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

core = Core(Settings(data_dir=Path(sys.argv[1]), threads=1))
client = SharedQdrantClient.for_url(sys.argv[3], sys.argv[4])
core.replace(index_writer=QdrantIndexWriter(core.library, client, QdrantLayout()))

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def tell(progress):
    if progress.stage == sys.argv[5]:
        die()

if sys.argv[5] == "switched":
    core.library.publish = die
asyncio.run(ingest(IngestOrder(sys.argv[2], "tales"), core.ingest, tell))
"""


def ingest_and_kill(core: Core, source: Path, stub: QdrantStub, stage: str) -> None:
    """Ingest in a process of its own, which is killed when it has come so far."""
    command = [sys.executable, "-c", CHILD, str(core.settings.data_dir), str(source)]
    ended = subprocess.run([*command, stub.url, KEY, stage], check=False)
    assert ended.returncode == -signal.SIGKILL


def test_a_killed_run_leaves_the_old_generation_live_and_the_next_one_cleans_up(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales", {"birds.md": BIRDS})
    live, aliases = live_collection(served), stub.aliases
    (source / "crafts.md").write_text(CRAFTS)
    ingest_and_kill(served, source, stub, "publishing")
    assert len(stub.collections) == 2  # one is unfinished
    assert (live_collection(served), stub.aliases) == (live, aliases)
    assert find(served, "heron")[0].chunk.text == HERON
    publish(served, source, "tales")
    assert stub.collections == {live_collection(served)}
    assert stub.aliases == {alias_name("tales"): live_collection(served)}
    assert find(served, "glass")[0].chunk.text == GLASS


def test_a_run_killed_between_alias_and_pointer_is_undone_by_the_next(
    served: Core, source: Path, stub: QdrantStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(served, source, "tales", {"birds.md": BIRDS})
    live = live_collection(served)
    (source / "crafts.md").write_text(CRAFTS)
    ingest_and_kill(served, source, stub, "switched")
    assert live_collection(served) == live
    assert stub.aliases[alias_name("tales")] != live
    assert find(served, "heron")[0].chunk.text == HERON  # questions go by the pointer
    monkeypatch.setattr(type(served.reader), "read", _cut_off)
    with pytest.raises(OSError, match="cut off"):
        publish(served, source, "tales")
    assert stub.collections == {live}
    assert stub.aliases == {alias_name("tales"): live}


def _cut_off(*_: object, **__: object) -> None:
    raise OSError("cut off")


def test_collections_of_another_data_folder_are_left_alone(
    served: Core, source: Path, stub: QdrantStub, model: Core, tmp_path: Path
) -> None:
    publish(served, source, "tales")
    other = core_over(tmp_path / "other", model)
    over_qdrant(other, SharedQdrantClient.for_url(stub.url, KEY, PATIENT))
    for pages in ({"birds.md": BIRDS}, {"crafts.md": CRAFTS}):
        publish(other, source, "tales", pages)
    other.index_writer.remove("tales")
    other.close()
    assert stub.collections == {live_collection(served)}
    assert find(served, "heron")[0].chunk.text == HERON


def test_a_removed_book_leaves_nothing_on_the_server_even_if_it_was_away_at_first(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    publish(served, source, "other", {"birds.md": BIRDS})
    stub.faults.append(Fault(live_collection(served), 500))
    with pytest.raises(StoreFailed):
        served.index_writer.remove("tales")
    assert [book.book_id for book in served.library.books()] == ["other"]
    stub.faults.clear()
    served.index_writer.require_book("tales")  # the server still has it
    served.index_writer.remove("tales")
    assert stub.collections == {live_collection(served, "other")}
    assert stub.aliases == {alias_name("other"): live_collection(served, "other")}
    for use in (served.index_writer.require_book, served.index_writer.remove):
        with pytest.raises(UnknownBook):
            use("tales")


# What does not belong together


def test_a_question_of_another_length_is_refused_with_what_to_do(
    served: Core, source: Path
) -> None:
    publish(served, source, "tales")
    asked = served.index.search(Lookup("glass", np.ones(3, np.float32), served.library.books(), 5))
    with pytest.raises(WrongEmbedder, match=r"vectors of 384 numbers .* into 3") as caught:
        asyncio.run(asked)
    assert "Ingest 'tales' again" in caught.value.help_message


def test_vectors_of_a_wrong_shape_are_never_stored(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    chunks = [hit.chunk for hit in find(served, "heron")]
    upserts = len(stub.bodies("/points"))
    with served.index_writer.open_draft("tales", "wrong", served.embedder) as draft:
        for shape in ((4, 3), (3, 384)):
            with pytest.raises(WrongEmbedder, match="the old index stays"):
                draft.add(chunks, np.ones(shape, np.float32))
    assert len(stub.bodies("/points")) == upserts


def test_a_book_that_is_not_on_the_server_says_how_to_bring_it_there(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    hits = find(served, "heron")
    stub.engine().delete_collection(live_collection(served))
    for ask in (lambda: find(served, "heron"), lambda: vectors(served, hits)):
        with pytest.raises(
            StoreFailed, match="does not have the published generation of the book 'tales'"
        ) as caught:
            ask()
        assert "bythebook books copy --to" in caught.value.help_message
    report = publish(served, source, "tales")
    assert (report.chunks, report.embedded) == (4, 0)
    assert find(served, "heron")[0].chunk.text == HERON


def test_a_server_that_lost_chunks_is_a_failed_store(
    served: Core, source: Path, stub: QdrantStub, model: Core
) -> None:
    publish(served, source, "tales")
    ids = sorted(served.index_writer.chunk_ids("tales"))
    stub.engine().delete(live_collection(served), models.PointIdsList(points=ids[:1]))
    with pytest.raises(StoreFailed, match="holds 3 chunks of the book 'tales' where 4"):
        find(served, "heron")


# Copying an embedded index


@pytest.fixture
def embedded(tmp_path: Path, model: Core, source: Path) -> Iterator[Core]:
    core = core_over(tmp_path / "data", model)
    filler = {f"{n}.md": f"# Page {n}\n\nValves and parts of kind {n}.\n" for n in range(80)}
    publish(core, source, "tales", {**PAGES, **filler})
    yield core
    core.close()


def test_a_copy_embeds_nothing_reports_progress_and_runs_once(
    embedded: Core, served: Core, stub: QdrantStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(embedded.embedder), "embed_passages", _cut_off)
    progress: list[tuple[int, int]] = []
    assert copy_only_book(embedded, served, progress)
    assert progress == [(0, 84), (64, 84), (84, 84)]
    assert stub.aliases == {alias_name("tales"): live_collection(served)}
    here, there = ({h.chunk.chunk_id: h for h in find(c, "glass")} for c in (served, embedded))
    assert here.keys() == there.keys()
    assert all(here[name].cosine == pytest.approx(there[name].cosine, abs=1e-6) for name in here)
    asked = len(stub.requests)
    assert not copy_only_book(embedded, served)
    assert stub.lines(asked) == [f"POST /collections/{live_collection(served)}/points/count"]


def test_a_copy_that_was_broken_off_leaves_nothing_and_a_killed_one_is_made_again(
    embedded: Core, served: Core, stub: QdrantStub
) -> None:
    stub.faults.append(Fault("/points", 500, times=2))
    with pytest.raises(StoreFailed):
        copy_only_book(embedded, served)
    assert stub.collections == set()
    assert copy_only_book(embedded, served)
    ids = sorted(served.index_writer.chunk_ids("tales"))
    stub.engine().delete(live_collection(served), models.PointIdsList(points=ids[:30]))
    assert copy_only_book(embedded, served)  # as if it had been killed before it was full
    assert find(served, "glass")[0].chunk.text == GLASS


def test_after_a_copy_the_next_ingest_mends_what_the_server_has(
    embedded: Core, served: Core, source: Path, stub: QdrantStub
) -> None:
    assert copy_only_book(embedded, served)
    pages = {path.name: path.read_text() for path in source.iterdir()}
    report = publish(served, source, "tales", {**pages, "new.md": "# New\n\nA new page.\n"})
    assert (report.added, report.embedded) == (1, 1)
    assert stub.collections == {live_collection(served)}
    with pytest.raises(
        StoreFailed, match="tales"
    ):  # the new generation is on the server filter_by_ids
        find(embedded, "glass")


# A server that is unwell

LASTING: dict[int | Misdeed, tuple[str, str]] = {
    401: ("does not know the key", "BYTHEBOOK_QDRANT_API_KEY"),
    403: ("does not let this key", "BYTHEBOOK_QDRANT_API_KEY"),
    404: ("does not know the address", "BYTHEBOOK_QDRANT_URL"),
    400: ("rejects the request", "1.10 or newer"),
}
PASSING: dict[int | Misdeed, tuple[str, str]] = {
    500: ("failed", "Try again"),
    503: ("failed", "Try again"),
    "stall": ("did not answer in time", "the address"),
    "cut": ("the connection broke", "BYTHEBOOK_QDRANT_URL"),
    "garbage": ("an unreadable response", "BYTHEBOOK_QDRANT_URL"),
}


@pytest.mark.parametrize("how", [*LASTING, *PASSING])
def test_a_server_that_is_unwell_is_a_failed_store_that_says_what_to_do(
    served: Core, source: Path, stub: QdrantStub, how: int | Misdeed
) -> None:
    publish(served, source, "tales")
    find(served, "heron")
    give(served, stub, Fault("/query/batch", how))
    asked = len(stub.requests)
    with pytest.raises(StoreFailed) as caught:
        find(served, "heron")
    what, to_do = {**LASTING, **PASSING}[how]
    assert what in caught.value.what
    assert to_do in caught.value.help_message
    assert caught.value.retryable == (how in PASSING)
    assert len(stub.requests) - asked == (2 if how in PASSING else 1)
    said = f"{caught.value.what} {caught.value.help_message} {caught.value!r}"
    assert KEY not in said
    assert "127.0.0.1" not in said


@pytest.mark.parametrize("how", [500, "stall", "cut", "garbage"])
def test_one_bad_moment_is_tried_again(
    served: Core, source: Path, stub: QdrantStub, how: int | Misdeed
) -> None:
    publish(served, source, "tales")
    find(served, "heron")
    give(served, stub, Fault("/query/batch", how, times=1))
    assert find(served, "heron")[0].chunk.text == HERON


def test_a_busy_server_is_left_alone_as_long_as_it_says(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    served.close()
    over_qdrant(
        served, SharedQdrantClient.for_url(stub.url, KEY, HASTY)
    )  # who waits for less than it says
    find(served, "heron")
    stub.faults.append(Fault("/query/batch", 429, headers={"Retry-After": "7"}))
    asked = len(stub.requests)
    for _ in range(3):
        with pytest.raises(StoreFailed) as caught:
            find(served, "heron")
        assert caught.value.retry_after in {6, 7}
    assert len(stub.requests) - asked == 1


def test_a_server_that_goes_on_failing_is_left_alone(
    served: Core, source: Path, stub: QdrantStub
) -> None:
    publish(served, source, "tales")
    find(served, "heron")
    stub.faults.append(Fault("/query/batch", 500))
    asked = len(stub.requests)
    for _ in range(6):
        with pytest.raises(StoreFailed) as caught:
            find(served, "heron")
    assert len(stub.requests) - asked == 5
    assert caught.value.retry_after


def test_a_server_that_is_not_there_is_a_failed_store(tmp_path: Path, model: Core) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        client = SharedQdrantClient.for_url(
            f"http://127.0.0.1:{unused.getsockname()[1]}", KEY, HASTY
        )
        core = over_qdrant(core_over(tmp_path / "data", model), client)
        with pytest.raises(StoreFailed, match="cannot be reached") as caught:
            publish(core, tmp_path / "source", "tales")
        core.close()
    assert "BYTHEBOOK_QDRANT_URL" in caught.value.help_message
    assert core.library.books() == []


@pytest.mark.parametrize("how", [500, "cut", "stall"])
@pytest.mark.parametrize("step", ["/points", "/aliases", "/index"])
def test_a_run_that_meets_a_failing_server_leaves_the_live_generation_alone(
    served: Core, source: Path, stub: QdrantStub, step: str, how: int | Misdeed
) -> None:
    publish(served, source, "tales")
    live, aliases = live_collection(served), stub.aliases
    give(served, stub, Fault(step, how, times=2))
    with pytest.raises(StoreFailed):
        publish(served, source, "tales", {"birds.md": BIRDS})
    assert live_collection(served) == live
    assert stub.aliases == aliases
    assert stub.collections == {live}
    assert find(served, "glass")[0].chunk.text == GLASS


def test_no_host_but_the_servers_is_looked_up_and_the_key_goes_there_alone(
    served: Core, source: Path, stub: QdrantStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[object] = []
    real = socket.getaddrinfo

    def note_host(host: Any, *args: Any, **kwargs: Any) -> Any:
        looked_up.append(host)
        return real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", note_host)
    publish(served, source, "tales")
    find(served, "heron")
    assert {str(host) for host in looked_up} <= {"127.0.0.1"}
    assert {one.headers["api-key"] for one in stub.requests} == {KEY}
    asked_of_itself = {"/", "/telemetry", "/cluster", "/healthz"}
    assert not asked_of_itself & {one.path for one in stub.requests}


@pytest.mark.parametrize("url", ["", "localhost:6333", "ftp://host", "http://", "http://h:99999"])
def test_rejects_an_invalid_address_at_once(url: str) -> None:
    with pytest.raises(InputError) as caught:
        SharedQdrantClient.for_url(url)
    assert "BYTHEBOOK_QDRANT_URL" in caught.value.help_message


def test_a_key_that_travels_openly_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    for url in ("https://books.example:6333", "http://localhost:6333", "http://[::1]:6333"):
        SharedQdrantClient.for_url(url, KEY)
    assert caplog.messages == []
    SharedQdrantClient.for_url("http://books.example:6333", KEY)
    assert "unencrypted" in caplog.text
    assert KEY not in caplog.text


def test_an_embedded_index_over_the_same_folder_is_not_disturbed_by_a_copy(
    embedded: Core, served: Core
) -> None:
    assert find(embedded, "glass")[0].chunk.text == GLASS
    assert copy_only_book(embedded, served)
    embedded.close()  # so that it is opened again
    assert find(embedded, "glass")[0].chunk.text == find(served, "glass")[0].chunk.text == GLASS
