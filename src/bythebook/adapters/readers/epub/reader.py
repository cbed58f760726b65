"""Reads EPUB files as books."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.epub.archive import EPUB_BOUNDS, Archive, EpubBounds
from bythebook.adapters.readers.epub.contents import read_contents
from bythebook.adapters.readers.epub.package import (
    Package,
    read_package,
    resolve_member,
    split_reference,
)
from bythebook.adapters.readers.epub.parts import DocumentPart, PartFinder, Scan, list_parts, scan
from bythebook.adapters.readers.html.page.blocks import split_blocks
from bythebook.adapters.readers.html.page.parse import parse_xhtml
from bythebook.adapters.readers.html.page.visible import extract_visible_text, get_kinds
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.pictures.shelf import (
    MAX_BYTES,
    KeptPicture,
    PictureShelf,
    miss_picture,
)
from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    compute_fingerprint,
    make_document,
    make_github_anchor,
)
from bythebook.adapters.readers.source_file import make_folder_url, skip_unreadable
from bythebook.domain.books import (
    Document,
    LeftOut,
    Link,
    MissingPicture,
    Skipped,
    SourceBook,
    SourceDocument,
)
from bythebook.errors import UnreadableBook

_NAVIGATION_KINDS = frozenset({"toc", "landmarks", "page-list"})


class EpubReader:
    """Reads an EPUB file, version 2 or 3, as one book."""

    def __init__(self, bounds: EpubBounds = EPUB_BOUNDS) -> None:
        self._bounds = bounds

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """List the book's documents in reading order; raise UnreadableBook with advice if that fails."""
        path = Path(source)
        if not path.is_file():
            raise UnreadableBook(
                f"There is no file at {source}.", "Check the path, then run ingest again."
            )
        archive = Archive(path, self._bounds)
        try:
            return _open_book(archive, title, make_folder_url(base_url))
        except UnreadableBook:
            archive.close()
            raise


def _open_book(archive: Archive, title: str | None, base: str) -> SourceBook:
    package = read_package(archive)
    entries, warnings = read_contents(archive, package)
    scans, skipped = _scan_files(archive, package)
    pictures = [name for name, known in scans.items() if known.text_start is None]
    for name in pictures:
        del scans[name]
    warnings += [f"{name} contains only images." for name in pictures]
    parts = list(list_parts(package, entries, scans))
    if not parts:
        reason = skipped[0].reason if skipped else "It contains only images."
        raise UnreadableBook(f"Nothing of {archive.path} can be read.", reason)
    book = _OpenEpub(archive, package, base, scans, parts)
    return SourceBook(
        title or package.title or archive.path.stem,
        "EPUB",
        base,
        tuple(book.make_source_document(part) for part in parts),
        (*package.skipped, *skipped),
        tuple(warnings),
        book.pictures.load,
    )


def _scan_files(archive: Archive, package: Package) -> tuple[dict[str, Scan], list[Skipped]]:
    scans: dict[str, Scan] = {}
    skipped: list[Skipped] = []
    for name in package.texts:
        if name == package.navigation:
            continue
        try:
            scans[name] = scan(archive.read(name))
        except UnreadableBook as error:
            if archive.is_spent:
                raise
            skipped.append(skip_unreadable(name, error))
    return scans, skipped


@dataclass(slots=True)
class _OpenEpub:
    """An open EPUB, whose documents are read on demand."""

    archive: Archive
    package: Package
    base: str
    scans: Mapping[str, Scan]
    parts: Sequence[DocumentPart]
    finders: dict[str, PartFinder] = field(default_factory=dict)
    file_hashes: dict[str, str] = field(default_factory=dict)
    pictures: PictureShelf = field(default_factory=PictureShelf)
    last: tuple[str, dict[str, PlainText]] = ("", {})  # a file is parsed once for all its parts

    def __post_init__(self) -> None:
        by_name: dict[str, list[DocumentPart]] = {}
        for part in self.parts:
            by_name.setdefault(part.name, []).append(part)
        self.finders = {name: PartFinder(own, self.scans[name]) for name, own in by_name.items()}
        self.file_hashes = {name: self._hash_file(name) for name in by_name}

    def make_source_document(self, part: DocumentPart) -> SourceDocument:
        """Make the source document of a part, with a fingerprint of everything it depends on."""
        mark = compute_fingerprint(
            "EPUB", part, self.base, self.file_hashes[part.name], self._read_navigation_text(part)
        )
        return SourceDocument(part.document_id, mark, partial(self.read_document, part))

    def _hash_file(self, name: str) -> str:
        """Return a hash that changes with a file, its parts or its link targets."""
        known = self.scans[name]
        links = [self.find_link(name, reference) for reference in known.references]
        shown = [self.find_picture(name, target) for target in known.pictures]
        return compute_fingerprint(
            known.content_hash, [part.cut for part in self.finders[name].parts], links, shown
        )

    def read_document(self, part: DocumentPart) -> Document:
        """Read one part."""
        plain = self._read_texts(part.name).get(part.cut)
        if plain is None:
            raise UnreadableBook(
                f"{part.name}#{part.cut} is not shown.", "Correct the table of contents."
            )
        headless = not plain.opens_with_heading
        title = part.title or self._choose_title(part, plain, headless=headless)
        url = urljoin(self.base, quote(part.name)) if self.base else ""
        place = Place(part.document_id, title, part.chapter or title, url)
        text = _add_heading(title, plain) if headless else plain
        document = make_document(text, place, make_github_anchor, headless=headless)
        first = replace(document.sections[0], anchor=part.cut)
        left_out = (*document.left_out, *self._read_navigation_text(part))
        return replace(document, sections=(first, *document.sections[1:]), left_out=left_out)

    def _choose_title(self, part: DocumentPart, plain: PlainText, *, headless: bool) -> str:
        """Choose a title for a part that is not in the table of contents."""
        own = plain.headings[0].title if plain.headings else ""
        named = self.scans[part.name].title
        words = (part.chapter, own, named) if headless else (own,)
        return next(filter(None, words), part.document_id.rpartition("/")[2])

    def find_link(self, origin: str, reference: str) -> Link | None:
        """Return a link; None if it leads outside the book's text."""
        scheme, _path, anchor = split_reference(reference)
        if scheme:
            return None
        name = resolve_member(reference, origin) or origin
        if (finder := self.finders.get(name)) is not None:
            return Link(reference, finder.find_part(anchor).document_id, anchor)
        return None if name in self.archive else Link(reference, "", anchor)

    def find_picture(self, origin: str, target: str) -> KeptPicture | MissingPicture | None:
        """Find the picture that a file shows."""
        if (found := self.pictures.find(target)) is not None:
            return found
        name = resolve_member(target, origin)
        if name not in self.archive:
            return miss_picture(target, "It is not in the EPUB.")
        return self.pictures.keep(name, target, partial(self.archive.read_picture, name, MAX_BYTES))

    def _read_texts(self, name: str) -> dict[str, PlainText]:
        last_name, texts = self.last
        if last_name == name:
            return texts
        root = parse_xhtml(self.archive.read(name))
        lists = [nav for nav in root.iter("nav") if get_kinds(nav) & _NAVIGATION_KINDS]
        words = [extract_visible_text(nav) for nav in lists]
        for nav in lists:
            for child in list(nav):
                nav.remove(child)
            nav.text = None
        cuts = [part.cut for part in self.finders[name].parts if part.cut]
        url = urljoin(self.base, quote(name)) if self.base else ""
        targets = PageTargets(partial(self.find_link, name), partial(self.find_picture, name), url)
        texts = split_blocks(root, cuts, targets=targets)
        for text in words:
            texts[""].leave_out("navigation", text)
        self.last = (name, texts)
        return texts

    def _read_navigation_text(self, part: DocumentPart) -> tuple[LeftOut, ...]:
        """Return the book's own table of contents, which the first document leaves out."""
        name = self.package.navigation
        if part is not self.parts[0] or name not in self.package.texts:
            return ()
        body = next(parse_xhtml(self.archive.read(name)).iter("body"), None)
        runs = (str(run) for run in body.itertext()) if body is not None else ()
        words = " ".join(" ".join(runs).split())
        return (LeftOut("navigation", words),) if words else ()


def _add_heading(title: str, plain: PlainText) -> PlainText:
    """Add a heading to a text without one."""
    headed = PlainText(
        links=plain.links,
        anchors=plain.anchors,
        left_out=plain.left_out,
        missing_pictures=plain.missing_pictures,
    )
    headed.add_heading(title, 1)
    shift = headed.next_start
    headed.marks += (mark.move(mark.start + shift, mark.end + shift) for mark in plain.marks)
    if plain.parts:
        headed.parts += [f"\n\n{plain.parts[0]}", *plain.parts[1:]]
        headed.length = shift + plain.length
    headed.blocks += [
        replace(block, start=block.start + shift, end=block.end + shift) for block in plain.blocks
    ]
    headed.headings += [replace(each, start=each.start + shift) for each in plain.headings]
    return headed
