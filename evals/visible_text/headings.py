"""Finds the heading and chapter of words in a Markdown book, by rules independent of the reader."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from evals.visible_text.dialects.page import SourcePage
from evals.visible_text.markdown_books import find_summary, list_pages
from evals.visible_text.markdown_pages import MarkdownPage
from evals.visible_text.words import split_words

Words = tuple[str, ...]

_ATX = re.compile(r"^#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^(?:={3,}|-{3,})[ \t]*$")
_NO_TITLE = re.compile(r"^(?:[-*+>|#]|\d+[.)]|:::|\s*$)")
_SUMMARY_ENTRY = re.compile(r"^(\s*)(?:[-*+]\s+)?\[(.+)\]\(([^)#]*)[^)]*\)\s*$")
_SIZES = (8, 4, 2, 1)  # words that identify where a chunk begins; fewer only in a short chunk


@dataclass(frozen=True, slots=True)
class SectionText:
    """The words below one heading."""

    file: str
    title: Words
    chapters: frozenset[Words]  # any one is right
    words: Words


def normalize_title(text: str) -> Words:
    """Split a title into words, ignoring case."""
    return tuple(word.casefold() for word in split_words(text))


class Outline:
    """The headings of a book, with the text below each."""

    def __init__(self, sections: Iterable[SectionText]) -> None:
        self.sections = tuple(sections)

    def find_sections(self, text: str) -> list[SectionText]:
        """Find the sections that contain a chunk's first words, or later ones if the first are not found."""
        found = split_words(text)
        size = next((size for size in _SIZES if len(found) >= size), 0)
        for start in range(len(found) - size + 1 if size else 0):
            if places := self._index[size].get(tuple(found[start : start + size])):
                return [self.sections[place] for place in sorted(places)]
        return []

    @cached_property
    def _index(self) -> dict[int, dict[Words, set[int]]]:
        index: dict[int, dict[Words, set[int]]] = {size: defaultdict(set) for size in _SIZES}
        for place, section in enumerate(self.sections):
            for size in _SIZES:
                for start in range(len(section.words) - size + 1):
                    index[size][section.words[start : start + size]].add(place)
        return index


def list_page_sections(pages: Iterable[SourcePage]) -> Iterator[SectionText]:
    """List the sections of pages that are split already."""
    for page in pages:
        chapters = frozenset(map(normalize_title, page.chapters))
        for title, text in page.sections:
            yield SectionText(page.name, normalize_title(title), chapters, tuple(split_words(text)))


def list_sections(folder: Path) -> Iterator[SectionText]:
    """List the sections of a Markdown book."""
    chapters = _Chapters(folder)
    for page in list_pages(folder):
        named = chapters.list_names(page)
        for title, text in _split_at_headings(page, chapters.get_title(page)):
            seen = tuple(split_words(text))
            yield SectionText(
                str(page.path.relative_to(folder)), normalize_title(title), named, seen
            )


def _split_at_headings(page: MarkdownPage, title: str) -> Iterator[tuple[str, str]]:
    """Split a page at its headings; headings inside a quotation end with it."""
    outer = title
    seen: list[str] = []
    for run in page.list_runs():
        if not run.is_quoted and title != outer and run.text.strip():
            yield title, "\n".join(seen)
            title, seen = outer, []
        prose: list[str] = []
        for line in run.text.split("\n"):
            heading = None if run.is_code else _match_heading(line, prose)
            if heading is None:
                prose.append(line)
                continue
            yield title, "\n".join((*seen, page.render_prose("\n".join(prose))))
            title, seen, prose = page.render_prose(f"# {heading}"), [], []
            outer = outer if run.is_quoted else title
        text = "\n".join(prose)
        seen.append(text if run.is_code else page.render_prose(text))
    yield title, "\n".join(seen)


def _match_heading(line: str, before: list[str]) -> str | None:
    if match := _ATX.match(line):
        return match.group(1) or ""
    if _UNDERLINE.match(line) and before and not _NO_TITLE.match(before[-1]):
        return before.pop()
    return None


class _Chapters:
    """Names of chapters, from a summary, a category's label or a folder's own page."""

    def __init__(self, folder: Path) -> None:
        self._pages = {page.path: page for page in list_pages(folder)}
        self._root = Path(os.path.commonpath([path.parent for path in self._pages]))
        self._summary = _read_summary(find_summary(folder))

    def get_title(self, page: MarkdownPage) -> str:
        """Return the title for the text before a page's first heading."""
        listed = self._summary.get(page.path, ("", ""))[1]
        return page.get_entry("title") or _find_first_heading(page) or listed or page.path.stem

    def list_names(self, page: MarkdownPage) -> frozenset[Words]:
        """List the names of the page's chapter."""
        if page.path in self._summary:
            return frozenset({normalize_title(self._summary[page.path][0])})
        relative = page.path.relative_to(self._root)
        if len(relative.parts) == 1:
            return frozenset(map(normalize_title, self._list_titles(page)))
        return frozenset(
            map(normalize_title, self._list_folder_names(self._root / relative.parts[0]))
        )

    def _list_folder_names(self, folder: Path) -> Iterator[str]:
        for path in folder.glob("_category_.json"):
            yield str(json.loads(path.read_text("utf-8"))["label"])
            return
        for name in ("_index.md", "index.md", "index.mdx"):
            if page := self._pages.get(folder / name):
                yield from self._list_titles(page)
                return
        yield re.sub(r"[-_]+", " ", re.sub(r"^\d+[-_.]", "", folder.name))

    def _list_titles(self, page: MarkdownPage) -> Sequence[str]:
        names = (page.get_entry("linkTitle"), page.get_entry("sidebar_label"), self.get_title(page))
        return [name for name in names if name]


def _find_first_heading(page: MarkdownPage) -> str:
    for run in page.list_runs():
        for line in () if run.is_code else run.text.split("\n"):
            if match := re.match(r"#[ \t]+(.+)", line):
                return page.render_prose(match.group(1))
    return ""


def _read_summary(summary: Path | None) -> dict[Path, tuple[str, str]]:
    """Map each listed page to the title of its top entry and its own."""
    found: dict[Path, tuple[str, str]] = {}
    chapter = ""
    for line in summary.read_text("utf-8").split("\n") if summary else ():
        if (match := _SUMMARY_ENTRY.match(line)) and summary:
            indent, title, name = match.groups()
            title = re.sub(r"[`*_]", "", title)
            chapter = chapter if indent else title
            found.setdefault(summary.parent / name, (chapter, title))
    return found
