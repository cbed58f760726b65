"""Under which heading and in which chapter words of a Markdown book stand, by rules of our own."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evals.visible_text.markdown_books import markdown_pages, summary_of
from evals.visible_text.markdown_pages import MarkdownPage
from evals.visible_text.words import words

Words = tuple[str, ...]

_ATX = re.compile(r"^#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^(?:={3,}|-{3,})[ \t]*$")
_NO_TITLE = re.compile(r"^(?:[-*+>|#]|\d+[.)]|:::|\s*$)")
_SUMMARY_ENTRY = re.compile(r"^(\s*)(?:[-*+]\s+)?\[(.+)\]\(([^)#]*)[^)]*\)\s*$")
_SIZES = (8, 4, 2, 1)  # words that tell where a chunk begins; fewer only if it has no more


@dataclass(frozen=True, slots=True)
class Stretch:
    """The words below one heading."""

    file: str
    title: Words
    chapters: frozenset[Words]  # each would be right
    words: Words


def folded(text: str) -> Words:
    """Give the words of a title, whatever their case."""
    return tuple(word.casefold() for word in words(text))


class Outline:
    """The headings of a book, with what stands below each."""

    def __init__(self, folder: Path) -> None:
        self.stretches = tuple(_stretches(folder))

    def places(self, text: str) -> list[Stretch]:
        """Find where a chunk's first words stand; later ones if the first are not seen."""
        found = words(text)
        size = next((size for size in _SIZES if len(found) >= size), 0)
        for start in range(len(found) - size + 1 if size else 0):
            if places := self._index[size].get(tuple(found[start : start + size])):
                return [self.stretches[place] for place in sorted(places)]
        return []

    @cached_property
    def _index(self) -> dict[int, dict[Words, set[int]]]:
        index: dict[int, dict[Words, set[int]]] = {size: defaultdict(set) for size in _SIZES}
        for place, stretch in enumerate(self.stretches):
            for size in _SIZES:
                for start in range(len(stretch.words) - size + 1):
                    index[size][stretch.words[start : start + size]].add(place)
        return index


def _stretches(folder: Path) -> Iterator[Stretch]:
    chapters = _Chapters(folder)
    for page in markdown_pages(folder):
        named = chapters.of(page)
        for title, text in _parted(page, chapters.title_of(page)):
            seen = tuple(words(text))
            yield Stretch(str(page.path.relative_to(folder)), folded(title), named, seen)


def _parted(page: MarkdownPage, title: str) -> Iterator[tuple[str, str]]:
    """Part a page at its headings; a quotation's own headings end with it."""
    outer = title
    seen: list[str] = []
    for run in page.runs():
        if not run.is_quoted and title != outer and run.text.strip():
            yield title, "\n".join(seen)
            title, seen = outer, []
        prose: list[str] = []
        for line in run.text.split("\n"):
            heading = None if run.is_code else _heading(line, prose)
            if heading is None:
                prose.append(line)
                continue
            yield title, "\n".join((*seen, page.seen("\n".join(prose))))
            title, seen, prose = page.seen(f"# {heading}"), [], []
            outer = outer if run.is_quoted else title
        text = "\n".join(prose)
        seen.append(text if run.is_code else page.seen(text))
    yield title, "\n".join(seen)


def _heading(line: str, before: list[str]) -> str | None:
    if match := _ATX.match(line):
        return match.group(1) or ""
    if _UNDERLINE.match(line) and before and not _NO_TITLE.match(before[-1]):
        return before.pop()
    return None


class _Chapters:
    """What names the chapters: a summary, a category's label, or a folder's own page."""

    def __init__(self, folder: Path) -> None:
        self._pages = {page.path: page for page in markdown_pages(folder)}
        self._root = Path(os.path.commonpath([path.parent for path in self._pages]))
        self._summary = _summary_chapters(summary_of(folder))

    def title_of(self, page: MarkdownPage) -> str:
        """Give what stands above the words before a page's first heading."""
        listed = self._summary.get(page.path, ("", ""))[1]
        return page.entry("title") or _first_heading(page) or listed or page.path.stem

    def of(self, page: MarkdownPage) -> frozenset[Words]:
        """Give the names that the page's chapter goes by."""
        if page.path in self._summary:
            return frozenset({folded(self._summary[page.path][0])})
        relative = page.path.relative_to(self._root)
        if len(relative.parts) == 1:
            return frozenset(map(folded, self._own_titles(page)))
        return frozenset(map(folded, self._folder_names(self._root / relative.parts[0])))

    def _folder_names(self, folder: Path) -> Iterator[str]:
        for path in folder.glob("_category_.json"):
            yield str(json.loads(path.read_text("utf-8"))["label"])
            return
        for name in ("_index.md", "index.md", "index.mdx"):
            if page := self._pages.get(folder / name):
                yield from self._own_titles(page)
                return
        yield re.sub(r"[-_]+", " ", re.sub(r"^\d+[-_.]", "", folder.name))

    def _own_titles(self, page: MarkdownPage) -> Sequence[str]:
        names = (page.entry("linkTitle"), page.entry("sidebar_label"), self.title_of(page))
        return [name for name in names if name]


def _first_heading(page: MarkdownPage) -> str:
    for run in page.runs():
        for line in () if run.is_code else run.text.split("\n"):
            if match := re.match(r"#[ \t]+(.+)", line):
                return page.seen(match.group(1))
    return ""


def _summary_chapters(summary: Path | None) -> dict[Path, tuple[str, str]]:
    """Give each listed page its top entry's title and its own."""
    found: dict[Path, tuple[str, str]] = {}
    chapter = ""
    for line in summary.read_text("utf-8").split("\n") if summary else ():
        if (match := _SUMMARY_ENTRY.match(line)) and summary:
            indent, title, name = match.groups()
            title = re.sub(r"[`*_]", "", title)
            chapter = chapter if indent else title
            found.setdefault(summary.parent / name, (chapter, title))
    return found
