"""Pages of an MkDocs site."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from evals.visible_text.dialects.page import (
    SourcePage,
    cut_front,
    find_heading,
    split_fences,
    split_sections,
)

_TAG = re.compile(r"!!python/\S+[ \t]*")
_INCLUDE = re.compile(r"^[ \t]*\{(?:\*|!>?)[ \t]*([^\s!*]+)[^{}]*?[*!]\}[ \t]*$", re.MULTILINE)
_LINES = re.compile(r"ln\[([\d:,]+)\]")
_BLOCK = re.compile(r"^[ \t]*/{3,}[ \t]*(?:[\w-]+)?[ \t]*(?:\|(.*))?$", re.MULTILINE)
_OPENING = re.compile(
    r"^[ \t]*(?:!!!|\?\?\?\+?|===)[ \t]+[\w -]*\"?([^\"\n]*)\"?[ \t]*$", re.MULTILINE
)
_DOCSTRING = re.compile(r"^:::[ \t]+[\w.]+[ \t]*$(?:\n[ \t]+.*$|\n(?=[ \t]))*", re.MULTILINE)
_TEMPLATE = re.compile(r"\{%.*?%\}.*\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_ATTRIBUTES = re.compile(r"[ \t]*\{:?[ \t]*[#.][^{}\n]*\}|\{:?[\w-]+=[^{}\n]*\}")
_REFERENCE = re.compile(r"\[([^\[\]\n]+)\]\[[\w.]*\]")


def list_mkdocs_pages(folder: Path) -> Iterator[SourcePage]:
    """List the pages of the navigation."""
    path = next(iter(sorted(folder.rglob("mkdocs.yml"))))
    settings = yaml.safe_load(_TAG.sub("", path.read_text("utf-8")))
    docs = path.parent / settings.get("docs_dir", "docs")
    for names in _walk(settings["nav"]):
        for name in names:
            if (docs / name).is_file():
                first = find_heading(_read(docs / names[0])) if len(names) > 1 else ""
                yield _read_page(docs / name, docs, path.parent, first)


def _walk(nav: list[object]) -> Iterator[list[str]]:
    """Yield the pages of each top entry."""

    def flatten(item: object) -> Iterator[str]:
        if isinstance(item, str):
            yield item
        for below in item if isinstance(item, list) else ():
            yield from flatten(below)
        for below in item.values() if isinstance(item, dict) else ():
            yield from flatten(below)

    for item in nav:
        yield list(flatten(item))


def _read(path: Path) -> str:
    return _ATTRIBUTES.sub("", cut_front(path.read_text("utf-8-sig"))[1])


def _read_page(path: Path, docs: Path, base: Path, top: str) -> SourcePage:
    raw = path.read_text("utf-8-sig")
    front, body = cut_front(raw)
    named = re.search(r"^title:[ \t]*(.+?)[ \t]*$", front, re.MULTILINE)
    title = find_heading(_ATTRIBUTES.sub("", body)) or (named.group(1) if named else path.stem)
    runs: list[tuple[bool, str]] = []
    for info, text in split_fences(body):
        at = 0
        if info is not None:
            shown = re.search(r'title="([^"]*)"', info)
            runs.append((True, shown.group(1) if shown else ""))
        for found in _INCLUDE.finditer(text):
            runs.append((info is not None, _clean(text[at : found.start()], info)))
            runs.append((True, _load(base, found)))
            at = found.end()
        runs.append((info is not None, _clean(text[at:], info)))
    chapters = frozenset({top or title})
    name = path.relative_to(docs).as_posix()
    return SourcePage(name, chapters, split_sections(runs, title), raw)


def _load(base: Path, found: re.Match[str]) -> str:
    path = base / found.group(1)
    if not path.is_file():
        return ""
    lines = path.read_text("utf-8").split("\n")
    wanted = _LINES.search(found.group())
    if wanted is None:
        return "\n".join(lines)
    chosen: list[str] = []
    for part in wanted.group(1).split(","):
        first, colon, last = part.partition(":")
        chosen += lines[int(first) - 1 : int(last) if last else None if colon else int(first)]
    return "\n".join(chosen)


def _clean(text: str, info: str | None) -> str:
    if info is not None:
        return text
    text = _TEMPLATE.sub("", _DOCSTRING.sub("", text))
    text = _BLOCK.sub(lambda found: f"\n{found.group(1) or ''}\n", text)
    text = _OPENING.sub(r"\n\1\n", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return _REFERENCE.sub(r"\1", _ATTRIBUTES.sub("", text))
