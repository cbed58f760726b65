"""Markdown files and their places in a book, for every kind of book."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_NUMBER_PREFIX = re.compile(r"^(\d+)\s*[-_.]+\s*([^-_.\s].*)$")
# Dates and versions keep their numbers.
_VERSION_LIKE = re.compile(r"^(\d{2}[-_]\d{2}|\d{4}[-_]\d{2}|\d+[-_.]\d+)")
_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    """A source file with its place in the book."""

    path: Path
    document_id: str
    url: str
    chapter: str | None  # None: the page is its own chapter
    title: str | None = None  # if the kind of book, not the page, provides it
    route: str = ""  # path on the site, from the site's root
    aliases: tuple[str, ...] = ()  # other routes of the page


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Markdown file without its front matter."""

    path: Path
    relative: PurePosixPath
    front: Mapping[str, object]
    body: str

    def get_text(self, key: str) -> str | None:
        """Return a front matter entry as text; None if it is missing, a list or a mapping."""
        value = self.front.get(key)
        return None if value is None or isinstance(value, list | dict) else str(value)


def rank_by_position(position: object, name: str) -> tuple[float, str]:
    """Rank a page by its position if it has one, otherwise by its number or name."""
    if isinstance(position, int | float):
        return (float(position), name)
    number = _NUMBER_PREFIX.match(name)
    return (float(number.group(1)) if number else 1e6, name.lower())


def rank_naturally(name: str) -> tuple[tuple[int, int, str], ...]:
    """Rank a name in natural order: numbers in it count as numbers."""
    parts = re.split(r"([0-9]+)", name.lower())
    return tuple((0, int(p), "") if n % 2 else (1, 0, p) for n, p in enumerate(parts) if p)


def strip_number(name: str) -> str:
    """Remove the sort number from a name."""
    match = _NUMBER_PREFIX.match(name)
    return match.group(2) if match and not _VERSION_LIKE.match(name) else name


def make_title(name: str) -> str:
    """Make a title from a folder name."""
    words = strip_number(name).replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def find_first_title(body: str) -> str | None:
    """Return the text of the first level-one heading outside code."""
    prose = _FENCED.sub("", body)
    line = next((line for line in prose.split("\n") if re.match(r"#[ \t]", line)), None)
    if line is None:
        return None
    title = re.sub(r"\{#[^{}]*\}$", "", line[1:].strip().rstrip("#").strip()).strip()
    return re.sub(r"[`*_]", "", title) or None
