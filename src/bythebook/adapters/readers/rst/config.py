"""Reads the settings of a Sphinx project from the source of its conf.py, without running it."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.rst.files import load_text
from bythebook.errors import UnreadableBook

_SOURCE_NAMES = frozenset({"source", "docs", "doc", "src"})
_MAX_STARS = 8  # more would take too long to match
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SphinxConfig:
    """The settings of a project that affect its text or its order."""

    found: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)  # settings with a string value
    macros: Mapping[str, str] = field(default_factory=dict)  # {NAME} in the text -> replacement
    external: Mapping[str, str] = field(default_factory=dict)  # role -> caption with %s
    excluded: Sequence[str] = ()

    def get_setting(self, *names: str) -> str:
        """Return the first of the named settings that is not empty."""
        return next((self.settings[name] for name in names if self.settings.get(name)), "")

    def excludes(self, relative: str) -> bool:
        """Return True if the project excludes a file by its patterns."""
        parts = relative.split("/")
        paths = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        return any(matches(pattern, path) for pattern in self.excluded for path in paths)


def read_config(root: Path, folder: Path) -> SphinxConfig:
    """Read the conf.py of a project; computed settings are ignored."""
    places = [root, folder, *([root.parent] if root.name in _SOURCE_NAMES else [])]
    path = next((place / "conf.py" for place in places if (place / "conf.py").is_file()), None)
    if path is None:
        return SphinxConfig()
    try:
        values = _read_literals(load_text(path, path.parent))
    except (UnreadableBook, SyntaxError, ValueError, RecursionError, MemoryError):
        return SphinxConfig(found=True)
    return SphinxConfig(
        found=True,
        settings={name: value for name, value in values.items() if isinstance(value, str)},
        macros=_keep_strings(values.get("macros")),
        external=_read_captions(values.get("extlinks")),
        excluded=_make_patterns(values.get("exclude_patterns")),
    )


def _read_literals(source: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                values[statement.targets[0].id] = ast.literal_eval(statement.value)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                continue
    return values


def _keep_strings(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {str(name): text for name, text in value.items() if isinstance(text, str)}


def _make_patterns(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


def _read_captions(value: object) -> dict[str, str]:
    """Return the caption of each external link role; the address if it has no caption."""
    if not isinstance(value, dict):
        return {}
    captions: dict[str, str] = {}
    for name, parts in value.items():
        if isinstance(parts, list | tuple) and parts and isinstance(parts[0], str):
            caption = parts[1] if len(parts) > 1 and isinstance(parts[1], str) else parts[0]
            captions[str(name)] = caption if "%s" in caption else f"{caption}%s"
    return captions


def matches(pattern: str, relative: str) -> bool:
    """Return True if a path matches a Sphinx pattern."""
    if pattern.count("*") > _MAX_STARS:
        return False
    expression = "".join(_translate_pattern(part) for part in _GLOB.findall(pattern))
    try:
        return re.fullmatch(expression, relative) is not None
    except re.error:
        return False


def _translate_pattern(part: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part == "**":
        return ".*"
    if part in {"*", "?"}:
        return f"[^/]{'*' if part == '*' else ''}"
    if part.startswith("[") and len(part) > 1:
        return part.replace("[!", "[^")
    return re.escape(part)
