"""Pages of a Jupyter Book or a MyST project."""

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from evals.visible_text.dialects.page import SourcePage, cut_front, find_heading, split_sections

_OPEN = re.compile(r"^[ \t]*(`{3,}|:{3,}|~{3,})[ \t]*\{([\w:.-]+)[^}]*\}[ \t]*(.*)$")
_PLAIN = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?(`{3,}|:{3,}|~{3,})[ \t]*([^`]*)$")
_OPTION = re.compile(r"^[ \t]*:([\w-]+):[ \t]*(.*)$")
_ROLE = re.compile(r"\{([\w:+-]+)\}(`+)(.+?)\2", re.DOTALL)
_UNSEEN = re.compile(
    r"^\([^\n]*\)=[ \t]*$|^\+\+\+[^\n]*$|^%[^\n]*$|<!--.*?-->", re.MULTILINE | re.DOTALL
)
_LABEL = re.compile(r"\$\$[ \t]*\([^()\s]+\)")
_SHOWN_ARGUMENT = frozenset(
    "admonition dropdown tab-item card topic details table list-table".split()
)
_CODE = frozenset("code-cell code code-block math literalinclude".split())
_SKIPPED = frozenset(
    "toctree tableofcontents index raw iframe embed bibliography nb-exec-table include curation".split()
)
_REFERENCES = ("ref", "numref", "doc", "eq", "cite", "prf:ref", "term", "abbr", "index")


def list_myst_pages(folder: Path) -> Iterator[SourcePage]:
    """List the pages that the table of contents names."""
    contents = next(iter(sorted(folder.rglob("_toc.yml"))), None)
    config = next(iter(sorted(folder.rglob("myst.yml"))), None)
    path = contents or config
    if path is None:
        return
    loaded = yaml.safe_load(path.read_text("utf-8"))
    entries = loaded if contents else loaded["project"]["toc"]
    for name, top in _walk(entries, ""):
        page = path.parent / (name if name.endswith(".md") else f"{name}.md")
        if page.is_file():
            yield _read_page(page, path.parent, top)


def _walk(entry: object, top: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield each file with the file or title of its top entry."""
    if isinstance(entry, list):
        for item in entry:
            yield from _walk(item, top, depth)
    elif isinstance(entry, dict):
        name = entry.get("root") or entry.get("file")
        if isinstance(name, str):
            yield name, top
        below = str(entry.get("title") or name) if name and "root" not in entry and not top else top
        for key in ("parts", "chapters", "sections", "children"):
            yield from _walk(entry.get(key), below, depth + 1)


def _read_page(path: Path, root: Path, top: str) -> SourcePage:
    front, body = cut_front(path.read_text("utf-8-sig"))
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    named = re.search(r"^title:[ \t]*(.+?)[ \t]*$", front, re.MULTILINE)
    title = find_heading(body) or (named.group(1).strip("\"'") if named else path.stem)
    opening = root / (top if top.endswith(".md") else f"{top}.md")
    above = find_heading(opening.read_text("utf-8")) if top and opening.is_file() else top
    runs = [(code, text if code else _clean(text)) for code, text in _split(body)]
    if "{bibliography}" in body:
        runs.append((True, _list_cited_titles(root)))
    chapters = frozenset({above} if above else {title})
    return SourcePage(
        path.relative_to(root).as_posix(), chapters, split_sections(runs, title), body
    )


def _split(body: str) -> Iterator[tuple[bool, str]]:
    """Split a page into code and prose; directives that hold text are opened."""
    lines = body.split("\n")
    prose: list[str] = []
    at = 0
    while at < len(lines):
        found = _OPEN.match(lines[at])
        plain = _PLAIN.match(lines[at])
        at += 1
        if found is None and plain and plain.group(2).strip() and plain.group(1)[0] != ":":
            found = None
        if found is None and not (plain and plain.group(1)[0] != ":"):
            if not (plain and plain.group(1)[0] == ":"):
                prose.append(lines[at - 1])
            continue
        if found is None and plain is not None:
            code, at = _take(lines, at, plain.group(1))
            if not code and not plain.group(2).strip():
                continue
            yield False, "\n".join(prose)
            prose = []
            yield True, "\n".join(code)
            continue
        assert found is not None  # noqa: S101 - for the type checker
        mark, name, argument = found.groups()
        inside, at = _take(lines, at, mark)
        options, inside = _cut_options(inside)
        yield False, "\n".join(prose)
        prose = []
        yield from _open(name.lower(), argument, options, inside)
    yield False, "\n".join(prose)


def _open(name: str, argument: str, options: str, inside: list[str]) -> Iterator[tuple[bool, str]]:
    if name in _SKIPPED:
        return
    if name in _CODE:
        if not re.search(r"remove.(cell|input)", options):
            yield True, "\n".join(inside)
        caption = re.search(r"^[ \t]*caption:[ \t]*(.+)$", options, re.MULTILINE)
        if caption:
            yield False, f"\n{caption.group(1)}\n"
        return
    if name == "profile":
        given = yaml.safe_load(options) or {}
        yield False, "\n\n".join(str(value) for value in given.values() if " " in str(value))
    if name in _SHOWN_ARGUMENT or name == "profile" or name.startswith("prf:"):
        yield False, f"\n{argument}\n"
    alt = re.search(r"^[ \t]*:alt:[ \t]*(.+)$", options, re.MULTILINE)
    if alt:
        yield False, f"\n{alt.group(1)}\n"
    for is_code, text in _split("\n".join(inside)):
        # Headings inside a box are part of its text.
        yield is_code, text if is_code else re.sub(r"^#+[ \t]+", "", text, flags=re.MULTILINE)


def _take(lines: list[str], at: int, mark: str) -> tuple[list[str], int]:
    """Take the lines up to the end of a fence; colons of directives inside may be as many."""
    inside: list[str] = []
    while at < len(lines) and lines[at].strip() != mark:
        inside.append(lines[at])
        at += 1
    return inside, at + 1


def _cut_options(lines: list[str]) -> tuple[str, list[str]]:
    if lines and lines[0].strip() == "---":
        end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
        return "\n".join(lines[1:end]), lines[end + 1 :]
    end = 0
    while end < len(lines) and _OPTION.match(lines[end]):
        end += 1
    return "\n".join(lines[:end]), lines[end:]


def _clean(text: str) -> str:
    text = _LABEL.sub("$$", _UNSEEN.sub("", text))
    return _ROLE.sub(lambda found: _read_role(found.group(1), found.group(3)), text)


def _read_role(name: str, content: str) -> str:
    named = re.match(r"\A(.+?)\s*<[^<>]+>\s*\Z", content, re.DOTALL)
    if named and "%s" not in named.group(1):
        return named.group(1)
    if name.startswith(_REFERENCES) or named:
        return "" if name not in {"term", "index"} else content
    return content


def _list_cited_titles(root: Path) -> str:
    """List the titles of the works whose keys some page names."""
    keys = {
        key
        for path in root.rglob("*.md")
        for names in re.findall(r"\{cite[\w:]*\}`([^`]+)`", path.read_text("utf-8-sig"))
        for key in re.split(r"[,\s]+", names)
    }
    entries = [
        entry
        for path in sorted(root.rglob("*.bib"))
        for entry in re.split(r"^@", path.read_text("utf-8"), flags=re.MULTILINE)
        if (found := re.match(r"\w+\{\s*([^,\s]+)", entry)) and found.group(1) in keys
    ]
    titles = (
        re.search(r"\btitle\s*=\s*[{\"](.+?)[}\"],?\s*$", entry, re.MULTILINE) for entry in entries
    )
    return "\n".join(re.sub(r"[{}\\]", "", title.group(1)) for title in titles if title)
