"""The description of the service: complete, with examples that it really answered, and on paper."""

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from openai.types.chat import ChatCompletionChunk
from tests.contracts.fakes import fake_service

from bythebook.http.app import create_app
from bythebook.http.contracts.description import complete, operations

ROOT = Path(__file__).parents[2]
DESCRIPTION = create_app(fake_service()).openapi()
ROUTES = dict(operations(DESCRIPTION))
HEALTH = {"GET /livez", "GET /readyz", "GET /health"}
GUARDED = sorted(set(ROUTES) - HEALTH)
NEVER_SEEN = {"500", "502", "504"}  # nothing brings these about with the parts that are there


def contents(route: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give each body of a route with its status (or "request") and media type."""
    operation = ROUTES[route]
    bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
    for status, body in bodies.items():
        for media_type, content in body.get("content", {}).items():
            yield status, media_type, content


def faults(value: object, schema: dict[str, Any]) -> list[str]:
    """Say what of a value is not as the schema has it."""
    whole = {**schema, "components": DESCRIPTION["components"]}
    validator = jsonschema_rs.validator_for(whole, validate_formats=True)
    return [str(error.message) for error in validator.iter_errors(value)]


def test_every_route_is_described_and_no_page_is() -> None:
    sessions = {"GET /session/{session_id}/history", "DELETE /session/{session_id}"}
    openai = {"POST /v1/chat/completions", "GET /v1/models", "GET /v1/models/{model}"}
    asking = {"/api/query", "/v1/query", "/query", "/chat/run", "/chat/stream", "/ask", "/feedback"}
    authors = "overview unanswered cited scores latency ingests questions questions/{query_id}/passages export/{table}"
    reading = {"GET /metrics", "GET /search", "GET /suggestions"}
    reading |= {f"GET /admin/{name}" for name in authors.split()}
    assert set(ROUTES) == HEALTH | sessions | {f"POST {path}" for path in asking} | reading | openai


@pytest.mark.parametrize("route", ROUTES)
def test_every_route_says_what_it_is_for(route: str) -> None:
    operation = ROUTES[route]
    assert operation["summary"]
    assert operation["description"]
    assert all(response["description"] for response in operation["responses"].values())


@pytest.mark.parametrize("route", ROUTES)
def test_every_body_has_an_example(route: str) -> None:
    missing = [
        (status, media_type)
        for status, media_type, content in contents(route)
        if status not in NEVER_SEEN and not content.get("examples")
    ]
    assert missing == []


@pytest.mark.parametrize("route", ROUTES)
def test_every_example_is_as_its_schema_has_it(route: str) -> None:
    checked = 0
    for _, media_type, content in contents(route):
        assert "example" not in content  # next to examples that would not be valid
        for example in content.get("examples", {}).values():
            if media_type == "application/json":
                assert faults(example["value"], content["schema"]) == []
                checked += 1
            elif media_type == "text/event-stream":
                checked += events_checked(example["value"], content["schema"])
    assert checked or route == "GET /metrics"


def events_checked(stream: str, schema: dict[str, Any]) -> int:
    if "oneOf" not in schema:
        return chunks_checked(stream)
    told = [
        dict(line.split(": ", 1) for line in event.splitlines())
        for event in stream.strip().split("\n\n")
    ]
    kinds = {kind["properties"]["event"]["const"]: kind for kind in schema["oneOf"]}
    assert set(kinds) == {"retrieval", "content", "done", "error"}
    for event in told:
        assert faults(event, schema) == []
        data = kinds[event["event"]]["properties"]["data"]["contentSchema"]
        assert faults(json.loads(event["data"]), data) == []
    assert [event["event"] for event in told][-1] == "done"
    return len(told)


def chunks_checked(stream: str) -> int:
    """Check a stream of OpenAI's interface, whose events have no names."""
    lines = [event.removeprefix("data: ") for event in stream.strip().split("\n\n")]
    assert lines.pop() == "[DONE]"
    return len([ChatCompletionChunk.model_validate_json(line, strict=True) for line in lines])


def test_an_example_that_does_not_fit_is_found() -> None:
    schema = ROUTES["POST /ask"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert faults({"answer": 5}, schema)


@pytest.mark.parametrize("route", GUARDED)
def test_a_route_behind_the_gate_says_so(route: str) -> None:
    operation = ROUTES[route]
    assert operation["security"] == [{"bearer": []}, {"api_key": []}, {}]
    assert {"401", "403", "429"} <= set(operation["responses"])
    headers = operation["responses"]["429"]["headers"]
    assert {name for name, header in headers.items() if header["required"]} == {
        "X-Request-ID",
        "Retry-After",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
    }


@pytest.mark.parametrize("route", sorted(HEALTH))
def test_health_needs_no_key(route: str) -> None:
    assert "security" not in ROUTES[route]
    assert not {"401", "403", "429"} & set(ROUTES[route]["responses"])


@pytest.mark.parametrize("route", [route for route in GUARDED if "requestBody" in ROUTES[route]])
def test_a_route_that_takes_a_body_says_how_bodies_fail(route: str) -> None:
    invalid = "400" if route == "POST /v1/chat/completions" else "422"
    assert {"413", invalid, "500", "503"} <= set(ROUTES[route]["responses"])


def test_no_route_speaks_of_the_frameworks_own_errors() -> None:
    text = json.dumps(DESCRIPTION)
    assert "HTTPValidationError" not in text
    assert len({operation["operationId"] for operation in ROUTES.values()}) == len(ROUTES)


def test_every_field_of_a_request_says_what_it_means() -> None:
    schemas = DESCRIPTION["components"]["schemas"]
    unsaid = [
        (name, field)
        for name, schema in schemas.items()
        if name.endswith("Request")
        for field, value in schema["properties"].items()
        if not value.get("description")
    ]
    assert unsaid == []


def test_the_served_description_is_this_one(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json()["paths"] == json.loads(
        json.dumps(DESCRIPTION["paths"])
    )


def test_the_contracts_page_shows_the_examples(client: httpx.Client) -> None:
    page = client.get("/docs").text
    assert page.count("<details>") > 50
    assert "ROS 2 nodes communicate in three main ways" in page


def test_examples_go_where_they_belong() -> None:
    json_body: dict[str, Any] = {"schema": {}, "example": 1}
    body: dict[str, Any] = {"application/json": json_body, "text/event-stream": {"schema": {}}}
    responses = {"200": {"description": "", "content": body}}
    description = {
        "components": {"schemas": {}},
        "paths": {"/v1/query": {"post": {"tags": ["health"], "responses": responses}}},
    }
    kept = {
        "a": {"summary": "A", "value": {}},
        "b": {"summary": "B", "value": "data: {}", "media_type": "text/event-stream"},
    }
    complete(description, {"POST /api/query": {"200": kept}})
    assert body["application/json"] == {"schema": {}, "examples": {"a": kept["a"]}}
    assert set(body["text/event-stream"]["examples"]) == {"b"}


# On paper


@pytest.mark.parametrize("tool", ["api_examples.py", "api_docs.py"])
def test_what_is_recorded_and_written_is_up_to_date(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / tool), "--check"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_route_stands_in_the_documentation() -> None:
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert set(re.findall(r"^### ((?:GET|POST|DELETE) \S+)$", text, re.MULTILINE)) == set(ROUTES)


def test_the_documentation_names_every_method_of_the_client() -> None:
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    assert importlib.util.find_spec("bythebook.client")
    for method in "query rag chat chat_stream history delete_session ask feedback health".split():
        assert f"`{method}`" in text
