"""What a Sphinx project's conf.py says, read off its source: it is never run."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.rst.files import load_text
from bythebook.errors import UnreadableBook

_SOURCE_NAMES = frozenset({"source", "docs", "doc", "src"})
_MOST_STARS = 8  # more would take too long to try
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a project that its words or its order depend on."""

    found: bool = False
    words: Mapping[str, str] = field(default_factory=dict)  # settings that are plain strings
    macros: Mapping[str, str] = field(default_factory=dict)  # {NAME} in the text -> words
    external: Mapping[str, str] = field(default_factory=dict)  # role -> caption with %s
    excluded: Sequence[str] = ()

    def word(self, *names: str) -> str:
        """Give the first of some settings that is there, or nothing."""
        return next((self.words[name] for name in names if self.words.get(name)), "")

    def leaves_out(self, relative: str) -> bool:
        """Say whether the project leaves a file out by its pattern."""
        parts = relative.split("/")
        paths = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        return any(matches(pattern, path) for pattern in self.excluded for path in paths)


def read_config(root: Path, folder: Path) -> Config:
    """Read the conf.py of a project; a setting that is computed is not known."""
    places = [root, folder, *([root.parent] if root.name in _SOURCE_NAMES else [])]
    path = next((place / "conf.py" for place in places if (place / "conf.py").is_file()), None)
    if path is None:
        return Config()
    try:
        values = _literals(load_text(path, path.parent))
    except (UnreadableBook, SyntaxError, ValueError, RecursionError, MemoryError):
        return Config(found=True)
    return Config(
        found=True,
        words={name: value for name, value in values.items() if isinstance(value, str)},
        macros=_strings(values.get("macros")),
        external=_captions(values.get("extlinks")),
        excluded=_list(values.get("exclude_patterns")),
    )


def _literals(source: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                values[statement.targets[0].id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
    return values


def _strings(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name): words for name, words in value.items() if isinstance(words, str)}


def _list(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def _captions(value: object) -> dict[str, str]:
    """Give the words that each role for outside links shows; an address where it names none."""
    if not isinstance(value, dict):
        return {}
    captions: dict[str, str] = {}
    for name, parts in value.items():
        if isinstance(parts, list | tuple) and parts and isinstance(parts[0], str):
            caption = parts[1] if len(parts) > 1 and isinstance(parts[1], str) else parts[0]
            captions[str(name)] = caption if "%s" in caption else f"{caption}%s"
    return captions


def matches(pattern: str, relative: str) -> bool:
    """Say whether a path fits a pattern as Sphinx writes them."""
    if pattern.count("*") > _MOST_STARS:
        return False
    expression = "".join(_pattern(part) for part in _GLOB.findall(pattern))
    try:
        return re.fullmatch(expression, relative) is not None
    except re.error:
        return False


def _pattern(part: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part in {"*", "?"}:
        return f"[^/]{'*' if part == '*' else ''}"
    if part.startswith("[") and len(part) > 1:
        return part.replace("[!", "[^")
    return re.escape(part)
