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
_MOST_CHARACTERS = 200_000
_DEEPEST = 100  # the fast loader overruns the machine's stack where it is nested too deep
_DEEP = re.compile(rf"(?:[-?:][ \t]+){{{_DEEPEST}}}")
_MOST_ALIASES = 20  # each may stand for all that came before it


def parted(text: str, path: Path) -> tuple[dict[str, object], str]:
    """Part a page's front matter from its body, or say that it cannot be read."""
    match text[:3]:
        case "---":
            return _yaml(text, path)
        case "+++":
            return _toml(text, path)
    return _json(text) if _JSON.match(text) else ({}, text)


def load_yaml(text: str) -> object:
    """Read YAML in bounded time, or raise ValueError."""
    names = set(re.findall(r"&([^\s,\[\]{}]+)", text))
    aliases = sum(text.count(f"*{name}") for name in list(names)[:_MOST_ALIASES])
    if len(text) > _MOST_CHARACTERS or aliases > _MOST_ALIASES or _is_deep(text):
        raise ValueError("too large, too deep or too many aliases")
    try:
        return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader in either case
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("not YAML") from error


def _is_deep(text: str) -> bool:
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest > _DEEPEST or _DEEP.search(text) is not None


def _yaml(text: str, path: Path) -> tuple[dict[str, object], str]:
    match = _YAML.match(text)
    if match is None:
        return {}, text
    try:
        front = load_yaml(match.group(1) or "{}")
    except ValueError as error:
        raise _unreadable(path, "YAML", "---") from error
    if front is None:  # comments only
        return {}, text[match.end() :]
    # A thematic break may open a page too: then what follows it is the page's own text.
    return (front, text[match.end() :]) if isinstance(front, dict) else ({}, text)


def _toml(text: str, path: Path) -> tuple[dict[str, object], str]:
    match = _TOML.match(text)
    if match is None:
        return {}, text
    try:
        front = tomllib.loads((match.group(1) or "")[:_MOST_CHARACTERS])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _unreadable(path, "TOML", "+++") from error
    return front, text[match.end() :]


def _json(text: str) -> tuple[dict[str, object], str]:
    try:
        front, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}, text
    return (front, text[end:]) if isinstance(front, dict) else ({}, text)


def _unreadable(path: Path, language: str, mark: str) -> UnreadableBook:
    return UnreadableBook(
        f"The front matter of {path} is not {language}, or too large.",
        f"Put right what stands between the {mark} lines.",
    )
