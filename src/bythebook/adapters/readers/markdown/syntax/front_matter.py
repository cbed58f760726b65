"""Front matter: YAML, TOML or JSON at the top of a page."""

import json
import re
import tomllib
from pathlib import Path

import yaml

from bythebook.errors import UnreadableBook

_YAML = re.compile(r"\A---[ \t]*\n(.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?\n)??\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_JSON = re.compile(r"\A\{\s*\n\s*[\"}]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_CHARACTERS = 200_000
_MAX_DEPTH = 100  # deeper nesting overflows the stack of the fast loader
_DEEP_NESTING = re.compile(rf"(?:[-?:][ \t]+){{{_MAX_DEPTH}}}")
_MAX_ALIASES = 20  # each may repeat everything before it


def split_front_matter(text: str, path: Path) -> tuple[dict[str, object], str]:
    """Split a page into front matter and body, or raise UnreadableBook."""
    match text[:3]:
        case "---":
            return _split_yaml(text, path)
        case "+++":
            return _split_toml(text, path)
    return _split_json(text) if _JSON.match(text) else ({}, text)


def load_yaml(text: str) -> object:
    """Read YAML in bounded time, or raise ValueError."""
    names = set(re.findall(r"&([^\s,\[\]{}]+)", text))
    aliases = sum(text.count(f"*{name}") for name in list(names)[:_MAX_ALIASES])
    if len(text) > _MAX_CHARACTERS or aliases > _MAX_ALIASES or _is_deep(text):
        raise ValueError("too large, too deeply nested or too many aliases")
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader in either case
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("not YAML") from error


def _is_deep(text: str) -> bool:
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > _MAX_DEPTH or _DEEP_NESTING.search(text) is not None


def _split_yaml(text: str, path: Path) -> tuple[dict[str, object], str]:
    match = _YAML.match(text)
    if match is None:
        return {}, text
    try:
        front = load_yaml(match.group(1) or "{}")
    except ValueError as error:
        raise _make_error(path, "YAML", "---") from error
    if front is None:  # comments only
        return {}, text[match.end() :]
    # A page may also start with a thematic break: then the rest is its text.
    return (front, text[match.end() :]) if isinstance(front, dict) else ({}, text)


def _split_toml(text: str, path: Path) -> tuple[dict[str, object], str]:
    match = _TOML.match(text)
    if match is None:
        return {}, text
    try:
        front = tomllib.loads((match.group(1) or "")[:_MAX_CHARACTERS])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _make_error(path, "TOML", "+++") from error
    return front, text[match.end() :]


def _split_json(text: str) -> tuple[dict[str, object], str]:
    try:
        front, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}, text
    return (front, text[end:]) if isinstance(front, dict) else ({}, text)


def _make_error(path: Path, language: str, mark: str) -> UnreadableBook:
    return UnreadableBook(
        f"The front matter of {path} is not {language}, or too large.",
        f"Correct the lines between the two {mark} lines.",
    )
