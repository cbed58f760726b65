"""Reads the table of contents of an EPUB, version 2 or 3."""

from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element as Element

from bythebook.adapters.readers.epub.archive import Archive
from bythebook.adapters.readers.epub.package import Package, resolve_member, split_reference
from bythebook.adapters.readers.html.page.parse import parse_xhtml, parse_xml
from bythebook.adapters.readers.html.page.visible import extract_visible_text, get_kinds
from bythebook.errors import UnreadableBook


@dataclass(frozen=True, slots=True)
class ContentsEntry:
    """A line of the table of contents."""

    title: str
    name: str  # the member it links to; empty if the line is not a link
    fragment: str
    depth: int  # links above it
    chapter: str  # the title of its outermost ancestor, or its own


def read_contents(archive: Archive, package: Package) -> tuple[list[ContentsEntry], list[str]]:
    """Return the entries, and warnings about lists that cannot be read."""
    warnings: list[str] = []
    for name, read in ((package.navigation, _read_navigation), (package.ncx, _read_ncx)):
        if not name:
            continue
        try:
            entries = list(read(archive.read(name), name))
        except UnreadableBook as error:
            warnings.append(f"{name}: {error.what}")
            continue
        if entries:
            return entries, warnings
    return [], warnings


def _read_navigation(content: bytes, name: str) -> Iterator[ContentsEntry]:
    root = parse_xhtml(content)
    lists = list(root.iter("nav"))
    chosen = next((nav for nav in lists if "toc" in get_kinds(nav)), lists[0] if lists else None)
    if chosen is None:
        return
    above: dict[Element, ContentsEntry] = {}
    for line in chosen.iter("li"):
        label = next((child for child in line if child.tag in {"a", "span"}), None)
        if label is None:
            label = next(line.iter("a"), None)
        title = " ".join(extract_visible_text(label).split()) if label is not None else ""
        parent = line.getparent()
        grandparent = parent.getparent() if parent is not None else None
        outer = above.get(grandparent) if grandparent is not None else None
        href = (label.get("href") or "") if label is not None else ""
        above[line] = entry = _make_entry(title, href, name, outer)
        yield entry


def _read_ncx(content: bytes, name: str) -> Iterator[ContentsEntry]:
    above: dict[Element, ContentsEntry] = {}
    for point in parse_xml(content).iter("navPoint"):
        label, place = point.find("navLabel/text"), point.find("content")
        title = " ".join((label.text or "").split()) if label is not None else ""
        href = (place.get("src") or "") if place is not None else ""
        parent = point.getparent()
        outer = above.get(parent) if parent is not None else None
        above[point] = entry = _make_entry(title, href, name, outer)
        yield entry


def _make_entry(title: str, href: str, origin: str, outer: ContentsEntry | None) -> ContentsEntry:
    scheme, _path, fragment = split_reference(href)
    is_link = bool(href) and not scheme
    return ContentsEntry(
        title,
        (resolve_member(href, origin) or origin) if is_link else "",
        fragment if is_link else "",
        outer.depth + bool(outer.name) if outer else 0,
        (outer.chapter or title) if outer else title,
    )
