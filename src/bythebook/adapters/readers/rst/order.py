"""The order of a book's documents, from its tables of contents, starting at the root document."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from bythebook.adapters.readers.rst.config import matches
from bythebook.adapters.readers.rst.outline import DocumentOutline, TocTree
from bythebook.adapters.readers.rst.references import resolve_document_name

_ROOTS = ("index", "contents", "README", "readme")


@dataclass(slots=True)
class ReadingOrder:
    """Documents in reading order, each with its chapter."""

    chapters: dict[str, str] = field(default_factory=dict)  # document -> chapter, in order
    missing: dict[tuple[str, str], None] = field(default_factory=dict)  # document, entry


def find_reading_order(
    outlines: Mapping[str, DocumentOutline], root: str, skipped: set[str]
) -> ReadingOrder:
    """Order documents as the tables of contents list them; the others follow by name."""
    order = ReadingOrder()
    first = next((name for name in (root, *_ROOTS) if name in outlines), None)
    if first is not None:
        order.chapters[first] = _get_title(outlines, first)
        for toctree in outlines[first].toctrees:
            for given, child in _resolve_and_check(outlines, order, first, toctree, skipped):
                _descend(outlines, order, child, given or _get_title(outlines, child), skipped)
    listed = dict(order.chapters)
    for name in sorted(outlines, key=_rank_by_name):
        if name not in order.chapters:
            _descend(outlines, order, name, _find_chapter_above(name, listed, outlines), skipped)
    return order


def resolve_entries(
    toctree: TocTree, source: str, names: Mapping[str, object]
) -> list[tuple[str, str]]:
    """Return the title and document of each entry; the document is empty if it does not exist."""
    found: list[tuple[str, str]] = []
    for title, target in toctree.entries:
        name = resolve_document_name(target.removesuffix(".rst"), source)
        if toctree.glob and any(mark in target for mark in "*?["):
            fitting = sorted(other for other in names if matches(name, other) and other != source)
            listed = {document for _, document in found}
            found += [("", other) for other in fitting if other not in listed]
        elif target == "self":
            found.append((title, source))
        elif "://" not in target and target not in {"genindex", "modindex", "search"}:
            found.append((title, name if name in names else ""))
    return found[::-1] if toctree.reverse else found


def _resolve_and_check(
    outlines: Mapping[str, DocumentOutline],
    order: ReadingOrder,
    source: str,
    toctree: TocTree,
    skipped: set[str],
) -> list[tuple[str, str]]:
    found = resolve_entries(toctree, source, outlines)
    if not toctree.glob:
        for _title_given, target in toctree.entries:
            name = resolve_document_name(target.removesuffix(".rst"), source)
            is_inner = "://" not in target and target not in {"self", "genindex", "modindex"}
            if is_inner and target != "search" and name not in outlines and name not in skipped:
                order.missing[source, target] = None
    return [(title, name) for title, name in found if name]


def _descend(
    outlines: Mapping[str, DocumentOutline],
    order: ReadingOrder,
    name: str,
    chapter: str,
    skipped: set[str],
) -> None:
    """Add a document and everything below it, without recursion because nesting has no limit."""
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in order.chapters:
            continue
        order.chapters[current] = chapter
        below: list[str] = []
        for toctree in outlines[current].toctrees:
            below += [
                child for _, child in _resolve_and_check(outlines, order, current, toctree, skipped)
            ]
        waiting.extend(reversed(below))


def _find_chapter_above(
    name: str, listed: Mapping[str, str], outlines: Mapping[str, DocumentOutline]
) -> str:
    """Return the chapter of the nearest listed document that represents a parent folder."""
    folder = posixpath.dirname(name)
    while folder:
        for above in (folder, f"{folder}/index"):
            if above in listed:
                return listed[above]
        folder = posixpath.dirname(folder)
    return _get_title(outlines, name)


def _get_title(outlines: Mapping[str, DocumentOutline], name: str) -> str:
    return outlines[name].title or posixpath.basename(name)


def _rank_by_name(name: str) -> tuple[bool, str]:
    return (name not in _ROOTS, name)
