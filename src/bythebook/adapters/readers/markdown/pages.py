"""Source files and their places in a book: what every layout works with."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_NUMBER_PREFIX = re.compile(r"^(\d+)\s*[-_.]+\s*([^-_.\s].*)$")
_VERSION_LIKE = re.compile(
    r"^(\d{2}[-_]\d{2}|\d{4}[-_]\d{2}|\d+[-_.]\d+)"
)  # dates and versions keep theirs
_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Page:
    """A source file with its place in the book."""

    path: Path
    document_id: str
    url: str
    chapter: str | None  # none: the page is its own chapter
    title: str | None = None  # where the layout, not the page, names it
    route: str = ""  # its path on the site, from the site's root
    aliases: tuple[str, ...] = ()  # routes that it also has


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Markdown file, its front matter taken off."""

    path: Path
    relative: PurePosixPath
    front: Mapping[str, object]
    body: str

    def word(self, key: str) -> str | None:
        """Give a front matter entry as text, if it is there and no list of others."""
        value = self.front.get(key)
        return None if value is None or isinstance(value, list | dict) else str(value)


def place(position: object, name: str) -> tuple[float, str]:
    """Rank a page by its position if it has one, else by its number or name."""
    if isinstance(position, int | float):
        return (float(position), name)
    number = _NUMBER_PREFIX.match(name)
    return (float(number.group(1)) if number else 1e6, name.lower())


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Rank a name as people sort: numbers in it count as numbers."""
    parts = re.split(r"([0-9]+)", name.lower())
    return tuple((0, int(p), "") if n % 2 else (1, 0, p) for n, p in enumerate(parts) if p)


def unnumbered(name: str) -> str:
    """Take the number off a name that sorts by it."""
    match = _NUMBER_PREFIX.match(name)
    return match.group(2) if match and not _VERSION_LIKE.match(name) else name


def spoken(name: str) -> str:
    """Make a title of a folder's name."""
    words = unnumbered(name).replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def first_title(body: str) -> str | None:
    """Give the text of the first level-one heading; a comment in code is none."""
    prose = _FENCED.sub("", body)
    line = next((line for line in prose.split("\n") if re.match(r"#[ \t]", line)), None)
    if line is None:
        return None
    title = re.sub(r"\{#[^{}]*\}$", "", line[1:].strip().rstrip("#").strip()).strip()
    return re.sub(r"[`*_]", "", title) or None
