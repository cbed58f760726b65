"""The OpenAPI description: the routes, with keys, headers and recorded examples."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import FastAPI

_Object = dict[str, Any]
_WITHOUT_KEY = frozenset({"health"})  # tags of the routes that need no key
_SAME_AS = {"/v1/query": "/api/query"}
_SECURITY_SCHEMES: _Object = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "A key made by `bythebook keys create`.",
    },
    "api_key": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key, for callers that cannot send Authorization.",
    },
}
_SECURITY: list[_Object] = [{"bearer": []}, {"api_key": []}, {}]  # the last: until a key is made
_REQUEST_ID: _Object = {
    "description": "The id of the request: the one sent, if it is a UUID, else a new one.",
    "required": True,
    "schema": {"type": "string", "format": "uuid"},
}
_RETRY_AFTER: _Object = {
    "description": "Seconds to wait before trying again.",
    "schema": {"type": "integer", "minimum": 0},
}
_LIMITS: _Object = {
    "X-RateLimit-Limit": {
        "description": "Allowed requests per minute.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "X-RateLimit-Remaining": {
        "description": "How many of them are left.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "X-RateLimit-Reset": {
        "description": "Seconds until there is room again.",
        "schema": {"type": "integer", "minimum": 0},
    },
}


class DescribedApp(FastAPI):
    """An application whose description is complete."""

    def openapi(self) -> _Object:
        """Describe all routes, once."""
        if self.openapi_schema is None:
            self.openapi_schema = complete(super().openapi(), read_examples())
        return self.openapi_schema


@cache
def read_examples() -> Mapping[str, Any]:
    """Read the examples that were recorded from a real service, by route."""
    text = files("bythebook.http.contracts").joinpath("examples.json").read_text("utf-8")
    examples: Mapping[str, Any] = json.loads(text)
    return examples


def complete(description: _Object, examples: Mapping[str, Any]) -> _Object:
    """Add keys, headers and examples to a description."""
    description["components"]["securitySchemes"] = _SECURITY_SCHEMES
    _drop_framework_errors(description)
    for route, operation in operations(description):
        guarded = not _WITHOUT_KEY & set(operation.get("tags", ()))
        if guarded:
            operation["security"] = list(_SECURITY)
        method, _, path = route.partition(" ")
        _exemplify(operation, examples.get(f"{method} {_SAME_AS.get(path, path)}", {}))
        for status, response in operation["responses"].items():
            _describe_events(response.get("content", {}).get("text/event-stream", {}))
            response["headers"] = _headers(status, guarded=guarded)
    return description


def _drop_framework_errors(description: _Object) -> None:
    """Remove the failures that FastAPI describes by itself: no route of ours answers in their shape."""
    for _, operation in operations(description):
        responses = operation["responses"]
        if "HTTPValidationError" in json.dumps(responses.get("422")):
            del responses["422"]
    for name in ("HTTPValidationError", "ValidationError"):
        description["components"].get("schemas", {}).pop(name, None)


def operations(description: _Object) -> Iterator[tuple[str, _Object]]:
    """Yield each operation with its route, as in `POST /ask`."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def _headers(status: str, *, guarded: bool) -> _Object:
    limited = status == "429"
    headers = {"X-Request-ID": _REQUEST_ID}
    if limited or status == "503":
        headers["Retry-After"] = {**_RETRY_AFTER, "required": limited}
    if guarded:
        headers |= {name: {**limit, "required": limited} for name, limit in _LIMITS.items()}
    return headers


def _describe_events(content: _Object) -> None:
    """Describe a stream by what each of its events can be."""
    kinds = content.get("schema", {}).get("x-events", {})
    if kinds:
        content["schema"] = {"oneOf": [_event(name, schema) for name, schema in kinds.items()]}


def _event(name: str, schema: _Object) -> _Object:
    data = {"type": "string", "contentMediaType": "application/json", "contentSchema": schema}
    return {
        "type": "object",
        "title": f"{name} event",
        "required": ["event", "data"],
        "properties": {"event": {"const": name}, "data": data},
    }


def _exemplify(operation: _Object, examples: Mapping[str, Any]) -> None:
    bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
    for name, body in bodies.items():
        for media_type, content in body.get("content", {}).items():
            found = {
                title: {"summary": example["summary"], "value": example["value"]}
                for title, example in examples.get(name, {}).items()
                if example.get("media_type", "application/json") == media_type
            }
            if found:
                content.pop("example", None)  # OpenAPI allows one or the other
                content["examples"] = found
