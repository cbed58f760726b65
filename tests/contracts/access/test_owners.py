"""What is one caller's is nobody else's: every route that takes an id, tried with another's key.

The routes are found in the application itself: one that is added without a case here fails.
"""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from tests.conftest import free_port, serve_core
from tests.contracts.fakes import fake_service

from bythebook.bootstrap import Core
from bythebook.domain.records import KeyTerms
from bythebook.http.app import create_app
from bythebook.settings import Settings

Place = tuple[str, str, str]  # method, path, name of the id
TEXT = "Herons fish at the river in the morning. A heron weighs about two kilograms."
QUESTION, FOLLOW_UP = "When do herons fish?", "How much does it weigh?"
MARKS = {"request_id", "timestamp", "processing_time_ms", "session_id"}


@dataclass(frozen=True)
class Case:
    """How to name another's id, and what comes of it.

    hidden: 404, as for an id that does not exist; fresh: the id begins something new of the caller's own.
    """

    outcome: Literal["hidden", "fresh"]
    of: Literal["session", "request"]
    body: dict[str, object] | None = None


PUBLIC: dict[Place, str] = {
    ("GET", "/read/{book_id}", "book_id"): "a page of the book, whose links readers open",
    ("GET", "/read/{book_id}/{document_id:path}", "book_id"): "a page of the book, as above",
    ("GET", "/read/{book_id}/{document_id:path}", "document_id"): "a page of the book, as above",
    ("GET", "/c/{citation_id}", "citation_id"): "leads to such a page",
    ("GET", "/pictures/{book_id}/{file}", "book_id"): "a picture of such a page",
    ("GET", "/pictures/{book_id}/{file}", "file"): "a picture of such a page",
    ("GET", "/read/{book_id}/llms.txt", "book_id"): "of a listed book only",
    ("GET", "/read/{book_id}/sitemap.xml", "book_id"): "of a listed book only",
    ("GET", "/read/{book_id}/opensearch.xml", "book_id"): "of a listed book only",
    ("GET", "/v1/models/{model}", "model"): "a book that the key may read",
}
_ASKED: dict[str, object] = {"query": FOLLOW_UP, "selected_text": TEXT}
_SAID: dict[str, object] = {"message": FOLLOW_UP, "selected_text": TEXT}
# Operators see the questions of all, within the books of their key: test_admin.py tries those.
OF_OPERATORS: set[Place] = {
    ("GET", "/admin/questions/{query_id}/passages", "query_id"),
    ("GET", "/admin/export/{table}", "table"),  # a name that all may know
}
CASES: dict[Place, Case] = {
    ("POST", "/api/query", "session_id"): Case("fresh", "session", _ASKED),
    ("POST", "/v1/query", "session_id"): Case("fresh", "session", _ASKED),
    ("POST", "/chat/run", "session_id"): Case("fresh", "session", _SAID),
    ("POST", "/chat/stream", "session_id"): Case("fresh", "session", _SAID),
    ("GET", "/session/{session_id}/history", "session_id"): Case("hidden", "session"),
    ("DELETE", "/session/{session_id}", "session_id"): Case("hidden", "session"),
    ("POST", "/feedback", "request_id"): Case("hidden", "request", {"helpful": False}),
}


def places(app: FastAPI) -> set[Place]:
    """Find every id that a route takes: in its path, its query, its headers or its body."""
    found: set[Place] = set()
    description = app.openapi()
    for route in iter_route_contexts(app.routes):
        path, methods = str(route.path), set(route.methods or ()) - {"HEAD"}
        names = set(re.findall(r"{(\w+)", path))
        original = route.original_route
        if isinstance(original, APIRoute):
            asked = original.dependant
            for field in (*asked.query_params, *asked.header_params, *asked.cookie_params):
                names |= {field.name} if field.name.endswith("_id") else set()
        for method in methods:
            operation = description["paths"].get(path, {}).get(method.lower(), {})
            inside = set(body_ids(operation.get("requestBody", {}), description, set()))
            found |= {(method, path, name) for name in names | inside}
    return found


def body_ids(schema: Any, description: dict[str, Any], seen: set[str]) -> Iterator[str]:
    """Find the fields of a body, however deep, that end in _id."""
    if isinstance(schema, list):
        for part in schema:
            yield from body_ids(part, description, seen)
    if not isinstance(schema, dict):
        return
    yield from (name for name in schema.get("properties", {}) if name.endswith("_id"))
    reference = schema.get("$ref")
    if reference and reference not in seen:
        seen.add(reference)
        target = description["components"]["schemas"][reference.rpartition("/")[2]]
        yield from body_ids(target, description, seen)
    for name, part in schema.items():
        if name not in {"example", "examples"}:
            yield from body_ids(part, description, seen)


def test_every_id_that_a_route_takes_has_a_case() -> None:
    found = places(create_app(fake_service()))
    assert found == CASES.keys() | PUBLIC.keys() | OF_OPERATORS


def test_an_id_in_a_new_route_is_found() -> None:
    app = create_app(fake_service())
    before = places(app)

    @app.get("/thing/{thing_id}")
    def thing(thing_id: str, other_id: str = "") -> None: ...

    assert places(app) - before == {
        ("GET", "/thing/{thing_id}", "thing_id"),
        ("GET", "/thing/{thing_id}", "other_id"),
    }


@dataclass(frozen=True)
class Served:
    """A service, and the clients of two keys to it."""

    owner: httpx.Client
    other: httpx.Client

    def begin(self) -> tuple[str, str]:
        """Let the owner begin a conversation, and give the ids of session and request."""
        session = str(uuid4())
        said = {"message": QUESTION, "selected_text": TEXT, "session_id": session}
        reply = self.owner.post("/chat/run", json=said)
        assert reply.status_code == 200, reply.text
        return session, reply.headers["X-Request-ID"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("owners")
    core = Core(Settings(data_dir=folder, port=free_port(), limit_session=0, limit_key=0))

    async def make_keys() -> list[str]:
        async with core.keys() as store:
            made = [await store.create(KeyTerms("ask"), datetime.now(UTC)) for _ in range(2)]
            return [one.secret for one in made]

    secrets = asyncio.run(make_keys())
    with serve_core(core) as server:
        owner, other = (
            httpx.Client(base_url=server.url, timeout=120, headers={"X-API-Key": secret})
            for secret in secrets
        )
        with owner, other:
            yield Served(owner, other)
    core.close()


def try_place(client: httpx.Client, place: Place, named: str) -> httpx.Response:
    method, path, name = place
    body = CASES[place].body
    in_path = "{" + name + "}"
    if in_path not in path:
        body = {**(body or {}), name: named}
    return client.request(method, path.replace(in_path, named), json=body)


def plain(reply: httpx.Response) -> str:
    """Give what a response says, without what differs from request to request."""
    marks = "|".join(MARKS)
    return re.sub(rf'"({marks})": ?("[^"]*"|[\d.]+)', r'"\1":0', reply.text)


def history(client: httpx.Client, session: str) -> list[str]:
    reply = client.get(f"/session/{session}/history")
    assert reply.status_code == 200, reply.text
    return [message["content"] for message in reply.json()["messages"]]


@pytest.mark.parametrize("place", CASES, ids=lambda place: " ".join(place[:2]))
def test_anothers_id_is_as_one_that_does_not_exist(place: Place, served: Served) -> None:
    case = CASES[place]
    session, request = served.begin()
    before = history(served.owner, session)
    anothers = session if case.of == "session" else request
    with_anothers = try_place(served.other, place, anothers)
    with_none = try_place(served.other, place, str(uuid4()))
    expected = 404 if case.outcome == "hidden" else 200
    assert with_anothers.status_code == with_none.status_code == expected, with_anothers.text
    assert plain(with_anothers) == plain(with_none)
    assert history(served.owner, session) == before
    if case.outcome == "fresh":
        assert QUESTION not in with_anothers.text


def test_the_cases_are_true_for_the_owner(served: Served) -> None:
    """The owner gets what another does not, or the cases above would show nothing."""
    session, request = served.begin()
    assert history(served.owner, session)[0] == QUESTION
    word = {"request_id": request, "helpful": True}
    assert served.owner.post("/feedback", json=word).status_code == 204


def test_two_keys_with_one_session_id_have_two_conversations(served: Served) -> None:
    session = str(uuid4())
    for client, message in ((served.owner, QUESTION), (served.other, FOLLOW_UP)):
        said = {"message": message, "selected_text": TEXT, "session_id": session}
        assert client.post("/chat/run", json=said).status_code == 200
    assert history(served.owner, session)[::2] == [QUESTION]
    assert history(served.other, session)[::2] == [FOLLOW_UP]
    assert served.other.delete(f"/session/{session}").status_code == 204
    assert history(served.owner, session)[::2] == [QUESTION]
    assert served.other.get(f"/session/{session}/history").status_code == 404
