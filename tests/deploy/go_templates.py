"""Renders the chart's templates: the part of Go's template language that they use, and nothing else."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

_TAG = re.compile(r"(\s*)\{\{(-?)\s*(.*?)\s*(-?)\}\}(\s*)", re.DOTALL)
_TOKEN = re.compile(r'"[^"]*"|[()|]|[^\s()|]+')


@dataclass
class Chart:
    """Templates that have been read, and what they are rendered with."""

    root: Mapping[str, Any]
    named: dict[str, list[str]] = field(default_factory=dict)

    def render(self, text: str) -> str:
        """Render a template; definitions in it are remembered."""
        return self._run(list(_split(text)), {".": self.root})

    def _run(self, parts: list[str], scope: Mapping[str, Any]) -> str:
        out, at = [], 0
        while at < len(parts):
            part = parts[at]
            if not part.startswith("{{"):
                out.append(part)
                at += 1
                continue
            word, _, rest = part[2:].partition(" ")
            if word not in {"if", "range", "define"}:
                out.append(_text(self._value(part[2:], scope)))
                at += 1
                continue
            body, otherwise, at = _block(parts, at + 1)
            if word == "define":
                self.named[json.loads(rest)] = body
            elif word == "if":
                out.append(self._run(body if self._value(rest, scope) else otherwise, scope))
            else:
                names, _, source = rest.partition(" := ")
                key, value = names.split(", ")
                for one, two in self._value(source, scope).items():
                    out.append(self._run(body, {**scope, key: one, value: two}))
        return "".join(out)

    def _value(self, expression: str, scope: Mapping[str, Any]) -> Any:
        value: Any = None
        for number, stage in enumerate(_stages(_TOKEN.findall(expression))):
            value = self._call(stage, scope, [value] if number else [])
        return value

    def _call(self, tokens: list[str], scope: Mapping[str, Any], piped: list[Any]) -> Any:
        name, rest = tokens[0], [self._atom(token, scope) for token in _groups(tokens[1:])]
        given = [*rest, *piped]
        functions: dict[str, Callable[..., Any]] = {
            "include": lambda name, _: self._run(self.named[name], scope),
            "nindent": lambda n, text: "\n" + re.sub(r"(?m)^", " " * n, text),
            "quote": lambda value: json.dumps(_text(value)),
            "default": lambda other, value: value or other,
            "toYaml": lambda value: yaml.safe_dump(value).strip(),
            "int": int,
            "not": lambda value: not value,
            "or": lambda *values: next((one for one in values if one), values[-1]),
            "eq": lambda one, two: one == two,
            "gt": lambda one, two: one > two,
        }
        return functions[name](*given) if name in functions else self._atom(name, scope)

    def _atom(self, token: str, scope: Mapping[str, Any]) -> Any:
        if token.startswith("("):
            return self._value(token[1:-1], scope)
        if token.startswith('"'):
            return json.loads(token)
        if token.isdigit():
            return int(token)
        if token.startswith("$"):
            return scope[token]
        value: Any = scope["."]
        for name in filter(None, token.split(".")):
            value = value[name]
        return value


def _split(text: str) -> Iterator[str]:
    """Part text from tags, which begin with two braces, and remove the space that tags trim."""
    at = 0
    for found in _TAG.finditer(text):
        before, trim_left, inside, trim_right, after = found.groups()
        yield text[at : found.start()] + ("" if trim_left else before)
        yield "{{" + inside
        at = found.end() if trim_right else found.end() - len(after)
    yield text[at:]


def _block(parts: list[str], at: int) -> tuple[list[str], list[str], int]:
    """Find the parts of a block and of its else, and where it ends."""
    body: list[str] = []
    otherwise: list[str] = []
    current, depth = body, 0
    while True:
        part = parts[at]
        at += 1
        word = part[2:].split(" ")[0] if part.startswith("{{") else ""
        if word == "end" and not depth:
            return body, otherwise, at
        if word == "else" and not depth:
            current = otherwise
            continue
        depth += (word in {"if", "range", "define"}) - (word == "end")
        current.append(part)


def _stages(tokens: list[str]) -> Iterator[list[str]]:
    stage: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if token == "|" and not depth:
            yield stage
            stage = []
        else:
            stage.append(token)
    yield stage


def _groups(tokens: list[str]) -> Iterator[str]:
    """Join what stands in brackets."""
    group, depth = "", 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        group += f" {token}" if group and not group.endswith("(") and token != ")" else token
        if not depth:
            yield group
            group = ""


def _text(value: Any) -> str:
    return "" if value is None else str(value)
