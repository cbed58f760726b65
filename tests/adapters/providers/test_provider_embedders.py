"""The embedders of Cohere and OpenAI, by their real SDKs, over real sockets to a stub on loopback."""

import asyncio
import logging
import math
import traceback
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.adapters.providers.provider_stub import (
    ProviderStub,
    Reply,
    Seen,
    cohere_body,
    openai_body,
    provider_stub,
    stub_vector,
)
from tests.adapters.stores.small_books import PAGES, write_pages

from bythebook.adapters.providers.cohere_embedder import CohereEmbedder
from bythebook.adapters.providers.openai_embedder import OpenAiEmbedder
from bythebook.adapters.providers.provider_embedder import CallTiming
from bythebook.adapters.providers.resilience import EMBEDDER, Policy
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.retrieve.passages import find_passages
from bythebook.bootstrap import Core
from bythebook.domain.questions import Question
from bythebook.domain.reports import IngestReport
from bythebook.errors import EmbedderFailed, InputError, WrongEmbedder
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.ports import Embedder
from bythebook.settings import Settings

pytestmark = pytest.mark.anyio
KEY = "sk-secret-0123456789abcdef"
Made = CohereEmbedder | OpenAiEmbedder


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Time:
    """A clock that moves only when somebody sleeps by it."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class Side:
    """One provider: how its embedder is made, and how its stub answers and misbehaves."""

    def __init__(self, vendor: str, stub: ProviderStub) -> None:
        self.vendor = vendor
        self.stub = stub
        self.time = Time()
        self.path = "/v2/embed" if vendor == "cohere" else "/v1/embeddings"
        self.dimension = 1024 if vendor == "cohere" else 1536

    def embedder(self, policy: Policy = EMBEDDER) -> Made:
        timing = CallTiming(policy, self.time.clock, self.time.sleep)
        if self.vendor == "cohere":
            return CohereEmbedder(KEY, "embed-english-v3.0", self.stub.url, timing=timing)
        return OpenAiEmbedder(KEY, "", f"{self.stub.url}/v1", timing=timing)

    def texts(self, request: Seen) -> list[str]:
        found: list[str] = request.body["texts" if self.vendor == "cohere" else "input"]
        return found

    def sends(self, change: Callable[[list[Any]], list[Any]]) -> Callable[[Seen], Reply]:
        """Answer with vectors that were tampered with."""

        def answer(request: Seen) -> Reply:
            texts = self.texts(request)
            rows = change([stub_vector(text, self.dimension) for text in texts])
            body = cohere_body(texts, rows) if self.vendor == "cohere" else openai_body(rows)
            return Reply(body=body)

        return answer

    @property
    def calls(self) -> int:
        return len(self.stub.requests_to(self.path))


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with provider_stub() as stub:
        yield stub
        assert stub.violations == []


@pytest.fixture(params=["cohere", "openai"])
def side(request: pytest.FixtureRequest, stub: ProviderStub) -> Side:
    return Side(request.param, stub)


def unit(text: str, dimension: int) -> np.ndarray[Any, Any]:
    vector = np.array(stub_vector(text, dimension))
    whole: np.ndarray[Any, Any] = vector / np.linalg.norm(vector)
    return whole


async def catch_failure(embedder: Made, text: str = "Why is the sky blue?") -> EmbedderFailed:
    with pytest.raises(EmbedderFailed) as caught:
        await embedder.embed_query(text)
    return caught.value


async def test_embeds_questions_and_passages(side: Side) -> None:
    embedder: Embedder = side.embedder()
    question = await embedder.embed_query("Why is the sky blue?")
    passages = await embedder.embed_passages(["Light is scattered.", "Water is wet."])
    assert np.allclose(question, unit("Why is the sky blue?", side.dimension), atol=1e-5)
    assert passages.shape == (2, embedder.dimension) == (2, side.dimension)
    assert np.allclose(passages[1], unit("Water is wet.", side.dimension), atol=1e-5)
    assert question.dtype == passages.dtype == np.float32


def test_names_its_model_and_its_price(stub: ProviderStub) -> None:
    cohere, openai = CohereEmbedder(KEY), OpenAiEmbedder(KEY)
    assert (cohere.model_id, cohere.dimension) == ("cohere/embed-multilingual-v3.0", 1024)
    assert (openai.model_id, openai.dimension) == ("openai/text-embedding-3-small", 1536)
    assert cohere.usd_per_million_tokens == 0.10
    assert openai.usd_per_million_tokens == 0.02


async def test_cohere_is_told_what_a_text_is_for_and_to_cut_nothing(stub: ProviderStub) -> None:
    side = Side("cohere", stub)
    embedder = side.embedder()
    await embedder.embed_query("Why?")
    await embedder.embed_passages(["Because."])
    question, passage = (request.body for request in stub.requests_to("/v2/embed"))
    assert question == {
        "model": "embed-english-v3.0",
        "texts": ["Why?"],
        "input_type": "search_query",
        "embedding_types": ["float"],
        "truncate": "NONE",
    }
    assert passage["input_type"] == "search_document"
    assert passage["truncate"] == "NONE"


async def test_openai_is_asked_for_floats(stub: ProviderStub) -> None:
    await Side("openai", stub).embedder().embed_query("Why?")
    [request] = stub.requests_to("/v1/embeddings")
    assert request.body == {
        "model": "text-embedding-3-small",
        "input": ["Why?"],
        "encoding_format": "float",
    }


@pytest.mark.parametrize(("vendor", "most"), [("cohere", 96), ("openai", 128)])
async def test_two_thousand_texts_go_in_batches_and_come_back_in_order(
    vendor: str, most: int
) -> None:
    texts = [f"Passage number {number}." for number in range(2000)]
    with provider_stub(dimensions={"embed-english-light-v3.0": 384, "tiny": 16}) as stub:
        side, embedder = Side(vendor, stub), small_embedder(vendor, stub.url)
        vectors = await embedder.embed_passages(texts)
        sizes = [len(side.texts(request)) for request in stub.requests_to(side.path)]
        assert stub.violations == []
    batches = math.ceil(2000 / most)
    assert max(sizes) == most
    assert sum(sizes) == 2000 + 2 * batches  # two of each batch once more, alone
    assert sizes.count(1) == 2 * batches
    expected = np.array([unit(text, embedder.dimension) for text in texts])
    assert np.allclose(vectors, expected, atol=1e-5)


def small_embedder(vendor: str, url: str) -> Made:
    """One whose vectors are short, since there are many of them."""
    if vendor == "cohere":
        return CohereEmbedder(KEY, "embed-english-light-v3.0", url)
    return OpenAiEmbedder(KEY, "tiny", f"{url}/v1")


async def test_long_texts_go_in_smaller_batches(side: Side) -> None:
    texts = [f"{number} " + "字" * 28_000 for number in range(5)]  # about 40,000 tokens each
    assert (await side.embedder().embed_passages(texts)).shape == (5, side.dimension)
    sizes = [len(side.texts(request)) for request in side.stub.requests_to(side.path)]
    assert sizes == [2, 1, 2, 1, 1]  # the first of two once more, alone


async def test_half_a_character_is_sent_as_a_question_mark(side: Side) -> None:
    await side.embedder().embed_passages(["broken \ud800 text"])
    assert side.texts(side.stub.requests[0]) == ["broken ? text"]


async def test_nothing_to_embed_is_nothing_asked(side: Side) -> None:
    assert (await side.embedder().embed_passages([])).shape == (0, side.dimension)
    assert side.calls == 0


TAMPERED: dict[str, Callable[[list[Any]], list[Any]]] = {
    "short": lambda rows: rows[:-1],
    "long": lambda rows: [*rows, rows[0]],
    "empty": lambda rows: [],
    "NaN": lambda rows: [*rows[:-1], [math.nan, *rows[-1][1:]]],
    "infinite": lambda rows: [[math.inf, *rows[0][1:]], *rows[1:]],
    "too large for a float": lambda rows: [[1e300] * len(rows[0]), *rows[1:]],
    "another dimension": lambda rows: [row[:-1] for row in rows],
    "one of another dimension": lambda rows: [*rows[:-1], rows[-1][:-1]],
    "zeros": lambda rows: [*rows[:-1], [0.0] * len(rows[0])],
    "words": lambda rows: [*rows[:-1], ["1.0"] * len(rows[0])],
    "nothing in it": lambda rows: [*rows[:-1], [None] * len(rows[0])],
    "null": lambda rows: [*rows[:-1], None],
    "not even vectors": lambda rows: [1.0 for _ in rows],
}


@pytest.mark.parametrize("tampered", TAMPERED)
async def test_an_answer_that_is_wrong_is_an_error_and_gives_nothing(
    side: Side, tampered: str
) -> None:
    side.stub.always(side.path, side.sends(TAMPERED[tampered]))
    embedder = side.embedder()
    with pytest.raises(EmbedderFailed, match="sent"):
        await embedder.embed_passages(["one", "two", "three"])


async def test_an_answer_that_was_wrong_once_is_asked_for_again(side: Side) -> None:
    side.stub.script(side.path, side.sends(TAMPERED["short"]))
    vectors = await side.embedder().embed_passages(["one", "two"])
    assert np.allclose(vectors[0], unit("one", side.dimension), atol=1e-5)


async def test_vectors_in_another_order_are_put_into_theirs_by_their_number(
    stub: ProviderStub,
) -> None:
    side, texts = Side("openai", stub), ["one", "two", "three"]
    rows = [stub_vector(text, 1536) for text in reversed(texts)]
    stub.script(side.path, Reply(body=openai_body(rows, [2, 1, 0])))
    vectors = await side.embedder().embed_passages(texts)
    assert np.allclose(vectors[0], unit("one", 1536), atol=1e-5)


@pytest.mark.parametrize("places", [[0, 0, 1], [1, 2, 3], [0, 1, 5], [0, 1, None], [0, 1, "2"]])
async def test_numbers_that_do_not_fit_are_an_error(stub: ProviderStub, places: list[Any]) -> None:
    side, texts = Side("openai", stub), ["one", "two", "three"]
    rows = [stub_vector(text, 1536) for text in texts]
    stub.always(side.path, Reply(body=openai_body(rows, places)))
    with pytest.raises(EmbedderFailed, match="indexes"):
        await side.embedder().embed_passages(texts)


async def test_texts_repeated_in_another_order_are_an_error(stub: ProviderStub) -> None:
    side, texts = Side("cohere", stub), ["One thing.", "Another thing."]
    rows = [stub_vector(text, 1024) for text in reversed(texts)]
    stub.always(side.path, Reply(body=cohere_body(["another thing.", "one thing."], rows)))
    with pytest.raises(EmbedderFailed, match="another order"):
        await side.embedder().embed_passages(texts)


PERMUTED: dict[str, Callable[[list[Any]], list[Any]]] = {
    "reversed": lambda rows: rows[::-1],
    "rotated": lambda rows: [*rows[1:], *rows[:1]],
    "sorted": lambda rows: sorted(rows, reverse=sorted(rows) == rows),
    "first two swapped": lambda rows: [*rows[1::-1], *rows[2:]],
}


@pytest.mark.parametrize("permuted", PERMUTED)
@pytest.mark.parametrize("count", [2, 3, 8])
async def test_vectors_in_another_order_under_the_right_numbers_are_an_error(
    side: Side, permuted: str, count: int
) -> None:
    """Neither a number nor a repeated text tells: only asking for one of them alone does."""
    side.stub.always(side.path, side.sends(PERMUTED[permuted]))
    texts = [f"Passage number {number}." for number in range(count)]
    with pytest.raises(EmbedderFailed, match="belong to other texts"):
        await side.embedder().embed_passages(texts)


async def test_vectors_that_differ_a_little_from_call_to_call_are_taken(side: Side) -> None:
    dice = np.random.default_rng(5)

    def noisy(rows: list[Any]) -> list[Any]:
        found: list[Any] = [
            (np.array(row) + dice.normal(0, 0.1, len(row))).tolist() for row in rows
        ]
        return found

    side.stub.always(side.path, side.sends(noisy))
    assert len(await side.embedder().embed_passages(["one", "two", "two", "three"])) == 4


async def test_texts_repeated_in_lower_case_are_the_same_texts(stub: ProviderStub) -> None:
    side, texts = Side("cohere", stub), ["One  thing.", "Another thing."]
    rows = [stub_vector(text, 1024) for text in texts]
    stub.script(side.path, Reply(body=cohere_body(["one thing.", "another thing."], rows)))
    assert len(await side.embedder().embed_passages(texts)) == 2


@pytest.mark.parametrize(
    "body",
    [b"<html>busy</html>", b"", b"null", b"[]", b'{"data": "x", "embeddings": 3}', b'{"id": "x"}'],
)
async def test_something_else_than_vectors_is_an_error(side: Side, body: bytes) -> None:
    side.stub.always(side.path, Reply(body=body))
    assert (await catch_failure(side.embedder())).retryable


@pytest.mark.parametrize(
    ("status", "says", "calls"),
    [
        (401, "does not know the key", 1),
        (402, "no credit", 1),
        (403, "does not let this key", 1),
        (404, "does not know the model", 1),
        (429, "no more requests", 3),
        (500, "failed", 3),
        (503, "failed", 3),
    ],
)
async def test_a_refusal_says_what_to_do_and_only_what_may_pass_is_tried_again(
    side: Side, status: int, says: str, calls: int
) -> None:
    side.stub.always(side.path, Reply(status, {"message": f"no: {KEY}", "error": {"message": KEY}}))
    failure = await catch_failure(side.embedder())
    assert says in failure.what
    assert failure.help_message
    assert side.calls == calls


async def test_a_retry_after_is_honoured_and_passed_on(side: Side) -> None:
    side.stub.always(side.path, Reply(429, {"message": "slow"}, {"Retry-After": "120"}))
    embedder = side.embedder()
    assert (await catch_failure(embedder)).retry_after == 120
    side.stub.always(side.path, None)
    side.time.now += 100
    assert (await catch_failure(embedder)).retry_after == 20
    assert side.calls == 1
    side.time.now += 20
    await embedder.embed_query("Why?")


async def test_ingest_waits_for_a_retry_after(side: Side) -> None:
    side.stub.script(side.path, Reply(429, {"message": "slow"}, {"Retry-After": "45"}))
    assert len(await side.embedder().embed_passages(["one"])) == 1
    assert side.time.now == pytest.approx(45)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (Reply(delay=20), "did not answer in time"),
        (Reply(body={"x": "y" * 1000}, end="stall"), "did not answer in time"),
        (Reply(body={"x": "y" * 1000}, end="cut"), "cannot be reached, or the connection broke"),
        (Reply(307, {}, {"Location": "http://203.0.113.1/"}), "another address"),
        (Reply(body=b" " * (33 * 2**20)), "too large"),
        (Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "too large"),
    ],
    ids=["silent", "stalled", "cut", "redirected", "33 MB", "compressed"],
)
async def test_a_bad_day_of_the_network_is_an_error(side: Side, reply: Reply, says: str) -> None:
    side.stub.always(side.path, reply)
    timeout = 0.3 if "time" in says else 120
    failure = await catch_failure(side.embedder(Policy(timeout=timeout)))
    assert says in failure.what


async def test_nobody_there_is_an_error(side: Side) -> None:
    side.stub.stop()
    assert "cannot be reached" in (await catch_failure(side.embedder())).what


async def test_a_dead_upstream_sees_ten_calls_a_minute_and_its_return_within_35_seconds(
    side: Side,
) -> None:
    side.stub.always(side.path, Reply(500, {"message": "down"}))
    embedder, at = side.embedder(), list[float]()
    for second in range(180):
        before = side.calls
        await catch_failure(embedder, f"Question {second}?")
        at += [side.time.now] * (side.calls - before)
        side.time.now += 1
    assert max(sum(1 for call in at if t <= call < t + 60) for t in at) <= 10
    side.stub.always(side.path, None)
    back = side.time.now
    while side.time.now < back + 40:
        try:
            await embedder.embed_query("Are you there?")
        except EmbedderFailed:
            side.time.now += 1
        else:
            break
    assert side.time.now - back <= 35


async def test_the_same_question_is_embedded_once_an_hour(side: Side) -> None:
    embedder = side.embedder()
    first = await embedder.embed_query("Why?")
    assert np.array_equal(await embedder.embed_query("Why?"), first)
    await embedder.embed_query("How?")
    assert side.calls == 2
    side.time.now += 3601
    await embedder.embed_query("Why?")
    assert side.calls == 3


async def test_who_asks_the_same_at_once_waits_for_one_vector(side: Side) -> None:
    embedder = side.embedder()
    vectors = await asyncio.gather(*(embedder.embed_query("Why?") for _ in range(20)))
    assert side.calls == 1
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


async def test_an_asker_who_leaves_takes_nothing_from_the_others(side: Side) -> None:
    embedder = side.embedder()
    leaving = asyncio.create_task(embedder.embed_query("Why?"))
    staying = asyncio.create_task(embedder.embed_query("Why?"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).shape == (side.dimension,)
    assert side.calls == 1


async def test_a_failure_is_not_remembered(side: Side) -> None:
    side.stub.script(side.path, Reply(401, {"message": "no"}))
    embedder = side.embedder()
    await catch_failure(embedder, "Why?")
    assert (await embedder.embed_query("Why?")).shape == (side.dimension,)


async def test_a_check_asks_only_if_nothing_was_heard_lately(side: Side) -> None:
    embedder = side.embedder()
    await embedder.check()
    await embedder.check()
    assert side.calls == 1
    side.stub.always(side.path, Reply(401, {"message": "no"}))
    side.time.now += 301
    for _ in range(2):
        with pytest.raises(EmbedderFailed, match="does not know the key"):
            await embedder.check()
    assert side.calls == 3


async def test_the_key_reaches_the_provider_and_nothing_else(
    side: Side, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    texts = list[str]()
    embedder = side.embedder(Policy(timeout=1.0))
    for reply in (
        Reply(401, {"message": f"Incorrect API key: {KEY}"}),
        Reply(500, {"error": KEY}),
        Reply(body=f"not JSON {KEY}".encode()),
        Reply(end="cut", body={"key": KEY}),
        Reply(delay=5),
    ):
        side.stub.script(side.path, reply)
        error = await catch_failure(embedder)
        texts += [error.what, error.help_message, error.public, *traceback.format_exception(error)]
    assert side.stub.requests[0].headers["authorization"] == f"Bearer {KEY}"
    texts += [repr(embedder), repr(vars(embedder)), caplog.text]
    assert KEY not in "".join(texts)


async def test_a_question_too_long_for_cohere_is_embedded_by_its_beginning_and_said_so(
    stub: ProviderStub, caplog: pytest.LogCaptureFixture
) -> None:
    side = Side("cohere", stub)
    stub.script(side.path, Reply(400, {"message": "too many tokens: 600 exceeds 512"}))
    assert (await side.embedder().embed_query("Why? " * 300)).shape == (1024,)
    assert [request.body["truncate"] for request in stub.requests_to(side.path)] == ["NONE", "END"]
    assert "too long for the embedder" in caplog.text


async def test_a_passage_too_long_for_cohere_is_an_error(stub: ProviderStub) -> None:
    side = Side("cohere", stub)
    stub.script(side.path, Reply(400, {"message": "too many tokens: 600 exceeds 512"}))
    with pytest.raises(EmbedderFailed, match="too much text"):
        await side.embedder().embed_passages(["word " * 600])
    assert side.calls == 1


@pytest.fixture
def local() -> Iterator[ProviderStub]:
    """A server on one's own machine, with a model that nobody knows."""
    with provider_stub(dimensions={"nomic": 768}) as stub:
        yield stub
        assert stub.violations == []


async def test_an_unknown_models_dimension_is_learned_from_the_first_answer(
    local: ProviderStub,
) -> None:
    embedder = OpenAiEmbedder("", "nomic", f"{local.url}/v1")
    await embedder.embed_query("Why?")
    assert (embedder.dimension, len(local.requests)) == (768, 1)
    assert embedder.model_id == "openai/nomic"
    assert embedder.usd_per_million_tokens == 0


async def test_an_unknown_models_dimension_is_asked_for_where_it_is_needed_first(
    local: ProviderStub,
) -> None:
    embedder = OpenAiEmbedder("", "nomic", f"{local.url}/v1")
    assert (embedder.dimension, embedder.dimension, len(local.requests)) == (768, 768, 1)


def test_where_it_cannot_be_asked_for_that_is_said(local: ProviderStub) -> None:
    with pytest.raises(EmbedderFailed, match="does not know the model"):
        _ = OpenAiEmbedder("", "other", f"{local.url}/v1").dimension


async def test_a_dimension_that_was_set_is_held_to(local: ProviderStub) -> None:
    embedder = OpenAiEmbedder("", "nomic", f"{local.url}/v1", 384)
    failure = await catch_failure(embedder)
    assert "768 numbers where 384" in failure.what
    assert len(local.requests) == 1, "asking again would not help"


async def test_openais_vectors_can_be_had_shorter_and_are_another_model_then(
    stub: ProviderStub,
) -> None:
    embedder = OpenAiEmbedder(KEY, "", f"{stub.url}/v1", 512)
    assert (await embedder.embed_query("Why?")).shape == (512,)
    assert embedder.model_id == "openai/text-embedding-3-small@512"


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: CohereEmbedder(KEY, "embed-english-v9"), "BYTHEBOOK_EMBEDDER_MODEL"),
        (lambda: CohereEmbedder(""), "BYTHEBOOK_EMBEDDER_API_KEY"),
        (lambda: OpenAiEmbedder(""), "BYTHEBOOK_EMBEDDER_API_KEY"),
        (lambda: OpenAiEmbedder(KEY, dimension=9999), "BYTHEBOOK_EMBEDDER_DIMENSION"),
    ],
)
def test_a_setting_that_cannot_work_is_named_at_once(make: Callable[[], Made], names: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert names in caught.value.what + caught.value.help_message


def test_one_embedder_serves_several_event_loops(side: Side) -> None:
    embedder = side.embedder()
    for text in ("one", "two", "three"):
        asyncio.run(embedder.embed_query(text))
    assert side.calls == 3


async def test_a_server_stays_connected_until_it_ends(side: Side) -> None:
    embedder = side.embedder()
    connected = asyncio.create_task(embedder.stay_connected())
    await asyncio.sleep(0)
    for text in ("one", "two", "three"):
        await embedder.embed_query(text)
    await asyncio.to_thread(asyncio.run, embedder.embed_query("another event loop"))
    connected.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connected
    await embedder.embed_query("five")
    ports = [request.port for request in side.stub.requests]
    assert [ports.count(port) for port in dict.fromkeys(ports)] == [3, 1, 1]


async def test_loopback_is_reached_by_no_proxy(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://203.0.113.1:3128")
    assert (await side.embedder().embed_query("Why?")).shape == (side.dimension,)


async def test_what_other_programs_have_set_leads_nowhere_else(
    side: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://203.0.113.1/v1")
    monkeypatch.setenv("CO_API_URL", "http://203.0.113.1")
    monkeypatch.setenv("OPENAI_API_KEY", "another")
    monkeypatch.setenv("CO_API_KEY", "another")
    await side.embedder().embed_query("Why?")
    assert side.stub.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return write_pages(tmp_path / "book", PAGES)


def parts(data_dir: Path, embedder: Embedder) -> Core:
    core = Core(Settings(data_dir=data_dir))
    core.replace(embedder=embedder)
    return core


async def put_in(core: Core, book: Path) -> IngestReport:
    return await ingest(IngestOrder(str(book), "small"), core.ingest, lambda _: None)


BAD: dict[str, Callable[[list[Any]], list[Any]]] = {
    **{name: TAMPERED[name] for name in ("short", "NaN", "another dimension", "zeros")},
    "permuted": PERMUTED["reversed"],
}


@pytest.mark.parametrize("tampered", BAD)
async def test_no_bad_point_is_stored_and_the_next_run_stores_all(
    side: Side, book: Path, tmp_path: Path, tampered: str
) -> None:
    side.stub.always(side.path, side.sends(BAD[tampered]))
    core = parts(tmp_path / "data", side.embedder())
    with pytest.raises(EmbedderFailed):
        await put_in(core, book)
    assert core.library.books() == []
    kept = core.ingest.cache.get(core.embedder.model_id, _hashes(side))
    assert kept == {}
    side.stub.always(side.path, None)
    core = parts(tmp_path / "data", side.embedder())
    report = await put_in(core, book)
    assert [one.embedding_model for one in core.library.books()] == [core.embedder.model_id]
    assert report.cost_usd > 0


@pytest.mark.parametrize("tampered", BAD)
async def test_a_bad_day_of_the_embedder_leaves_the_published_book_whole(
    side: Side, book: Path, tmp_path: Path, tampered: str
) -> None:
    core = parts(tmp_path / "data", side.embedder())
    await put_in(core, book)
    live, ids = core.library.book("small"), core.index_writer.chunk_ids("small")
    write_pages(
        book, {**PAGES, "one.md": "# One\n\nA new page.\n", "two.md": "# Two\n\nAnother.\n"}
    )
    side.stub.always(side.path, side.sends(BAD[tampered]))
    core = parts(tmp_path / "data", side.embedder())
    with pytest.raises(EmbedderFailed):
        await put_in(core, book)
    assert core.library.book("small") == live
    assert core.index_writer.chunk_ids("small") == ids
    assert core.ingest.cache.get(core.embedder.model_id, _hashes(side, since="A new page")) == {}
    side.stub.always(side.path, None)
    found = await find_passages(make_plan(Question("Where does the heron stand?")), core)
    assert len(found) == 4
    core.close()


async def test_an_index_built_by_one_embedder_and_opened_by_another_is_a_clear_error(
    stub: ProviderStub, book: Path, tmp_path: Path
) -> None:
    await put_in(parts(tmp_path / "data", Side("cohere", stub).embedder()), book)
    other = parts(tmp_path / "data", Side("openai", stub).embedder())
    with pytest.raises(WrongEmbedder, match=r"cohere/embed-english-v3\.0") as caught:
        await find_passages(make_plan(Question("Where does the heron stand?")), other)
    assert "openai/text-embedding-3-small" in caught.value.what
    other.close()


def _hashes(side: Side, since: str = "") -> list[str]:
    """Give the names under which the cache would have kept what was sent, or those that hold a text."""
    sent = {text for request in side.stub.requests_to(side.path) for text in side.texts(request)}
    return [sha256(text.encode()).hexdigest() for text in sent if since in text]
