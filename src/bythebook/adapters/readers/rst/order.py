"""The order of a book's documents: its tables of contents, from the root document down."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from bythebook.adapters.readers.rst.config import matches
from bythebook.adapters.readers.rst.outline import Outline, TocTree
from bythebook.adapters.readers.rst.references import document_name

_ROOTS = ("index", "contents", "README", "readme")


@dataclass(slots=True)
class Order:
    """Documents in reading order, each with the chapter it belongs to."""

    chapters: dict[str, str] = field(default_factory=dict)  # document -> chapter, in order
    missing: dict[tuple[str, str], None] = field(default_factory=dict)  # document, entry


def reading_order(outlines: Mapping[str, Outline], root: str, skipped: set[str]) -> Order:
    """Lay documents out as the tables of contents list them; the rest come last, by name."""
    order = Order()
    first = next((name for name in (root, *_ROOTS) if name in outlines), None)
    if first is not None:
        order.chapters[first] = _title(outlines, first)
        for toctree in outlines[first].toctrees:
            for given, child in _entries(outlines, order, first, toctree, skipped):
                _descend(outlines, order, child, given or _title(outlines, child), skipped)
    listed = dict(order.chapters)
    for name in sorted(outlines, key=_by_name):
        if name not in order.chapters:
            _descend(outlines, order, name, _chapter_above(name, listed, outlines), skipped)
    return order


def entries_of(toctree: TocTree, source: str, names: Mapping[str, object]) -> list[tuple[str, str]]:
    """Give title and document of each entry of a table of contents; what is not there has none."""
    found: list[tuple[str, str]] = []
    for title, target in toctree.entries:
        name = document_name(target.removesuffix(".rst"), source)
        if toctree.glob and any(mark in target for mark in "*?["):
            fitting = sorted(other for other in names if matches(name, other) and other != source)
            listed = {document for _, document in found}
            found += [("", other) for other in fitting if other not in listed]
        elif target == "self":
            found.append((title, source))
        elif "://" not in target and target not in {"genindex", "modindex", "search"}:
            found.append((title, name if name in names else ""))
    return found[::-1] if toctree.reverse else found


def _entries(
    outlines: Mapping[str, Outline], order: Order, source: str, toctree: TocTree, skipped: set[str]
) -> list[tuple[str, str]]:
    found = entries_of(toctree, source, outlines)
    if not toctree.glob:
        for _title_given, target in toctree.entries:
            name = document_name(target.removesuffix(".rst"), source)
            is_inner = "://" not in target and target not in {"self", "genindex", "modindex"}
            if is_inner and target != "search" and name not in outlines and name not in skipped:
                order.missing[source, target] = None
    return [(title, name) for title, name in found if name]


def _descend(
    outlines: Mapping[str, Outline], order: Order, name: str, chapter: str, skipped: set[str]
) -> None:
    """Take a document and all below it; without recursion, as a book may be any depth."""
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in order.chapters:
            continue
        order.chapters[current] = chapter
        below: list[str] = []
        for toctree in outlines[current].toctrees:
            below += [child for _, child in _entries(outlines, order, current, toctree, skipped)]
        waiting.extend(reversed(below))


def _chapter_above(name: str, listed: Mapping[str, str], outlines: Mapping[str, Outline]) -> str:
    """Give the chapter of the listed document that stands for a folder above."""
    folder = posixpath.dirname(name)
    while folder:
        for above in (folder, f"{folder}/index"):
            if above in listed:
                return listed[above]
        folder = posixpath.dirname(folder)
    return _title(outlines, name)


def _title(outlines: Mapping[str, Outline], name: str) -> str:
    return outlines[name].title or posixpath.basename(name)


def _by_name(name: str) -> tuple[bool, str]:
    return (name not in _ROOTS, name)
