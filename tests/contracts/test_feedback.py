"""POST /feedback: what readers think of answers."""

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

import httpx
import pytest
from tests.contracts.fakes import (
    BROKEN_BODIES,
    JSON,
    READER,
    FakeKeys,
    NoRecords,
    call,
    fake_service,
)
from tests.unit.fakes import wide_queue

from bythebook.domain.records import OPEN, Feedback, QueryEntry
from bythebook.http.app import Service, create_app
from bythebook.operate.answerer import Answerer
from bythebook.operate.journal import Journal
from bythebook.ports import FeedbackStore

FIELDS = {"error", "message", "details", "timestamp", "request_id"}


@dataclass
class Store:
    """Knows one request of one owner."""

    owner: str = OPEN
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)
    kept: list[tuple[str, Feedback]] = field(default_factory=list)

    async def give(self, owner: str, feedback: Feedback) -> bool:
        if (owner, feedback.request_id) != (self.owner, self.request_id):
            return False
        self.kept.append((owner, feedback))
        return True


@pytest.fixture
def store() -> Store:
    return Store()


def service_with(store: FeedbackStore, keys: FakeKeys | None = None) -> Service:
    """Make a service over a store; it soon stops waiting, since nobody records what was asked."""
    return replace(fake_service(keys=keys, settle_seconds=0.05), feedback=store)


@pytest.fixture
def service(store: Store) -> Service:
    return service_with(store)


def give(service: Service, **body: Any) -> httpx.Response:
    return call(service, "POST", "/feedback", body)


def require_failure(reply: httpx.Response, status: int, error: str) -> str:
    """Check a failure's shape and give its message."""
    assert reply.status_code == status, reply.text
    found = reply.json()
    assert set(found) == FIELDS
    assert found["error"] == error
    assert found["request_id"] == reply.headers["x-request-id"]
    assert datetime.fromisoformat(found["timestamp"]).tzinfo is not None
    return str(found["message"])


def test_feedback_right_after_an_answer_is_taken(client: httpx.Client) -> None:
    for contract, body in (
        ("/api/query", {"query": "What is ROS 2?"}),
        ("/ask", {"question": "x?"}),
    ):
        answer = client.post(contract, json=body)
        word = {"request_id": answer.headers["x-request-id"], "helpful": True, "reason": " Clear. "}
        for helpful in (True, False, True):
            reply = client.post("/feedback", json=word | {"helpful": helpful})
            assert (reply.status_code, reply.content) == (204, b"")
    unknown = client.post("/feedback", json=word | {"request_id": str(uuid.uuid4())})
    assert "no request with this id" in require_failure(unknown, 404, "not_found")


def test_a_word_is_kept_with_its_owner_and_its_reason_trimmed(
    service: Service, store: Store
) -> None:
    given = str(store.request_id)
    assert give(service, request_id=given, helpful=False, reason="  ü" * 166).status_code == 204
    assert give(service, request_id=given, helpful=True, reason="   ").status_code == 204
    assert give(service, request_id=given, helpful=True).status_code == 204
    assert give(service, request_id=given, helpful=True, reason=None).status_code == 204
    first, *others = store.kept
    assert first[0] == OPEN
    assert (first[1].helpful, first[1].reason) == (False, ("  ü" * 166).strip())
    assert first[1].created_at.tzinfo is not None
    assert [word.reason for _, word in others] == [None] * 3


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no id": ({"request_id": None}, "request_id"),
    "id that is none": ({"request_id": "secret"}, "request_id"),
    "number for an id": ({"request_id": 5}, "request_id"),
    "word for a bool": ({"helpful": "secret"}, "helpful"),
    "yes": ({"helpful": "true"}, "helpful"),
    "one": ({"helpful": 1}, "helpful"),
    "null": ({"helpful": None}, "helpful"),
    "long reason": ({"reason": "ü" * 501}, "reason"),
    "long blank reason": ({"reason": " " * 501}, "reason"),
    "NUL": ({"reason": "secret\0"}, "reason"),
    "list": ({"reason": ["secret"]}, "reason"),
    "unknown field": ({"rating": "secret"}, "rating"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_and_not_echoed(name: str, service: Service, store: Store) -> None:
    wrong, field_name = WRONG[name]
    reply = give(service, **({"request_id": str(store.request_id), "helpful": True} | wrong))
    assert field_name in require_failure(reply, 422, "validation_failed")
    assert "secret" not in reply.text
    assert store.kept == []


@pytest.mark.parametrize("missing", ["request_id", "helpful"])
def test_a_missing_field_is_named(missing: str, service: Service, store: Store) -> None:
    body: dict[str, Any] = {"request_id": str(store.request_id), "helpful": True}
    del body[missing]
    assert missing in require_failure(give(service, **body), 422, "validation_failed")


@pytest.fixture(scope="module")
def raw() -> Callable[..., httpx.Response]:
    app = create_app(fake_service())

    def send(content: bytes, method: str = "POST") -> httpx.Response:
        async def run() -> httpx.Response:
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
                return await client.request(method, "/feedback", content=content, headers=JSON)

        return asyncio.run(run())

    return send


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_body_that_is_no_json_object_is_refused_in_the_same_shape(name: str, raw: Any) -> None:
    reply = raw(BROKEN_BODIES[name])
    require_failure(reply, 422, "validation_failed")
    assert "secret" not in reply.text


def test_a_lone_surrogate_is_refused(raw: Any) -> None:
    body = (
        b'{"request_id": "%s", "helpful": true, "reason": "\\ud800"}' % str(uuid.uuid4()).encode()
    )
    assert "reason" in require_failure(raw(body), 422, "validation_failed")


def test_a_body_that_is_too_large_and_a_wrong_method_have_the_same_shape(raw: Any) -> None:
    require_failure(raw(b'{"reason": "' + b"x" * 300_000 + b'"}'), 413, "payload_too_large")
    require_failure(raw(b"", "GET"), 405, "method_not_allowed")


def test_records_that_cannot_be_reached_are_503() -> None:
    reply = give(service_with(NoRecords()), request_id=str(uuid.uuid4()), helpful=True)
    require_failure(reply, 503, "database_unavailable")
    assert reply.headers["retry-after"]


def test_a_defect_is_500_without_a_word_of_it() -> None:
    class Broken:
        async def give(self, owner: str, feedback: Feedback) -> bool:
            raise KeyError("secret")

    reply = give(service_with(Broken()), request_id=str(uuid.uuid4()), helpful=True)
    require_failure(reply, 500, "internal")
    assert "secret" not in reply.text


def test_with_keys_only_the_owner_of_the_request_is_heard() -> None:
    keys = FakeKeys()
    mine, other = keys.add(), keys.add()
    owner = next(str(key.key_id) for key in keys.keys.values() if mine.startswith(key.prefix))
    store = Store(owner)
    service = service_with(store, keys)

    async def send(headers: dict[str, str]) -> httpx.Response:
        transport = httpx.ASGITransport(create_app(service))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            word = {"request_id": str(store.request_id), "helpful": True}
            return await client.post("/feedback", json=word, headers=headers)

    require_failure(asyncio.run(send({})), 401, "unauthorized")
    require_failure(asyncio.run(send({"X-API-Key": other})), 404, "not_found")
    assert asyncio.run(send({"X-API-Key": mine})).status_code == 204
    assert [kept for kept, _ in store.kept] == [owner]


def test_the_description_has_its_statuses_limits_and_an_example() -> None:
    description = create_app(fake_service()).openapi()
    responses = description["paths"]["/feedback"]["post"]["responses"]
    assert set(responses) == {"204", "401", "403", "404", "413", "422", "429", "500", "503"}
    assert "content" not in responses["204"]
    schema = description["components"]["schemas"]["FeedbackRequest"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["request_id", "helpful"]
    assert {part.get("maxLength") for part in schema["properties"]["reason"]["anyOf"]} == {
        500,
        None,
    }
    assert schema["examples"]
    error = description["components"]["schemas"]["FeedbackError"]
    assert set(error["properties"]) == FIELDS


def test_feedback_waits_until_the_answer_before_it_is_recorded() -> None:
    class SlowRecords(NoRecords):
        """Takes its time to record a question."""

        known: ClassVar[set[uuid.UUID]] = set()

        async def log(self, *entries: QueryEntry) -> None:
            await asyncio.sleep(0.1)
            self.known.update(entry.request_id for entry in entries)

        async def give(self, owner: str, feedback: Feedback) -> bool:
            return feedback.request_id in self.known

    records, plain = SlowRecords(), fake_service()
    journal = Journal(records, plain.metrics, settle_seconds=60.0)
    service = replace(
        plain, answerer=Answerer(plain.answerer.ports, journal, wide_queue()), feedback=records
    )

    async def scenario() -> int:
        writer = asyncio.create_task(journal.run())
        transport = httpx.ASGITransport(create_app(service))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            answer = await client.post("/ask", json={"question": "Who is there?"})
            word = {"request_id": answer.headers["x-request-id"], "helpful": True}
            reply = await client.post("/feedback", json=word)
        writer.cancel()
        return reply.status_code

    assert asyncio.run(scenario()) == 204


def test_waiting_for_the_records_has_an_end(service: Service, store: Store) -> None:
    async def scenario() -> int:
        transport = httpx.ASGITransport(create_app(service))
        async with httpx.AsyncClient(transport=transport, base_url=READER) as client:
            await client.post("/ask", json={"question": "Who is there?"})
            word = {"request_id": str(store.request_id), "helpful": True}
            return (await client.post("/feedback", json=word)).status_code

    assert asyncio.run(scenario()) == 204
