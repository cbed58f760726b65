"""The table of contents of an EPUB, of either version, as entries in order."""

from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element as Element

from bythebook.adapters.readers.epub.archive import Archive
from bythebook.adapters.readers.epub.package import Package, member_at, split_reference
from bythebook.adapters.readers.html.parse import parse_xhtml, parse_xml
from bythebook.adapters.readers.html.visible import kinds, visible_text
from bythebook.errors import UnreadableBook


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents."""

    title: str
    name: str  # the member it leads to; empty if the line is no link
    fragment: str
    depth: int  # links above it
    chapter: str  # the title of the outermost line it stands under


def read_contents(archive: Archive, package: Package) -> tuple[list[Entry], list[str]]:
    """Give the entries, and what could not be read of them."""
    warnings: list[str] = []
    for name, read in ((package.navigation, _from_navigation), (package.ncx, _from_ncx)):
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


def _from_navigation(content: bytes, name: str) -> Iterator[Entry]:
    root = parse_xhtml(content)
    lists = list(root.iter("nav"))
    chosen = next((nav for nav in lists if "toc" in kinds(nav)), lists[0] if lists else None)
    if chosen is None:
        return
    above: dict[Element, Entry] = {}
    for line in chosen.iter("li"):
        label = next((child for child in line if child.tag in {"a", "span"}), None)
        if label is None:
            label = next(line.iter("a"), None)
        title = " ".join(visible_text(label).split()) if label is not None else ""
        parent = line.getparent()
        grandparent = parent.getparent() if parent is not None else None
        outer = above.get(grandparent) if grandparent is not None else None
        href = (label.get("href") or "") if label is not None else ""
        above[line] = entry = _entry(title, href, name, outer)
        yield entry


def _from_ncx(content: bytes, name: str) -> Iterator[Entry]:
    above: dict[Element, Entry] = {}
    for point in parse_xml(content).iter("navPoint"):
        label, place = point.find("navLabel/text"), point.find("content")
        title = " ".join((label.text or "").split()) if label is not None else ""
        href = (place.get("src") or "") if place is not None else ""
        parent = point.getparent()
        outer = above.get(parent) if parent is not None else None
        above[point] = entry = _entry(title, href, name, outer)
        yield entry


def _entry(title: str, href: str, origin: str, outer: Entry | None) -> Entry:
    scheme, _path, fragment = split_reference(href)
    is_link = bool(href) and not scheme
    return Entry(
        title,
        (member_at(href, origin) or origin) if is_link else "",
        fragment if is_link else "",
        outer.depth + bool(outer.name) if outer else 0,
        (outer.chapter or title) if outer else title,
    )
