"""Books, documents and chunks as plain JSON values, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, get_args

from bythebook.adapters.library.mark_json import marks_from_json, marks_to_json
from bythebook.domain.books import (
    Block,
    Book,
    Chunk,
    Cut,
    Document,
    LeftOut,
    Link,
    MissingPicture,
    PageMark,
    Section,
    Skipped,
    Unit,
    UnitKind,
)
from bythebook.domain.reports import (
    BrokenLink,
    CitationSurvival,
    DocumentReport,
    IngestReport,
    LostPicture,
)

Json = Mapping[str, Any]
_UNIT_KINDS: Final[tuple[UnitKind, ...]] = get_args(UnitKind)


def book_to_json(book: Book) -> dict[str, Any]:
    """Write a book's manifest."""
    return asdict(book)


def book_from_json(value: Json) -> Book:
    """Read a book's manifest."""
    return Book(**value)


def document_to_json(document: Document) -> dict[str, Any]:
    """Write a document with its blocks, sections and marks."""
    return asdict(replace(document, marks=())) | {"marks": marks_to_json(document.marks)}


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
        pages=tuple(PageMark(**page) for page in value.get("pages", ())),
        links=tuple(Link(**link) for link in value.get("links", ())),
        anchors=tuple(value.get("anchors", ())),
        left_out=tuple(LeftOut(**part) for part in value.get("left_out", ())),
        marks=marks_from_json(value.get("marks", ())),
        missing_pictures=tuple(MissingPicture(**one) for one in value.get("missing_pictures", ())),
    )


def cuts_to_json(cuts: Sequence[Cut]) -> list[Any]:
    """Write where a document was cut."""
    return [[c.start, c.end, c.token_count, _flat(c.units), c.header] for c in cuts]


def cuts_from_json(values: Sequence[Any]) -> tuple[Cut, ...]:
    """Read where a document was cut."""
    return tuple(
        Cut(start, end, tokens, _units(units), header)
        for start, end, tokens, units, header in values
    )


def report_to_json(report: IngestReport) -> dict[str, Any]:
    """Write what an ingest run did."""
    return asdict(report)


def report_from_json(value: Json) -> IngestReport:
    """Read what an ingest run did."""
    return IngestReport(
        **{
            **value,
            "documents": tuple(DocumentReport(**document) for document in value["documents"]),
            "skipped": tuple(Skipped(**part) for part in value["skipped"]),
            "broken_links": tuple(BrokenLink(**link) for link in value["broken_links"]),
            "lost_pictures": tuple(
                LostPicture(**picture) for picture in value.get("lost_pictures", ())
            ),
            "warnings": tuple(value["warnings"]),
            "citations": CitationSurvival(**counts) if (counts := value.get("citations")) else None,
        }
    )


def chunk_to_payload(chunk: Chunk, embedding_model: str) -> dict[str, Any]:
    """Write what an index stores next to a chunk's vectors."""
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
        "header": chunk.header,
        "pages": [[page.start, page.number, page.label] for page in chunk.pages],
        "embedding_model": embedding_model,
        "units": _flat(chunk.units),
    }


def chunk_from_payload(payload: Json) -> Chunk:
    """Read a chunk that an index found."""
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
        char_start=payload["char_start"],
        char_end=payload["char_end"],
        token_count=payload["token_count"],
        units=_units(payload["units"]),
        header=payload.get("header", ""),
        pages=tuple(PageMark(*page) for page in payload.get("pages", ())),
    )


def _flat(units: Sequence[Unit]) -> list[int]:
    """Write units as flat triples: a third of the size and of the reading time of objects."""
    return [n for unit in units for n in (_UNIT_KINDS.index(unit.kind), unit.start, unit.end)]


def _units(numbers: Sequence[int]) -> tuple[Unit, ...]:
    return tuple(
        Unit(_UNIT_KINDS[numbers[i]], numbers[i + 1], numbers[i + 2])
        for i in range(0, len(numbers), 3)
    )
