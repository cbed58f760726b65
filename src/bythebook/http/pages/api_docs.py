"""The HTTP contracts as a page, from the OpenAPI description; nothing is loaded from elsewhere."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from bythebook.http.pages.render import render_page

Schema = Mapping[str, Any]
_LIMITS = ("minLength", "maxLength", "minimum", "maximum", "format", "default", "enum", "const")
_REFERENCE = re.compile(r'"\$ref": "#/components/schemas/([^"]+)"')


@dataclass(frozen=True, slots=True)
class DescribedBody:
    """A request or a response of an operation."""

    status: str
    description: str
    schema: str  # its name; empty where it has none
    examples: Sequence[tuple[str, str]]  # title and content


def api_docs_router(openapi: Callable[[], dict[str, Any]]) -> APIRouter:
    """Make /docs."""
    router = APIRouter(include_in_schema=False)

    @router.get("/docs")
    async def show_docs() -> HTMLResponse:
        description = openapi()
        operations = [
            (f"{method.upper()} {path}", operation, list(_describe_bodies(operation)))
            for path, methods in description["paths"].items()
            for method, operation in methods.items()
        ]
        schemas = description["components"]["schemas"]
        named = [body.schema for _, _, bodies in operations for body in bodies if body.schema]
        return render_page(
            "api_docs.html",
            info=description["info"],
            operations=operations,
            schemas={name: schemas[name] for name in _reach(named, schemas)},
            describe_type=_describe_type,
        )

    return router


def _describe_bodies(operation: Schema) -> Iterator[DescribedBody]:
    request = {"Request": operation["requestBody"]} if "requestBody" in operation else {}
    for status, body in {**request, **operation.get("responses", {})}.items():
        content = body.get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        examples = [
            (example["summary"], _format_example(example["value"]))
            for kind in content.values()
            for example in kind.get("examples", {}).values()
        ]
        yield DescribedBody(status, body.get("description", ""), _read_reference(schema), examples)


def _format_example(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def _describe_type(value: Schema) -> str:
    if "$ref" in value:
        return _read_reference(value)
    if "anyOf" in value:
        return " or ".join(_describe_type(part) for part in value["anyOf"])
    if value.get("type") == "array":
        return f"list of {_describe_type(value.get('items', {}))}"
    limits = ", ".join(
        f"{limit} {value[limit]}" for limit in _LIMITS if value.get(limit) is not None
    )
    return str(value.get("type", "value")) + (f" ({limits})" if limits else "")


def _reach(names: Iterable[str], schemas: Schema) -> list[str]:
    """Return the named schemas and all that they refer to, in the order met."""
    found = list(dict.fromkeys(names))
    for name in found:  # which grows
        references = dict.fromkeys(_REFERENCE.findall(json.dumps(schemas[name])))
        found += [other for other in references if other not in found]
    return found


def _read_reference(reference: Schema) -> str:
    return str(reference.get("$ref", "")).rpartition("/")[2]
