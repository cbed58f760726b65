"""Books, documents and chunks as plain JSON values, and back."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, cast, get_args

from bythebook.domain.books import Block, Book, Chunk, Document, Section, Unit, UnitKind

Json = Mapping[str, Any]
_UNIT_KINDS: Final[tuple[UnitKind, ...]] = get_args(UnitKind)


def book_to_json(book: Book) -> dict[str, Any]:
    """Write a book's manifest."""
    return asdict(book)


def book_from_json(value: Json) -> Book:
    """Read a book's manifest."""
    return Book(**value)


def document_to_json(document: Document) -> dict[str, Any]:
    """Write a document with its blocks and sections."""
    return asdict(document)


def document_from_json(value: Json) -> Document:
    """Read a document."""
    return Document(
        document_id=value["document_id"],
        title=value["title"],
        chapter=value["chapter"],
        text=value["text"],
        blocks=tuple(Block(**block) for block in value["blocks"]),
        sections=tuple(
            Section(**{**section, "path": tuple(section["path"])}) for section in value["sections"]
        ),
        url=value["url"],
    )


def chunk_to_payload(chunk: Chunk, embedding_model: str) -> dict[str, Any]:
    """Write what an index keeps beside a chunk's vectors."""
    return {
        "book_id": chunk.book_id,
        "chunk_id": chunk.chunk_id,
        "document_id": chunk.document_id,
        "chunk_index": chunk.chunk_index,
        "text": chunk.text,
        "chapter": chunk.chapter,
        "section": chunk.section,
        "heading_path": list(chunk.heading_path),
        "anchor": chunk.anchor,
        "source_url": chunk.source_url,
        "page": chunk.page,
        "char_start": chunk.char_start,
        "char_end": chunk.char_end,
        "token_count": chunk.token_count,
        "content_hash": chunk.content_hash,
        "occurrence": chunk.occurrence,
        "embedding_model": embedding_model,
        # flat triples: a third of the size and of the reading time of objects
        "units": [n for u in chunk.units for n in (_UNIT_KINDS.index(u.kind), u.start, u.end)],
    }


def chunk_from_payload(payload: Json) -> Chunk:
    """Read a chunk that an index found."""
    numbers = cast("list[int]", payload["units"])
    return Chunk(
        book_id=payload["book_id"],
        document_id=payload["document_id"],
        chunk_index=payload["chunk_index"],
        text=payload["text"],
        chapter=payload["chapter"],
        section=payload["section"],
        heading_path=tuple(payload["heading_path"]),
        anchor=payload["anchor"],
        source_url=payload["source_url"],
        page=payload["page"],
        char_start=payload["char_start"],
        char_end=payload["char_end"],
        token_count=payload["token_count"],
        occurrence=payload["occurrence"],
        units=tuple(
            Unit(_UNIT_KINDS[numbers[i]], numbers[i + 1], numbers[i + 2])
            for i in range(0, len(numbers), 3)
        ),
    )
