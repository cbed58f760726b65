"""Books as they are read, cut into chunks and stored."""

import hashlib
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bythebook.domain.marks import Mark
from bythebook.domain.text.notation import spell_notation

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "formula", "caption"]
UnitKind = Literal["sentence", "item", "row", "code", "formula"]
LeftOutReason = Literal[
    "navigation", "running header", "page number", "duplicate", "too short", "heading without text"
]

_CHUNK_NAMESPACE = uuid.UUID("5a5c3f0e-6d0b-5f0e-9c37-0d6a4a0f7b11")


@dataclass(frozen=True, slots=True)
class Block:
    """A run of a document's plain text of one kind."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0  # of a heading
    ordered: bool = False  # of a list
    language: str = ""  # of code


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the text below it, up to the next heading."""

    title: str
    anchor: str
    path: tuple[str, ...]  # titles from the page down to this heading
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageMark:
    """Where a printed page begins in a document's text."""

    start: int
    number: int  # counted from 1 in the file
    label: str = ""  # as printed on it: "xii", "217"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Visible text of a source that is not in the document, and why."""

    reason: LeftOutReason
    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a document that should lead to a place in the same book."""

    target: str  # as written
    document_id: str  # where it leads; empty if the reader found nothing there
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class MissingPicture:
    """A picture of a document that is not kept, and why."""

    target: str  # as written
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """A page of a book: its plain text, and what stands where in it."""

    document_id: str
    title: str
    chapter: str
    text: str
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]
    url: str = ""  # on the book's own site; empty if it has none
    pages: tuple[PageMark, ...] = ()  # where the source has pages; the first at 0
    links: tuple[Link, ...] = ()
    anchors: tuple[str, ...] = ()  # link targets other than sections
    left_out: tuple[LeftOut, ...] = ()
    marks: tuple[
        Mark, ...
    ] = ()  # by start, outer ones first; none if it was read before there were any
    missing_pictures: tuple[MissingPicture, ...] = ()

    def page_at(self, offset: int) -> PageMark | None:
        """Return the page that a place in the text is on."""
        return _page_at(self.pages, offset)

    def pages_of(self, start: int, end: int) -> tuple[PageMark, ...]:
        """Return the pages of a span of the text, with offsets from its start."""
        if not self.pages:
            return ()
        first = max(bisect_right(self.pages, start, key=lambda page: page.start) - 1, 0)
        stop = max(bisect_left(self.pages, end, key=lambda page: page.start), first + 1)
        return tuple(
            replace(page, start=max(page.start - start, 0)) for page in self.pages[first:stop]
        )

    def section_at(self, offset: int) -> Section:
        """Return the section that a place in the text belongs to."""
        place = bisect_right(self.sections, offset, key=lambda section: section.start)
        return self.sections[max(place - 1, 0)]


@dataclass(frozen=True, slots=True)
class Unit:
    """The least that may be quoted: a sentence, a list item, a table row, a code block."""

    kind: UnitKind
    start: int  # counted from the chunk's start
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded and retrieved: a run of blocks under one heading."""

    book_id: str
    document_id: str
    chunk_index: int
    text: str
    chapter: str
    section: str
    heading_path: tuple[str, ...]
    anchor: str
    source_url: str
    char_start: int
    char_end: int
    token_count: int
    units: tuple[Unit, ...]
    header: str = ""  # the head row of the table that this chunk continues
    pages: tuple[PageMark, ...] = ()  # from the one it begins on; counted from its own start

    @property
    def page(self) -> int | None:
        """The page it begins on, counted in the file; None without pages."""
        return self.pages[0].number if self.pages else None

    def page_at(self, offset: int) -> PageMark | None:
        """Return the page that a place in the chunk is on."""
        return _page_at(self.pages, offset)

    @property
    def context(self) -> str:
        """The text under what it needs to be understood: the heading path, the table's head."""
        return "\n".join(
            part for part in (" > ".join(self.heading_path), self.header, self.text) if part
        )

    @property
    def search_text(self) -> str:
        """What is searched: the context, with its notation in one spelling."""
        return spell_notation(self.context)

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text alone, as the contracts show it."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def embedding_hash(self) -> str:
        """SHA-256 of all that the embedder reads: the key of the vector cache."""
        return hashlib.sha256(self.search_text.encode()).hexdigest()

    @property
    def chunk_id(self) -> str:
        """An id that stays the same for the same content at the same place in the book."""
        name = "\n".join((self.book_id, self.document_id, self.context))
        return str(uuid.uuid5(_CHUNK_NAMESPACE, name))

    def unit_texts(self) -> Iterator[str]:
        """Return the text of each unit in reading order."""
        for unit in self.units:
            yield self.text[unit.start : unit.end]


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a document was cut: everything about a chunk that is not in its document."""

    start: int
    end: int
    token_count: int
    units: tuple[Unit, ...]
    header: str = ""

    def chunk(self, book_id: str, document: Document, index: int) -> Chunk:
        """Make the chunk of this cut."""
        section = document.section_at(self.start)
        url = document.url
        return Chunk(
            book_id=book_id,
            document_id=document.document_id,
            chunk_index=index,
            text=document.text[self.start : self.end],
            chapter=document.chapter,
            section=section.title,
            heading_path=section.path,
            anchor=section.anchor,
            source_url=f"{url}#{section.anchor}" if url and section.anchor else url,
            char_start=self.start,
            char_end=self.end,
            token_count=self.token_count,
            units=self.units,
            header=self.header,
            pages=document.pages_of(self.start, self.end),
        )


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A document with its cuts, as a generation stores it and the next may reuse it."""

    fingerprint: str  # the same for the same source, reader, cutter and embedder
    document: Document
    cuts: tuple[Cut, ...]

    def chunks(self, book_id: str) -> list[Chunk]:
        """Make its chunks in reading order."""
        return [cut.chunk(book_id, self.document, n) for n, cut in enumerate(self.cuts)]


@dataclass(frozen=True, slots=True)
class Book:
    """A published generation of a book."""

    book_id: str
    title: str
    generation: str
    embedding_model: str
    documents: int
    chunks: int
    characters: int
    source: str
    published_at: str
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class LiveBook:
    """The contents of a live generation, which the next one may reuse."""

    documents: Mapping[str, CutDocument]  # by fingerprint
    chunk_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document not yet read: its fingerprint, and how to read it."""

    document_id: str
    fingerprint: str  # the same for the same content at the same place, read by the same reader
    read: Callable[[], Document]  # raises UnreadableBook if this document cannot be read


@dataclass(frozen=True, slots=True)
class Skipped:
    """A part of a source that could not be read."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceBook:
    """A source laid out as a book, in reading order, before its documents are read."""

    title: str
    reader: str
    base_url: str
    documents: tuple[SourceDocument, ...]
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    load_picture: Callable[[str], bytes | None] = lambda _file: None  # None if it has changed since


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The plain text of a document."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class OlderGeneration:
    """A generation that was replaced: which documents it had, and the texts of those that changed then."""

    generation: str
    published_at: str
    document_ids: frozenset[str]
    changed: Sequence[DocumentText]


def _page_at(pages: Sequence[PageMark], offset: int) -> PageMark | None:
    place = bisect_right(pages, offset, key=lambda page: page.start)
    return pages[max(place - 1, 0)] if pages else None
