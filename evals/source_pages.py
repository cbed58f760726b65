"""Reads the words of a Markdown or MyST page, and the headings above them.

Normalized words are lower case runs of letters and digits (`\\w` without the underscore), so that punctuation,
emphasis, list marks and table rules drop out. Code and formulas keep their words. What a reader never sees is
removed first: front matter, comments, labels, options of directives, link targets, citations, HTML tags.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

Part = Literal["heading", "prose", "code"]

_WORD = re.compile(r"[^\W_]+")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_FENCE = re.compile(r"\s*(`{3,}|~{3,}|:{3,})\s*(.*?)\s*$")
_OPTION = re.compile(r"\s*:[\w-]+:")
_VERBATIM = frozenset({"code", "code-block", "code-cell", "math", "sourcecode"})
_TARGET = r"\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\s*\)"
_ROLE = re.compile(r"\{([\w:+-]+)\}`([^`]*)`")
_UNTITLED_ROLES = (
    "cite",
    "eq",
    "numref",
    "ref",
    "doc",
)  # without a title they show no words of the source
_INVISIBLE = (
    (re.compile(r"^\s*\d+[.)]\s+", re.MULTILINE), ""),  # numbers of lists
    (re.compile(r"^\([^()\n]+\)=\s*$", re.MULTILINE), ""),  # labels
    (re.compile(r"!\[[^\]]*\]" + _TARGET), ""),  # images
    (re.compile(r"\[([^\[\]]*)\]" + _TARGET), r"\1"),  # links
    (re.compile(r"\[\^[^\]]+\]"), ""),  # footnotes
    (re.compile(r"</?[a-zA-Z][^<>\n]*>"), ""),  # tags, and addresses in angle brackets
    (re.compile(r"(?<=\w)\*\*(?=\w)"), ""),  # bold that ends inside a word
)


def split_words(text: str) -> list[str]:
    """Normalize a text to its words."""
    return _WORD.findall(text.lower())


def find_words(text: str, words: Sequence[str]) -> tuple[int, int] | None:
    """Find a run of normalized words in a text; return the offsets of its start and end."""
    places = list(_WORD.finditer(text))
    found = [place.group().lower() for place in places]
    for start in _find_runs(found, words):
        return places[start].start(), places[start + len(words) - 1].end()
    return None


def _find_runs(words: Sequence[str], run: Sequence[str]) -> Iterator[int]:
    wanted = list(run)
    for start in range(len(words) - len(wanted) + 1):
        if words[start] == wanted[0] and list(words[start : start + len(wanted)]) == wanted:
            yield start


@dataclass(frozen=True, slots=True)
class Page:
    """A page's normalized words, with the index of the first word of each section."""

    words: tuple[str, ...]
    titles: tuple[str, ...]  # headings as in the file; the text above the first has ""
    starts: tuple[int, ...]

    def section_at(self, index: int) -> str:
        """Find the heading above a word."""
        return self.titles[bisect_right(self.starts, index) - 1]

    def find(self, run: Sequence[str], section: str | None = None) -> list[int]:
        """Find where a run of words starts, only in sections of this title if it is given."""
        found = _find_runs(self.words, run)
        return [start for start in found if section is None or self.section_at(start) == section]

    def sections(self) -> Iterator[tuple[str, int, int]]:
        """Yield each heading with the range of its words."""
        for title, (start, end) in zip(
            self.titles, pairwise((*self.starts, len(self.words))), strict=True
        ):
            yield title, start, end


def read_page(path: Path) -> Page:
    """Read the words of a page."""
    words: list[str] = []
    titles, starts = [""], [0]
    for part, text in _split_parts(path.read_text("utf-8")):
        if part == "heading":
            titles.append(text)
            starts.append(len(words))
        words += split_words(_strip_markup(text) if part == "prose" else text)
    return Page(tuple(words), tuple(titles), tuple(starts))


def _strip_markup(text: str) -> str:
    text = _ROLE.sub(_replace_role, text)
    for pattern, replacement in _INVISIBLE:
        text = pattern.sub(replacement, text)
    return text


def _replace_role(role: re.Match[str]) -> str:
    name, body = role.groups()
    title, target, _ = body.partition("<")
    return "" if not target and name.startswith(_UNTITLED_ROLES) else title


def _split_parts(source: str) -> Iterator[tuple[Part, str]]:
    """Split a page at its headings and code blocks."""
    kept: list[str] = []
    kind: Part = "prose"
    for part, line in _classify_lines(_COMMENT.sub("", _FRONT_MATTER.sub("", source))):
        if part != kind or part == "heading":
            yield kind, "\n".join(kept)
            kind, kept = part, []
        kept.append(line)
    yield kind, "\n".join(kept)


def _classify_lines(source: str) -> Iterator[tuple[Part, str]]:
    """Yield each line with the kind of part it belongs to, without the lines that mark directives."""
    code = ""  # the fence that closes the open code block
    directives: list[str] = []
    lines = _drop_options(source.splitlines())
    for line in lines:
        fence = _FENCE.match(line)
        mark, info = fence.groups() if fence else ("", "")
        if code:
            if mark.startswith(code) and not info:
                code = ""
            else:
                yield "code", line
        elif not mark:
            heading = _HEADING.match(line)
            yield ("heading", heading.group(1).strip()) if heading else ("prose", line)
        elif directives and not info and mark.startswith(directives[-1]):
            directives.pop()
        elif info.startswith("{") and info[1:].partition("}")[0] not in _VERBATIM:
            directives.append(mark)
        else:
            code = mark


def _drop_options(lines: Sequence[str]) -> Iterator[str]:
    """Drop the options of directives: `:key: value` or YAML between dashes, next to the opening fence."""
    after_opening = in_yaml = False
    for line in lines:
        if in_yaml:
            in_yaml = line.strip() != "---"
            continue
        if after_opening and line.strip() == "---":
            in_yaml = True
            continue
        if after_opening and _OPTION.match(line):
            continue
        fence = _FENCE.match(line)
        after_opening = fence is not None and fence.group(2).startswith("{")
        yield line
