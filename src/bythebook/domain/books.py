"""Books as they are read, cut and kept."""

import hashlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "formula", "caption"]
UnitKind = Literal["sentence", "item", "row", "code", "formula"]

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
class Document:
    """A page of a book: its plain text, and what stands where in it."""

    document_id: str
    title: str
    chapter: str
    text: str
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]
    url: str = ""  # on the book's own site; empty where it has none

    def section_at(self, offset: int) -> Section:
        """Find the section that a place in the text belongs to."""
        found = self.sections[0]
        for section in self.sections:
            if section.start > offset:
                break
            found = section
        return found


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
    page: int | None
    char_start: int
    char_end: int
    token_count: int
    units: tuple[Unit, ...]
    occurrence: int = 0  # which of several equal chunks of a document this is

    @property
    def context(self) -> str:
        """What the embedder reads: the heading path, then the text."""
        return (
            "\n".join((" > ".join(self.heading_path), self.text))
            if self.heading_path
            else self.text
        )

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text alone, as the contracts show it."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def embedding_hash(self) -> str:
        """SHA-256 of all that the embedder reads: the key of the vector cache."""
        return hashlib.sha256(self.context.encode()).hexdigest()

    @property
    def chunk_id(self) -> str:
        """The same for the same content at the same place in the book, run after run."""
        name = "\n".join((self.book_id, self.document_id, str(self.occurrence), self.context))
        return str(uuid.uuid5(_CHUNK_NAMESPACE, name))

    def unit_texts(self) -> Iterator[str]:
        """Give the text of each unit in reading order."""
        for unit in self.units:
            yield self.text[unit.start : unit.end]


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
class SourceBook:
    """What a reader made of a source, before it is cut."""

    title: str
    reader: str
    base_url: str
    documents: tuple[Document, ...]
    warnings: tuple[str, ...] = field(default=())
