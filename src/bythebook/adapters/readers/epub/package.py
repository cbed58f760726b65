"""The package of an EPUB: its title, its files in reading order, and its table of contents."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from lxml.etree import _Element as Element

from bythebook.adapters.readers.epub.archive import REPLACE_EPUB, Archive
from bythebook.adapters.readers.html.page.parse import parse_xml
from bythebook.adapters.readers.html.page.visible import extract_all_text
from bythebook.domain.books import Skipped
from bythebook.errors import UnreadableBook

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_ALGORITHMS = frozenset(
    {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
)
_TEXT_TYPES = frozenset(
    """application/xhtml+xml text/html image/svg+xml application/x-dtbook+xml
    text/x-oeb1-document""".split()
)


@dataclass(frozen=True, slots=True)
class PackageItem:
    """A file of the book, as listed in the package."""

    name: str  # in the archive
    media_type: str
    properties: frozenset[str]
    fallback: str


@dataclass(frozen=True, slots=True)
class Package:
    """The files of an EPUB in reading order."""

    title: str
    folder: str  # base of document names
    texts: tuple[str, ...]
    asides: frozenset[str]  # texts outside the reading order
    navigation: str  # EPUB 3; empty if there is none
    ncx: str  # EPUB 2; empty if there is none
    skipped: tuple[Skipped, ...]


def read_package(archive: Archive) -> Package:
    """Read the package, or raise UnreadableBook."""
    name = _find_package(archive)
    root = _parse_member(archive, name)
    folder = posixpath.dirname(name)
    items = dict(_read_items(root, folder))
    texts, asides, skipped = _read_spine(root, items, archive)
    _check_protection(archive, {name, *texts, *asides})
    spine = next(root.iter("spine"), None)
    ncx = items.get((spine.get("toc") if spine is not None else None) or "")
    listed = [item for item in items.values() if item.media_type == "application/x-dtbncx+xml"]
    titles = [extract_all_text(title) for title in root.iter("title")]
    return Package(
        next((" ".join(title.split()) for title in titles if title.strip()), ""),
        folder,
        (*texts, *asides),
        frozenset(asides),
        next((item.name for item in items.values() if "nav" in item.properties), ""),
        ncx.name if ncx else next((item.name for item in listed), ""),
        skipped,
    )


def resolve_member(reference: str, origin: str) -> str:
    """Return the member that a reference leads to from another member; empty for the same one."""
    path = split_reference(reference)[1]
    joined = posixpath.join("/", posixpath.dirname(origin), path)
    return posixpath.normpath(joined).lstrip("/") if path else ""


def split_reference(reference: str) -> tuple[str, str, str]:
    """Return scheme or host, path and fragment of a reference, valid or not."""
    try:
        parts = urlsplit(reference.strip())
    except ValueError:  # as in "http://[x"
        return "invalid", "", ""
    return parts.scheme or parts.netloc, unquote(parts.path), unquote(parts.fragment)


def _find_package(archive: Archive) -> str:
    if _CONTAINER not in archive:
        raise UnreadableBook(
            f"{archive.path} is not an EPUB: {_CONTAINER} is missing.", REPLACE_EPUB
        )
    for rootfile in _parse_member(archive, _CONTAINER).iter("rootfile"):
        name = unquote(rootfile.get("full-path") or "")
        if name in archive:
            return name
    raise UnreadableBook(f"The package file of {archive.path} is missing.", REPLACE_EPUB)


def _parse_member(archive: Archive, name: str) -> Element:
    try:
        return parse_xml(archive.read(name))
    except UnreadableBook as error:
        raise UnreadableBook(
            f"{name} in {archive.path}: {error.what}", error.help_message
        ) from error


def _read_items(root: Element, folder: str) -> Iterator[tuple[str, PackageItem]]:
    for element in root.iter("item"):
        href, key = element.get("href"), element.get("id")
        if href and key and not split_reference(href)[0]:
            yield (
                key,
                PackageItem(
                    resolve_member(href, f"{folder}/package" if folder else ""),
                    (element.get("media-type") or "").lower(),
                    frozenset((element.get("properties") or "").split()),
                    element.get("fallback") or "",
                ),
            )


def _read_spine(
    root: Element, items: Mapping[str, PackageItem], archive: Archive
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Skipped, ...]]:
    """Return the texts in reading order, those outside it, and the skipped items."""
    texts: dict[str, None] = {}
    asides: dict[str, None] = {}
    skipped: list[Skipped] = []
    for reference in root.iter("itemref"):
        key = reference.get("idref") or ""
        item = _find_readable(items.get(key), items)
        if item is None:
            skipped.append(Skipped(key or "an item without a name", "It is listed but not text."))
        elif item.name not in archive:
            skipped.append(Skipped(item.name, "It is listed but not in the EPUB."))
        else:
            (asides if reference.get("linear") == "no" else texts)[item.name] = None
    if not texts and not asides:
        raise UnreadableBook(f"{archive.path} lists no text to read.", REPLACE_EPUB)
    return tuple(texts), tuple(name for name in asides if name not in texts), tuple(skipped)


def _find_readable(
    item: PackageItem | None, items: Mapping[str, PackageItem]
) -> PackageItem | None:
    for _step in range(10):  # fallbacks may form a circle
        if item is None or item.media_type in _TEXT_TYPES:
            return item
        item = items.get(item.fallback)
    return None


def _check_protection(archive: Archive, needed: set[str]) -> None:
    """Refuse a book with encrypted text; obfuscated fonts do not matter."""
    if _ENCRYPTION not in archive:
        return
    for locked in _parse_member(archive, _ENCRYPTION).iter("EncryptedData"):
        methods = {method.get("Algorithm") for method in locked.iterfind("EncryptionMethod")}
        names = {unquote(place.get("URI") or "") for place in locked.iter("CipherReference")}
        if not methods <= _FONT_ALGORITHMS and names & needed:
            raise UnreadableBook(
                f"{archive.path} is protected: its text is encrypted.",
                "Use a copy without protection.",
            )
