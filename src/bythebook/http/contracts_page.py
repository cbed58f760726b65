"""The HTTP contracts as a page, written from the OpenAPI description; nothing is loaded from elsewhere."""

import json
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from bythebook.http.layout import page

Schema = Mapping[str, Any]
_LIMITS = ("minLength", "maxLength", "minimum", "maximum", "format", "default", "enum", "const")


def contracts_page_router(openapi: Callable[[], dict[str, Any]]) -> APIRouter:
    """Make /docs."""
    router = APIRouter(include_in_schema=False)

    @router.get("/docs")
    async def docs() -> HTMLResponse:
        return page("HTTP contracts", "".join(_document(openapi())))

    return router


def _document(description: Schema) -> Iterator[str]:
    info = description["info"]
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['summary'])}</p>"
    yield '<p>The same for machines: <a href="/openapi.json">openapi.json</a></p>'
    schemas = description["components"]["schemas"]
    shown: dict[str, None] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            yield from _operation(method, path, operation, shown)
    for name in _reachable(shown, schemas):
        yield from _schema(name, schemas[name])


def _operation(method: str, path: str, operation: Schema, shown: dict[str, None]) -> Iterator[str]:
    yield f"<h2>{escape(method.upper())} {escape(path)}</h2>"
    yield f"<p>{escape(operation.get('description') or operation.get('summary', ''))}</p>"
    bodies = [("Request", operation["requestBody"])] if "requestBody" in operation else []
    bodies += list(operation.get("responses", {}).items())
    rows = []
    for status, body in bodies:
        name = _body_schema(body)
        if name:
            shown.setdefault(name)
        link = f'<a href="#{escape(name)}">{escape(name)}</a>' if name else ""
        rows.append(
            f"<tr><td>{escape(status)}</td><td>{escape(body.get('description', ''))}</td><td>{link}</td></tr>"
        )
    yield _scrolling(rows)
    for status, body in bodies:
        for content in body.get("content", {}).values():
            for example in content.get("examples", {}).values():
                yield _example(f"{status}: {example['summary']}", example["value"])


def _scrolling(rows: list[str]) -> str:
    table = f"<table>{''.join(rows)}</table>"
    return f'<div class="table" role="group" aria-label="Table" tabindex="0">{table}</div>'


def _example(title: str, value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    shown = f'<pre tabindex="0">{escape(text)}</pre>'
    return f"<details><summary>{escape(title)}</summary>{shown}</details>"


def _body_schema(body: Schema) -> str:
    content = body.get("content", {}).get("application/json", {})
    return str(content.get("schema", {}).get("$ref", "")).rpartition("/")[2]


def _reachable(names: Mapping[str, None], schemas: Schema) -> list[str]:
    """Give the named schemas and all that they refer to, in the order met."""
    found = dict(names)
    queue = list(names)
    while queue:
        for name in _references(schemas[queue.pop(0)]):
            if name not in found:
                found[name] = None
                queue.append(name)
    return list(found)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield str(value["$ref"]).rpartition("/")[2]
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


def _schema(name: str, schema: Schema) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
    required = schema.get("required", ())
    rows = []
    for field, value in schema.get("properties", {}).items():
        need = "required" if field in required else ""
        rows.append(
            f"<tr><td><code>{escape(field)}</code></td><td>{escape(_type(value))}</td><td>{need}</td>"
            f"<td>{escape(value.get('description', ''))}</td></tr>"
        )
    yield _scrolling(rows) if rows else ""


def _type(value: Schema) -> str:
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "anyOf" in value:
        return " or ".join(_type(part) for part in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_type(value.get('items', {}))}"
    limits = ", ".join(
        f"{limit} {value[limit]}" for limit in _LIMITS if value.get(limit) is not None
    )
    return str(value.get("type", "value")) + (f" ({limits})" if limits else "")
