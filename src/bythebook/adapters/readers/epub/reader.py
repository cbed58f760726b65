"""EPUB files as books."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import quote, urljoin

from bythebook.adapters.readers.epub.archive import Archive
from bythebook.adapters.readers.epub.contents import read_contents
from bythebook.adapters.readers.epub.layout import Piece, Places, Scan, lay_out, scan
from bythebook.adapters.readers.epub.package import (
    Package,
    member_at,
    read_package,
    split_reference,
)
from bythebook.adapters.readers.html.blocks import split_blocks, visible_text
from bythebook.adapters.readers.html.parse import parse_xhtml
from bythebook.adapters.readers.html.visible import kinds
from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    fingerprint,
    github_anchor,
    make_document,
)
from bythebook.domain.books import Document, LeftOut, Link, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook

_LISTS = frozenset({"toc", "landmarks", "page-list"})


class EpubReader:
    """Reads an EPUB file, version 2 or 3, as one book."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out, or raise UnreadableBook with what to do."""
        path = Path(source)
        if not path.is_file():
            raise UnreadableBook(
                f"There is no file at {source}.", "Check the path, then run ingest again."
            )
        archive = Archive(path)
        try:
            return _lay_out(archive, title, f"{base_url.rstrip('/')}/" if base_url else "")
        except UnreadableBook:
            archive.close()
            raise


def _lay_out(archive: Archive, title: str | None, base: str) -> SourceBook:
    package = read_package(archive)
    entries, warnings = read_contents(archive, package)
    scans, skipped = _scan(archive, package)
    pictures = [name for name, known in scans.items() if known.first_words is None]
    for name in pictures:
        del scans[name]
    warnings += [f"{name} holds pictures only." for name in pictures]
    pieces = list(lay_out(package, entries, scans))
    if not pieces:
        reason = skipped[0].reason if skipped else "It holds pictures only."
        raise UnreadableBook(f"Nothing of {archive.path} can be read.", reason)
    book = _Book(archive, package, base, scans, pieces)
    return SourceBook(
        title or package.title or archive.path.stem,
        "EPUB",
        base,
        tuple(book.source_document(piece) for piece in pieces),
        (*package.skipped, *skipped),
        tuple(warnings),
    )


def _scan(archive: Archive, package: Package) -> tuple[dict[str, Scan], list[Skipped]]:
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
            skipped.append(Skipped(name, f"{error.what} {error.help_message}"))
    return scans, skipped


@dataclass(slots=True)
class _Book:
    """An open EPUB, from which documents are read when they are asked for."""

    archive: Archive
    package: Package
    base: str
    scans: Mapping[str, Scan]
    pieces: Sequence[Piece]
    places: dict[str, Places] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    last: tuple[str, dict[str, PlainText]] = ("", {})  # a file is parsed once for all its pieces

    def __post_init__(self) -> None:
        by_name: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            by_name.setdefault(piece.name, []).append(piece)
        self.places = {name: Places(own, self.scans[name]) for name, own in by_name.items()}
        self.marks = {name: self._mark(name) for name in by_name}

    def source_document(self, piece: Piece) -> SourceDocument:
        """Give a piece with what it depends on."""
        mark = fingerprint("EPUB", piece, self.base, self.marks[piece.name], self._lists(piece))
        return SourceDocument(piece.document_id, mark, partial(self.document, piece))

    def _mark(self, name: str) -> str:
        """Give what tells whether a file, its parts, or where its links lead has changed."""
        known = self.scans[name]
        links = [self.link(name, reference) for reference in known.references]
        return fingerprint(known.mark, [piece.cut for piece in self.places[name].pieces], links)

    def document(self, piece: Piece) -> Document:
        """Read one piece."""
        plain = self._texts(piece.name).get(piece.cut)
        if plain is None:
            raise UnreadableBook(
                f"{piece.name}#{piece.cut} is not shown.", "Put the table of contents right."
            )
        headless = not plain.headings or plain.headings[0].start > 0
        title = piece.title or self._title(piece, plain, headless=headless)
        url = urljoin(self.base, quote(piece.name)) if self.base else ""
        place = Place(piece.document_id, title, piece.chapter or title, url)
        text = _under(title, plain) if headless else plain
        document = make_document(text, place, github_anchor, headless=headless)
        first = replace(document.sections[0], anchor=piece.cut)
        left_out = (*document.left_out, *self._lists(piece))
        return replace(document, sections=(first, *document.sections[1:]), left_out=left_out)

    def _title(self, piece: Piece, plain: PlainText, *, headless: bool) -> str:
        """Name a piece that the table of contents does not list."""
        own = plain.headings[0].title if plain.headings else ""
        named = self.scans[piece.name].title
        words = (piece.chapter, own, named) if headless else (own,)
        return next(filter(None, words), piece.document_id.rpartition("/")[2])

    def link(self, origin: str, reference: str) -> Link | None:
        """Say where a link leads; none if that is outside of the book's text."""
        scheme, _path, anchor = split_reference(reference)
        if scheme:
            return None
        name = member_at(reference, origin) or origin
        if (places := self.places.get(name)) is not None:
            return Link(reference, places.piece_of(anchor).document_id, anchor)
        return None if name in self.archive else Link(reference, "", anchor)

    def _texts(self, name: str) -> dict[str, PlainText]:
        last_name, texts = self.last
        if last_name == name:
            return texts
        root = parse_xhtml(self.archive.read(name))
        lists = [nav for nav in root.iter("nav") if kinds(nav) & _LISTS]
        words = [visible_text(nav) for nav in lists]
        for nav in lists:
            for child in list(nav):
                nav.remove(child)
            nav.text = None
        cuts = [piece.cut for piece in self.places[name].pieces if piece.cut]
        texts = split_blocks(root, cuts, link=partial(self.link, name))
        for text in words:
            texts[""].leave_out("navigation", text)
        self.last = (name, texts)
        return texts

    def _lists(self, piece: Piece) -> tuple[LeftOut, ...]:
        """Give the book's own table of contents, which the first document leaves out."""
        name = self.package.navigation
        if piece is not self.pieces[0] or name not in self.package.texts:
            return ()
        body = next(parse_xhtml(self.archive.read(name)).iter("body"), None)
        runs = (str(run) for run in body.itertext()) if body is not None else ()
        words = " ".join(" ".join(runs).split())
        return (LeftOut("navigation", words),) if words else ()


def _under(title: str, plain: PlainText) -> PlainText:
    """Put a text that has no heading of its own under one."""
    headed = PlainText(links=plain.links, anchors=plain.anchors, left_out=plain.left_out)
    headed.add_heading(title, 1)
    shift = headed.next_start
    if plain.parts:
        headed.parts += [f"\n\n{plain.parts[0]}", *plain.parts[1:]]
        headed.length = shift + plain.length
    headed.blocks += [
        replace(block, start=block.start + shift, end=block.end + shift) for block in plain.blocks
    ]
    headed.headings += [replace(each, start=each.start + shift) for each in plain.headings]
    return headed
