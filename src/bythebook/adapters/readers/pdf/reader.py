"""Reads PDF files as books."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bythebook.adapters.readers.pdf.extraction import MOST_ENTRIES, Extraction
from bythebook.adapters.readers.pdf.page.words import clean
from bythebook.adapters.readers.pdf.process import Limits, extract, is_bomb
from bythebook.adapters.readers.pdf.structure.book_elements import BookElements, read_elements
from bythebook.adapters.readers.pdf.structure.chapters import cut_into_chapters
from bythebook.adapters.readers.pdf.structure.documents import assign_pages, make_chapter_document
from bythebook.adapters.readers.plain_text import compute_fingerprint, make_ids_unique
from bythebook.adapters.readers.source_file import read_start
from bythebook.domain.books import Document, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook

_UNUSABLE_TITLE = re.compile(
    r"untitled.*|(?:microsoft \w+|powerpoint \w+)\s+-.*|\S+\.(?:docx?|pdf|tex|dvi|indd|odt|rtf|qxd|pptx?|html?)"
    r"|.*\.(?:docx?|indd|qxd)|document\d*|title|book|.*[\\/].*|[\W\d_]*",
    re.IGNORECASE,
)
_MIN_LETTERS_PER_PAGE = 5  # with fewer letters, the pages are images
_MAX_TITLE_LENGTH = 200


class PdfReader:
    """Reads a PDF with a text layer as one book."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """List the book's documents in reading order; raise UnreadableBook with advice if that fails."""
        path = Path(source)
        _check_file(path)
        extraction = extract(path, self._limits)
        book = read_elements(extraction)
        if extraction.bombs and not extraction.pages:
            raise is_bomb(path, self._limits)
        _check_text(path, extraction, book)
        name = title or _find_title(extraction, book) or path.stem
        url = base_url or ""
        chapters = cut_into_chapters(
            book.elements, book.vocabulary, outlined=bool(extraction.outline), title=name
        )
        documents = [
            make_chapter_document(piece, book, url)
            for piece in assign_pages(chapters, extraction.claimed)
        ]
        return SourceBook(
            name,
            "PDF",
            url,
            make_ids_unique(_make_source_document(document) for document in documents),
            _list_skipped(extraction, self._limits),
            _list_warnings(extraction),
        )


def _make_source_document(document: Document) -> SourceDocument:
    """Wrap a finished document: a change anywhere in a PDF may affect every document."""
    mark = compute_fingerprint(
        "PDF", document.document_id, document.title, document.chapter, document.url, document.text,
        document.blocks, document.sections, document.pages, document.left_out,
    )  # fmt: skip
    return SourceDocument(document.document_id, mark, partial(_get_document, document))


def _get_document(document: Document) -> Document:
    return document


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise UnreadableBook(
            f"There is no PDF file at {path}.", "Check the path, then run ingest again."
        )
    opening = read_start(path)
    if not opening:
        raise UnreadableBook(f"{path.name} is empty.", "Copy or download the file again.")
    if b"%PDF-" not in opening:
        raise UnreadableBook(
            f"{path.name} is not a PDF.",
            "Choose a PDF file, or provide the book in another format.",
        )


def _check_text(path: Path, extraction: Extraction, book: BookElements) -> None:
    """Refuse a book of scanned images, from which nothing can be quoted."""
    letters = sum(
        character.isalnum()
        for element in book.elements
        for line in element.lines
        for character in line.text
    )
    pages = len(extraction.pages)
    if not pages:
        raise UnreadableBook(
            f"None of the pages of {path.name} can be read: the file is damaged.",
            "Open it in a PDF viewer and save it again, then run ingest again.",
        )
    if letters < _MIN_LETTERS_PER_PAGE * min(pages, 400):
        raise UnreadableBook(
            f"{path.name} has no text layer: its pages are images.",
            "Run OCR on it first, for example with ocrmypdf, then ingest the result.",
        )


def _find_title(extraction: Extraction, book: BookElements) -> str:
    """Return the title in the file if it is usable, otherwise the largest text on the first page."""
    written = " ".join(clean(extraction.title).split())
    if written and len(written) <= _MAX_TITLE_LENGTH and not _UNUSABLE_TITLE.fullmatch(written):
        return written
    first = extraction.pages[0].number
    opening = [element for element in book.elements if element.first_page == first]
    lines = [line for element in opening for line in element.lines if line.page == first]
    largest = max((line.size for line in lines), default=0.0)
    usual = sorted(line.size for line in lines)[len(lines) // 2] if lines else 0.0
    shown = [line.text for line in lines if line.size > 0.97 * largest]
    text = " ".join(clean(" ".join(shown)).split())
    telling = largest > 1.1 * usual or len(lines) <= 3
    fits = 1 < len(text) <= _MAX_TITLE_LENGTH and not _UNUSABLE_TITLE.fullmatch(text)
    return text if telling and fits else ""


def _list_skipped(extraction: Extraction, limits: Limits) -> tuple[Skipped, ...]:
    skipped = []
    if extraction.bombs:
        skipped.append(
            Skipped(
                _name_pages(extraction.bombs),
                f"This is a decompression bomb: a few bytes that unpack beyond {limits.memory}.",
            )
        )
    if extraction.unreadable:
        skipped.append(
            Skipped(
                _name_pages(extraction.unreadable),
                "The PDF is damaged there, or needs more time or memory (BYTHEBOOK_PDF_MEMORY_MB) than allowed.",
            )
        )
    if extraction.unread:
        first = extraction.claimed - extraction.unread + 1
        skipped.append(
            Skipped(
                f"pages from {first} on",
                "They exceed the limits of time and size.",
            )
        )
    return tuple(skipped)


def _list_warnings(extraction: Extraction) -> tuple[str, ...]:
    warnings = []
    pictures = [page.number for page in extraction.pages if page.is_scan]
    if pictures:
        count = f"{len(pictures)} of {len(extraction.pages)} pages"
        warnings.append(
            f"{count} are images without text and were left out ({_name_pages(pictures)}). "
            "Run OCR on the file, for example with ocrmypdf, to include them."
        )
    if len(extraction.outline) >= MOST_ENTRIES:
        warnings.append(f"Only the first {MOST_ENTRIES:,} entries of the outline were used.")
    if extraction.cut:
        warnings.append(f"Only the start of {_name_pages(extraction.cut)} was read.")
    return tuple(warnings)


def _name_pages(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number + 1) for number in numbers[:5])
    more = f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else ""
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}{more}"
