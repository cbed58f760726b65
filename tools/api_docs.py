"""Writes docs/api.md from the service's own description and its recorded examples.

python tools/api_docs.py            write it
python tools/api_docs.py --check    say whether it is up to date
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bythebook.bootstrap import Core
from bythebook.http.app import create_app
from bythebook.http.contracts.description import operations
from bythebook.settings import Settings

TARGET = Path(__file__).parents[1] / "docs" / "api.md"
PROSE = Path(__file__).with_name("api_docs.md")
URL = "https://ask.example.org"
MOST_TEXT, MOST_ITEMS = 160, 2  # of an example, here
CUT = "…"
BOUNDS = (
    ("minLength", "maxLength", "characters"),
    ("minimum", "maximum", ""),
    ("minItems", "maxItems", "items"),
)
Schema = Mapping[str, Any]


class Page:
    """The page, section by section; a shape is set out where it is first met."""

    def __init__(self, description: Schema) -> None:
        self._description = description
        self._schemas: Schema = description["components"]["schemas"]
        self._shown: set[str] = set()

    def lines(self) -> Iterator[str]:
        """Write the prose, and under each of its headings the routes that it names."""
        routes = dict(operations(dict(self._description)))
        for line in PROSE.read_text("utf-8").splitlines():
            name, _, same = line.removeprefix("{{").removesuffix("}}").partition(" = ")
            if not line.startswith("{{"):
                yield line
            elif same and routes.pop(name):
                yield f"### {name}\n\nThe same as {same}.\n"
            else:
                yield from self._route(name, routes.pop(name))
        if routes:
            sys.exit(f"{PROSE.name} does not place: {', '.join(routes)}")

    def _route(self, route: str, operation: Schema) -> Iterator[str]:
        yield f"### {route}\n"
        yield f"{operation['summary']}. {operation['description']}\n"
        request = operation.get("requestBody", {}).get("content", {}).get("application/json")
        for parameter in operation.get("parameters", ()):
            place = "path" if parameter["in"] == "path" else "address"
            said = parameter.get("description", "")
            yield (
                f"`{parameter['name']}` in the {place}: {_type(parameter['schema'])}. {said}".rstrip()
                + "\n"
            )
        if request:
            yield from self._shape(_name(request["schema"]), "Request")
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                yield from self._success(route, status, response, request)
        yield from self._failures(operation["responses"])

    def _success(
        self, route: str, status: str, response: Schema, request: Schema | None
    ) -> Iterator[str]:
        meaning = response["description"]
        yield f"**Response {status}** {meaning}".removesuffix(" Successful Response") + "\n"
        content = response.get("content", {})
        for body in content.values():
            for name in _references(body.get("schema", {})):
                yield from self._shape(name, "")
            yield from self._events(body.get("schema", {}).get("oneOf", ()))
        if not content:
            sent = next(iter((request or {}).get("examples", {}).values()), None)
            yield from _example(route, "Done, without a body", sent, None)
        for body in content.values():
            for title, example in body.get("examples", {}).items():
                sent = (request or {}).get("examples", {}).get(title)
                yield from _example(route, example["summary"], sent, example["value"])

    def _events(self, kinds: Sequence[Schema]) -> Iterator[str]:
        """Set out what each event of a stream holds, where no shape of a response does."""
        for kind in kinds:
            name = kind["properties"]["event"]["const"]
            data = kind["properties"]["data"]["contentSchema"]
            if "properties" in data and name not in self._shown:
                self._shown.add(name)
                yield f"Event `{name}`: {data.get('description', '')}\n"
                yield from _table(data, asks=False)

    def _failures(self, responses: Schema) -> Iterator[str]:
        failed = {status: response for status, response in responses.items() if status >= "4"}
        if not failed:
            return
        yield "**Failures**\n"
        yield "| status | when | example |\n| --- | --- | --- |"
        for status, response in failed.items():
            content = response["content"]["application/json"]
            examples = content.get("examples", {}).values()
            shown = "<br>".join(f"`{_compact(one['value'])}`" for one in examples)
            yield f"| {status} | {response['description']} | {shown} |"
        yield ""
        for response in failed.values():
            name = _name(response["content"]["application/json"]["schema"])
            yield from self._shape(name, "")

    def _shape(self, name: str, title: str) -> Iterator[str]:
        """Set out a shape and those it is made of, each once on the page."""
        if not name:
            return
        if name in self._shown:
            if title:
                yield f"**{title}** `{name}`, as above.\n"
            return
        self._shown.add(name)
        schema = self._schemas[name]
        if "properties" not in schema:
            return
        yield f"**{title}** `{name}`: {schema.get('description', '')}\n".replace("**** ", "")
        yield from _table(schema, asks=title == "Request")
        for part in _references(schema["properties"]):
            yield from self._shape(part, "")


def _table(schema: Schema, *, asks: bool) -> Iterator[str]:
    """Set out the fields; that a field may be left out matters only to who asks."""
    head = ("field", "type", "limits", *(("default",) if asks else ()), "meaning")
    yield f"| {' | '.join(head)} |\n|{' --- |' * len(head)}"
    for field, value in schema["properties"].items():
        default = "required" if field in schema.get("required", ()) else _default(value)
        cells = [f"`{field}`", _type(value), _limits(value), *((default,) if asks else ())]
        cells.append(value.get("description", ""))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    yield ""


def _default(value: Schema) -> str:
    return f"`{json.dumps(value['default'])}`" if value.get("default") is not None else "none"


def _type(value: Schema) -> str:
    if "$ref" in value:
        return f"`{_name(value)}`"
    kinds = value.get("anyOf") or value.get("oneOf")
    if kinds:
        return " or ".join(_type(kind) for kind in kinds)
    if value.get("type") == "array":
        return f"list of {_type(value['items'])}"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{json.dumps(value['const'])}`"
    named = {"uuid4": "UUID (version 4)", "uuid": "UUID", "date-time": "time (ISO 8601)"}
    return named.get(value.get("format", ""), str(value.get("type", "any")))


def _limits(value: Schema) -> str:
    parts = [value, *value.get("anyOf", ())]
    found = [_describe_bounds(part, *bound) for part in parts for bound in BOUNDS]
    blank = ["not blank"] if any(part.get("pattern") == r"\S" for part in parts) else []
    return ", ".join([*filter(None, found), *blank])


def _describe_bounds(part: Schema, least: str, most: str, what: str) -> str:
    match part.get(least), part.get(most):
        case None, None:
            return ""
        case None, high:
            return f"at most {high:g} {what}".rstrip()
        case low, None:
            return "not empty" if what and low == 1 else f"at least {low:g} {what}".rstrip()
        case low, high:
            return f"{low:g} to {high:g} {what}".rstrip()


def _name(schema: Schema) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield _name(value)
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


def _example(route: str, title: str, sent: Schema | None, value: object) -> Iterator[str]:
    method, _, path = route.partition(" ")
    given = sent["value"] if sent else None
    path = path.format(
        session_id="550e8400-e29b-41d4-a716-446655440000",
        query_id="00000000-0000-4000-8000-000000000001",
        table="cited",
        model="physical-ai",
    )
    command = f"curl {URL}{path}" if method == "GET" else f"curl -X {method} {URL}{path}"
    if given is not None:
        command = (
            f"curl {URL}{path} -H 'Content-Type: application/json' \\\n  -d '{json.dumps(given)}'"
        )
    yield f"{title}:\n\n```sh\n{command}\n```\n"
    if isinstance(value, str):
        yield f"```text\n{''.join(map(_event_line, value.splitlines(keepends=True))).strip()}\n```\n"
    elif value is not None:
        yield f"```json\n{json.dumps(_cut(value), indent=2, ensure_ascii=False)}\n```\n"


def _event_line(line: str) -> str:
    name, _, data = line.partition(": ")
    has_json = name == "data" and not data.startswith("[DONE]")
    return f"data: {_compact(json.loads(data))}\n" if has_json else line


def _compact(value: object) -> str:
    return json.dumps(_cut(value), ensure_ascii=False).replace("|", "\\|")


def _cut(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    if isinstance(value, list):
        kept = [_cut(part) for part in value[:MOST_ITEMS]]
        return kept if len(value) <= MOST_ITEMS else [*kept, CUT]
    if isinstance(value, str) and len(value) > MOST_TEXT:
        return value[:MOST_TEXT].rstrip() + CUT
    return value


def main() -> None:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        core = Core(Settings(data_dir=Path(folder)))
        text = "\n".join(Page(create_app(core.service()).openapi()).lines()).rstrip() + "\n"
    if not check:
        TARGET.write_text(text, "utf-8")
    elif text != TARGET.read_text("utf-8"):
        sys.exit("docs/api.md is not up to date: run this without --check.")


if __name__ == "__main__":
    main()
