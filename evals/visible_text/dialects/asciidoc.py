"""Chapters of an AsciiDoc book, line by line."""

import re
from collections.abc import Iterator
from pathlib import Path

from evals.visible_text.dialects.page import SourcePage

_INCLUDE = re.compile(r"^include::([^\[\]]+)\[[^\]]*\]$")
_HEADING = re.compile(r"^(={1,6})[ \t]+(.+?)[ \t]*$")
_FENCE = re.compile(r"^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\|={3,}|--|`{3,})$")
_UNSEEN = re.compile(r"^(?:\[.*\]|//.*|:[\w-]+:.*|ifdef::.*|endif::.*|'''|\+)$")
_HIDDEN = re.compile(r"\(\(\(.*?\)\)\)|\[\[[^\]]*\]\]")
_NAMED = re.compile(r"<<[^<>,]+,([^<>]+)>>")
_BARE = re.compile(r"<<[^<>]+>>")
_LINK = re.compile(r"(?:link:)?(?:https?|mailto):[^\s\[\]]+\[([^\]]*)\]")
_IMAGE = re.compile(r"^image::?[^\[\]]*\[\"?([^\],\"]*)[^\]]*\]$")
_MARKS = re.compile(r"[`*_#+]")


def list_asciidoc_pages(folder: Path) -> Iterator[SourcePage]:
    """List the chapters of the book whose main file includes the others."""
    main = next(path for path in sorted(folder.glob("*.asc")) if path.stem == "progit")
    lines = list(_expand(main, 0))
    chapters: list[list[str]] = [[]]
    fence = ""
    for line in lines:
        if _FENCE.match(line) and (not fence or line == fence):
            fence = "" if fence else line
        found = None if fence else _HEADING.match(line)
        if found and len(found.group(1)) == 2:
            chapters.append([])
        chapters[-1].append(line)
    for chapter in chapters[1:]:
        yield _read_chapter(chapter)


def _expand(path: Path, depth: int) -> Iterator[str]:
    for line in path.read_text("utf-8-sig").split("\n"):
        found = _INCLUDE.match(line)
        if found is None:
            yield line.rstrip()
        elif (path.parent / found.group(1)).is_file() and depth < 10:
            yield from _expand(path.parent / found.group(1), depth + 1)


def _read_chapter(lines: list[str]) -> SourcePage:
    title = ""
    sections: list[tuple[str, str]] = []
    texts: list[str] = []
    fence = ""
    for line in lines:
        if _FENCE.match(line) and (not fence or line == fence):
            fence = "" if fence else line
            continue
        is_code = fence[:1] in {"-", ".", "`"} and fence != "--"
        heading = None if fence else _HEADING.match(line)
        if heading:
            if title:
                sections.append((title, "\n".join(texts)))
            title, texts = _MARKS.sub("", _clean(heading.group(2))), []
        elif is_code:
            texts.append(line)
        elif not _UNSEEN.match(line):
            texts.append(_read_line(line))
    sections.append((title, "\n".join(texts)))
    own = sections[0][0]
    return SourcePage(own, frozenset({own}), tuple(sections), "\n".join(lines))


def _read_line(line: str) -> str:
    if image := _IMAGE.match(line):
        return image.group(1)
    if line.startswith(".") and not line.startswith(". "):
        line = line.lstrip(".")
    return _MARKS.sub("", _clean(line))


def _clean(text: str) -> str:
    text = _BARE.sub("", _NAMED.sub(r"\1", _HIDDEN.sub("", text)))
    return _LINK.sub(r"\1", text)
