"""Records what the service answers about the sample book, as examples for the API's description.

python tools/api_examples.py            write src/bythebook/http/contracts/examples.json
python tools/api_examples.py --check    say whether the file is what the service answers now
"""

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.records import KeyTerms
from bythebook.http.app import create_app
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings
from bythebook.suggest import suggest

TARGET = Path(__file__).parents[1] / "src" / "bythebook" / "http" / "contracts" / "examples.json"
URL = "https://ask.example.org"
HOME, ELSEWHERE = "https://book.example.org", "https://elsewhere.example"
SESSION = "550e8400-e29b-41d4-a716-446655440000"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
REQUEST_ID = "7d9f3a52-1c0e-4b8a-9a57-0e6f6d1c2b3a"
QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
COMPLETIONS = "POST /v1/chat/completions"
MODELS = ("GET /v1/models", "GET /v1/models/{model}")
LIBRARY = "bythebook:library"
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
METRICS = "GET /metrics"
PASSAGES = "GET /admin/questions/{query_id}/passages"
AUTHORS = (
    *(f"GET /admin/{name}" for name in ("overview", "unanswered", "cited", "scores", "latency")),
    "GET /admin/ingests",
    "GET /admin/questions",
    PASSAGES,
    "GET /admin/export/{table}",
)
STEADY: Mapping[str, object] = {  # what differs from run to run, and how it is shown
    "timestamp": "2026-01-31T12:00:00Z",
    "created_at": "2026-01-31T12:00:00Z",
    "created": 1769860800,
    "updated_at": "2026-01-31T12:00:00Z",
    "processing_time_ms": 42,
    "asked_at": "2026-01-31T12:00:00Z",
    "last_asked": "2026-01-31T12:00:00Z",
    "published_at": "2026-01-31T12:00:00+00:00",
    "day": "2026-01-31",
    "since": "2026-01-01",
    "until": "2026-01-31",
    "query_id": "00000000-0000-4000-8000-000000000001",
    "took_ms": 42,
    "p50": 42,
    "p90": 42,
    "p99": 42,
    "seconds": 1.5,
    "latency_ms": 1.5,
    "retry_after": 60,
}


@dataclass(frozen=True)
class Shot:
    """One call and what it shows."""

    route: str
    summary: str
    body: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    session: str = SESSION
    query: Mapping[str, str] = field(default_factory=dict)
    table: str = "cited"
    query_id: str = UNKNOWN
    model: str = "physical-ai"

    @property
    def name(self) -> str:
        """The summary as an identifier."""
        return "_".join(self.summary.lower().replace(",", "").split())


def completion(summary: str, question: str, model: str = LIBRARY, **more: object) -> Shot:
    """Make a call of OpenAI's interface."""
    messages = [{"role": "user", "content": question}]
    return Shot(COMPLETIONS, summary, {"model": model, "messages": messages, **more})


ANSWERS = (
    Shot("POST /api/query", "Answered", {"query": QUESTION, "session_id": SESSION}),
    Shot("POST /api/query", "Refused", {"query": FOREIGN}),
    Shot(
        "POST /api/query",
        "Answered from the selected text",
        {"query": "What is the capital of Iceland?", "selected_text": SELECTION},
    ),
    Shot("POST /query", "Answered", {"query": QUESTION, "top_k": 5}),
    Shot("POST /query", "No match", {"query": FOREIGN}),
    Shot("POST /query", "Greeted", {"query": "Hello!"}),
    Shot("POST /chat/run", "Answered", {"message": QUESTION, "session_id": SESSION}),
    Shot("POST /chat/run", "Refused", {"message": FOREIGN, "session_id": SESSION}),
    Shot(
        "POST /chat/run",
        "Answered from the selected text",
        {
            "message": "What is the capital of Iceland?",
            "session_id": SESSION,
            "selected_text": SELECTION,
        },
    ),
    Shot(
        "POST /chat/run",
        "Answered as a stream",
        {"message": QUESTION, "session_id": SESSION, "stream": True},
    ),
    Shot("POST /chat/stream", "Answered", {"message": QUESTION, "session_id": SESSION}),
    Shot("POST /chat/stream", "Refused", {"message": FOREIGN, "session_id": SESSION}),
    Shot("GET /session/{session_id}/history", "A conversation"),
    Shot("DELETE /session/{session_id}", "Deleted"),
    Shot("POST /ask", "Answered", {"question": QUESTION}),
    Shot("POST /ask", "Refused", {"question": FOREIGN}),
    Shot(
        "POST /ask",
        "Answered from the selected text",
        {"question": "What is the capital of Iceland?", "selected_text": SELECTION},
    ),
    completion("Answered", QUESTION),
    completion("Refused", FOREIGN),
    completion("Answered as a stream", QUESTION, "physical-ai", stream=True),
    Shot(MODELS[0], "The library and its book"),
    Shot(MODELS[1], "A book"),
    Shot("GET /search", "Found", query={"q": QUESTION, "book": "physical-ai", "limit": "2"}),
    Shot("GET /suggestions", "Found", query={"book": "physical-ai"}),
    Shot(
        "POST /feedback",
        "Kept",
        {"request_id": REQUEST_ID, "helpful": False, "reason": "I wanted the code."},
    ),
    Shot("GET /livez", "Alive"),
    Shot("GET /readyz", "Ready"),
    Shot("GET /health", "All parts work"),
    Shot(METRICS, "What is counted"),
)
UNKNOWN_THINGS = (
    Shot("GET /session/{session_id}/history", "No such conversation", session=UNKNOWN),
    Shot("DELETE /session/{session_id}", "No such conversation", session=UNKNOWN),
    Shot("POST /feedback", "No such request", {"request_id": UNKNOWN, "helpful": True}),
    completion("No such model", QUESTION, "gpt-4"),
    Shot(MODELS[1], "No such model", model="gpt-4"),
)
INVALID = (
    Shot("POST /api/query", "Not valid", {"query": QUESTION, "top_k": 21}),
    Shot("POST /query", "Not valid", {"query": QUESTION, "model": "gpt-2"}),
    Shot("POST /chat/run", "Not valid", {"message": QUESTION, "similarity_threshold": 2}),
    Shot("POST /chat/stream", "Not valid", {"message": QUESTION, "book": "no-such-book"}),
    Shot("GET /session/{session_id}/history", "Not valid", session="yesterday"),
    Shot("DELETE /session/{session_id}", "Not valid", session="yesterday"),
    Shot("POST /ask", "Not valid", {"question": " "}),
    Shot("GET /search", "Not valid", query={"q": QUESTION, "limit": "21"}),
    Shot("GET /suggestions", "Not valid", query={"limit": "25"}),
    Shot("POST /feedback", "Not valid", {"request_id": REQUEST_ID, "helpful": "a bit"}),
)
CONTRACTS = (*dict.fromkeys(shot.route for shot in INVALID), COMPLETIONS, *MODELS)
POSTS = tuple(route for route in CONTRACTS if route.startswith("POST"))
FIRST = {shot.route: shot for shot in reversed(ANSWERS)}
FIRST |= {route: Shot(route, "As it is") for route in AUTHORS}


def each(routes: tuple[str, ...], summary: str, **headers: str) -> tuple[Shot, ...]:
    """Make the first call of each route again, to show another side of it."""
    return tuple(
        Shot(
            route,
            summary,
            FIRST[route].body,
            {k.replace("_", "-"): v for k, v in headers.items()},
            query=FIRST[route].query,
        )
        for route in routes
    )


def too_large(route: str) -> Shot:
    """Make a call whose body is over the bound."""
    return Shot(route, "Too large", {"question": "why? " * 60_000})


class Recorder:
    """Calls the application in this process, and keeps what it answers."""

    def __init__(self) -> None:
        self.examples: dict[str, dict[str, dict[str, Any]]] = {}

    async def take(self, client: httpx.AsyncClient, shots: tuple[Shot, ...], status: int) -> None:
        """Make calls that must end in a status."""
        for shot in shots:
            method, _, template = shot.route.partition(" ")
            reply = await client.request(
                method,
                template.format(
                    session_id=shot.session,
                    table=shot.table,
                    query_id=shot.query_id,
                    model=shot.model,
                ),
                json=shot.body,
                params=shot.query,
                headers={"X-Request-ID": REQUEST_ID, **shot.headers},
            )
            if reply.status_code != status:
                raise SystemExit(f"{shot.route} {shot.summary}: {reply.status_code} {reply.text}")
            self._keep(shot, reply)

    def _keep(self, shot: Shot, reply: httpx.Response) -> None:
        route = self.examples.setdefault(shot.route, {})
        if reply.is_success and shot.body is not None:
            given = {"summary": shot.summary, "value": shot.body}
            route.setdefault("request", {})[shot.name] = given
        if not reply.content:
            return
        kept: dict[str, object] = {"summary": shot.summary, "value": steady(reply)}
        media_type = reply.headers["content-type"].partition(";")[0]
        if media_type != "application/json":
            kept["media_type"] = media_type
        route.setdefault(str(reply.status_code), {})[shot.name] = kept


def steady(reply: httpx.Response) -> object:
    """Read a reply, without what differs from run to run."""
    if reply.headers["content-type"].startswith("text/csv"):
        return reply.text.replace("\r\n", "\n")
    if reply.headers["content-type"].startswith("text/plain"):
        ours = (line for line in reply.text.splitlines() if line.startswith("# HELP bythebook"))
        return "\n".join([*ours, "..."])
    if not reply.headers["content-type"].startswith("text/event-stream"):
        return steady_values(reply.json())
    lines = reply.text.splitlines(keepends=True)
    return "".join(_steady_line(line) for line in lines)


def _steady_line(line: str) -> str:
    name, _, data = line.partition(": ")
    if name != "data" or data.startswith("[DONE]"):
        return line
    return f"data: {json.dumps(steady_values(json.loads(data)), ensure_ascii=False)}\n"


def steady_values(value: Any, name: str = "") -> Any:
    """Put fixed values for times, and round scores, whose last digits differ by processor."""
    if name in STEADY and value is not None:
        return STEADY[name]
    if isinstance(value, dict):
        return {key: steady_values(part, key) for key, part in value.items()}
    if isinstance(value, list):
        return [steady_values(part) for part in value]
    return round(value, 2) if isinstance(value, float) else value


@asynccontextmanager
async def open_client(folder: Path, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Run the application over a data folder, and give a client of it."""
    unlimited = {"limit_key": 0, "limit_session": 0, "limit_ip": 0}
    core = Core(Settings(data_dir=folder, public_url=URL, _env_file=None, **unlimited | settings))
    app = create_app(core.service())
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=URL) as client,
    ):
        yield client


async def make_key(folder: Path) -> str:
    """Make a key that may stand in a page of one site."""
    database = Core(Settings(data_dir=folder, _env_file=None)).database()
    terms = KeyTerms("ask", origins=(HOME,))
    issued = await SqlKeyStore(database).create(terms, datetime.now(UTC))
    await database.close()
    return issued.secret


async def record(folder: Path) -> dict[str, Any]:
    """Record every example, each from the service in the state that it needs."""
    recorder, full, empty = Recorder(), folder / "full", folder / "empty"
    core = Core(Settings(data_dir=full, _env_file=None))
    await ingest(IngestOrder(str(sample_book()), "physical-ai"), core.ingest, lambda _: None)
    found = await suggest("physical-ai", core.suggest, wanted=2)
    core.suggestions.keep(core.library.book("physical-ai"), found)
    core.close()
    async with open_client(full) as client:
        await _answers(recorder, client)
        await _author(recorder, client)
        await recorder.take(client, UNKNOWN_THINGS, 404)
        await recorder.take(client, INVALID, 422)
        await recorder.take(client, (completion("Not valid", QUESTION, n=2),), 400)
        await recorder.take(client, tuple(map(too_large, POSTS)), 413)
    async with open_client(full, limit_ip=1) as client:
        await client.post("/ask", json={"question": QUESTION})
        await recorder.take(client, each((*CONTRACTS, METRICS, *AUTHORS), "Too many requests"), 429)
    async with open_client(empty) as client:
        asking = tuple(route for route in POSTS if route != "POST /feedback")
        await recorder.take(client, each(asking, "No book yet"), 503)
        search = Shot("GET /search", "No book yet", query={"q": QUESTION})
        await recorder.take(client, (search, Shot("GET /suggestions", "No book yet")), 503)
        await recorder.take(client, each(("GET /readyz",), "No book yet"), 503)
    async with open_client(full, database_url="postgresql://nobody@127.0.0.1:1/nothing") as client:
        records = tuple(route for route in CONTRACTS if "session" in route or "feedback" in route)
        records += MODELS
        await recorder.take(client, each((*records, METRICS, *AUTHORS), "No database"), 503)
        await recorder.take(client, each(("GET /health",), "No database"), 200)
    key = await make_key(full)
    async with open_client(full) as client:
        await recorder.take(client, each((*CONTRACTS, METRICS, *AUTHORS), "No key"), 401)
        shots = each(CONTRACTS, "Wrong origin", Authorization=f"Bearer {key}", Origin=ELSEWHERE)
        await recorder.take(client, shots, 403)
        shots = each(
            (METRICS, *AUTHORS),
            "Not a key of an operator",
            Authorization=f"Bearer {key}",
            Origin=HOME,
        )
        await recorder.take(client, shots, 403)
    return recorder.examples


async def _answers(recorder: Recorder, client: httpx.AsyncClient) -> None:
    for shot in ANSWERS:
        await recorder.take(client, (shot,), _expected_status(shot))
        await asyncio.sleep(0.3 if shot.route == "POST /ask" else 0)  # until it is in the log


async def _author(recorder: Recorder, client: httpx.AsyncClient) -> None:
    """Show what an author sees of the questions above."""
    asked = (await client.get("/admin/unanswered")).json()["groups"][0]["query_id"]
    for route in AUTHORS:
        shot = Shot(route, "As it is", query_id=asked)
        await recorder.take(client, (shot,), 200)
        if route not in {"GET /admin/ingests", PASSAGES}:
            await recorder.take(client, (Shot(route, "Not valid", query={"days": "0"}),), 422)
    await recorder.take(client, (Shot(PASSAGES, "Not valid", query_id="yesterday"),), 422)
    await recorder.take(client, (Shot(PASSAGES, "No such question"),), 404)


def _expected_status(shot: Shot) -> int:
    return 204 if shot.route in {"DELETE /session/{session_id}", "POST /feedback"} else 200


def main() -> None:
    """Write the examples, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    logging.disable()  # the failures are meant
    with tempfile.TemporaryDirectory() as folder:
        examples = asyncio.run(record(Path(folder)))
    text = json.dumps(examples, indent=1, ensure_ascii=False) + "\n"
    if not check:
        TARGET.write_text(text, "utf-8")
    elif text != TARGET.read_text("utf-8"):
        sys.exit(
            "The recorded examples are not what the service answers: run this without --check."
        )


if __name__ == "__main__":
    main()
