"""Inserts the files that MkDocs pages include: snippets, code and other pages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bythebook.adapters.readers.markdown.kinds.includes import (
    MAX_DEPTH,
    IncludeBudget,
    IncludedFiles,
)
from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.front_matter import split_front_matter

_SNIPPET = re.compile(r"^(?P<indent>[ \t]*)(?P<escape>;?)-{1,}8<-{1,}[ \t]+(?P<names>\S.*)$")
_SNIPPET_MARK = re.compile(r"^[ \t]*-{1,}8<-{1,}[ \t]*$")
_SECTION = re.compile(r"-{1,}8<-{1,}[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]")
_VARIANT = re.compile(r"^(?P<indent>[ \t]*)\{\*[ \t]+(?P<name>[^\s*]+)(?P<rest>[^{}]*)\*\}[ \t]*$")
_PLAIN = re.compile(r"^(?P<indent>[ \t]*)\{!>?[ \t]*(?P<name>[^!{}\n]+?)[ \t]*!\}[ \t]*$")
_MARKDOWN = re.compile(
    r"""^(?P<indent>[ \t]*)\{%-?[ \t]+include(?:-markdown)?[ \t]+["'](?P<name>[^"'\n]+)["'].*%\}[ \t]*$"""
)
_LINES = re.compile(r"\bln\[([\d:,\s]*)\]")
_LANGUAGES = {
    "py": "python", "js": "javascript", "ts": "typescript", "yml": "yaml", "sh": "bash",
    "rs": "rust", "rb": "ruby", "md": "markdown",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageIncluder:
    """Inserts files into one page, from inside the project only."""

    included: IncludedFiles
    file: SourceFile
    folders: Sequence[Path]  # that snippets are looked for in
    budget: IncludeBudget

    def expand(self, text: str, trail: tuple[Path, ...]) -> str:
        """Return a text with its includes inserted; in code, too, as MkDocs does."""
        if not any(mark in text for mark in ("8<", "{*", "{!", "{%")):
            return text
        return "\n".join(self._expand_lines(text.split("\n"), trail))

    def _expand_lines(self, lines: Sequence[str], trail: tuple[Path, ...]) -> Iterator[str]:
        is_block = False  # between two snippet marks each line names a file
        for line in lines:
            if _SNIPPET_MARK.match(line):
                is_block = not is_block
            elif is_block:
                if line.strip() and not line.strip().startswith(";"):
                    yield self._insert(line.strip().strip("\"'"), _get_indent(line), trail)
            elif "{" in line or "8<" in line:
                yield self._expand_line(line, trail)
            else:
                yield line

    def _expand_line(self, line: str, trail: tuple[Path, ...]) -> str:
        if found := _SNIPPET.match(line):
            if found["escape"]:
                return line.replace(";", "", 1)
            names = re.findall(r"""["']([^"'\n]+)["']""", found["names"]) or [found["names"]]
            return "\n".join(self._insert(name, found["indent"], trail) for name in names)
        if found := _VARIANT.match(line):
            wanted = _LINES.search(found["rest"])
            code = self._insert(found["name"], "", trail, wanted.group(1) if wanted else "")
            suffix = PurePosixPath(found["name"]).suffix.lstrip(".")
            return _fence(code, _LANGUAGES.get(suffix, suffix), found["indent"]) if code else ""
        if found := _PLAIN.match(line) or _MARKDOWN.match(line):
            return self._insert(found["name"], found["indent"], trail)
        return line

    def _insert(self, target: str, indent: str, trail: tuple[Path, ...], lines: str = "") -> str:
        name, _, selection = target.partition(":")
        for folder in (*self.folders, trail[-1].parent):
            path = Path(folder, name)
            text = self.included.load(path)
            if text is not None and path not in trail and len(trail) <= MAX_DEPTH:
                break
        else:
            self.included.record_missing(target, self.file)
            return ""
        if path.suffix == ".md":
            text = split_front_matter(text, path)[1]
        chosen = _select(text.split("\n"), selection, lines)
        if chosen is None:
            self.included.record_missing(target, self.file)
            return ""
        shown = self.budget.spend("\n".join(chosen).strip("\n"))
        shown = self.expand(shown, (*trail, path))
        return "\n".join(f"{indent}{line}" if line else line for line in shown.split("\n"))


def _get_indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _fence(code: str, language: str, indent: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    lines = (f"{fence}{language}", *code.split("\n"), fence)
    return "\n".join(f"{indent}{line}" if line else line for line in lines)


def _select(lines: Sequence[str], selection: str, ranges: str) -> list[str] | None:
    """Return the lines of a named section, of a range "4:6", or of several ranges."""
    if selection and not re.fullmatch(r"[\d:,\s-]+", selection):
        return _select_section(lines, selection)
    ranges = ranges or selection
    shown = [line for line in lines if not _SECTION.search(line)]
    if not ranges.strip():
        return shown
    chosen: list[str] = []
    for part in ranges.split(","):
        first, colon, last = (piece.strip() for piece in part.partition(":"))
        start = int(first) - 1 if first.isdecimal() else 0
        stop = int(last) if last.isdecimal() else None if colon else start + 1
        chosen.extend(lines[max(start, 0) : stop])
    return chosen


def _select_section(lines: Sequence[str], name: str) -> list[str] | None:
    chosen: list[str] | None = None
    for line in lines:
        mark = _SECTION.search(line)
        if mark and mark.group(2) == name:
            if mark.group(1) == "end":
                return chosen
            chosen = []
        elif chosen is not None and not mark:
            chosen.append(line)
    return chosen
