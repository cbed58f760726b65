"""Pages of a Quarto book."""

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

_OPTION = re.compile(r"^#\|[ \t]?", re.MULTILINE)
_DIV = re.compile(r"^:{3,} *callout.*?^:{3,} *$", re.MULTILINE | re.DOTALL)
_ATTRIBUTES = re.compile(r"[ \t]*\{[#.-][^{}\n]*\}|\{(?:fig-alt|width|height|fig-align)[^{}]*\}")
_COMPUTED = re.compile(r"`r [^`]*`")
_REFERENCE = re.compile(r"\[?-?@(?:sec|fig|tbl|eq)-[\w-]+\]?")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def list_quarto_pages(folder: Path) -> Iterator[SourcePage]:
    """List the chapters of a book."""
    settings = yaml.safe_load((folder / "_quarto.yml").read_text("utf-8"))
    for name in _walk(settings["book"]["chapters"]):
        path = folder / name
        if path.is_file():
            raw = path.read_text("utf-8-sig")
            _, body = cut_front(raw)
            title = find_heading(_ATTRIBUTES.sub("", body)) or path.stem
            runs = [run for info, text in split_fences(body) for run in _read_run(info, text)]
            yield SourcePage(name, frozenset({title}), split_sections(runs, title), raw)


def _walk(entry: object) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    for item in entry if isinstance(entry, list) else ():
        yield from _walk(item)
    for key in ("part", "chapters") if isinstance(entry, dict) else ():
        yield from _walk(entry.get(key))  # type: ignore[attr-defined]


def _open_div(found: re.Match[str]) -> str:
    """Return the text of a callout; its heading starts no section."""
    return re.sub(r"^(?::{3,}.*|#+ +)", "", found.group(), flags=re.MULTILINE)


def _read_run(info: str | None, text: str) -> Iterator[tuple[bool, str]]:
    if info is None:
        text = _COMMENT.sub("", text)
        text = _REFERENCE.sub("", _COMPUTED.sub("", _DIV.sub(_open_div, text)))
        yield False, _ATTRIBUTES.sub("", text)
        return
    if not info.startswith("{") or info.startswith("{{"):
        yield True, text
        return
    lines = [line.lstrip() for line in text.split("\n")]
    given = [line for line in lines if line.startswith("#|")]
    options = (
        yaml.safe_load(_OPTION.sub("", "\n".join(given)).replace("!expr", "")) if given else {}
    )
    options = options or {}
    if options.get("include") is False or "include=FALSE" in info or info.startswith("{="):
        return
    if options.get("echo") is not False and "echo = FALSE" not in info:
        yield True, "\n".join(line for line in lines if not line.startswith("#|"))
    for key in ("fig-cap", "tbl-cap", "fig-alt", "fig.cap", "fig.alt"):
        value = options.get(key)
        for words in value if isinstance(value, list) else [value]:
            if isinstance(words, str):
                yield False, f"\n{words}\n"
