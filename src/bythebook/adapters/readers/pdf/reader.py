"""PDF files as books."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bythebook.adapters.readers.pdf.chapters import cut
from bythebook.adapters.readers.pdf.documents import make_piece_document, make_pieces
from bythebook.adapters.readers.pdf.extraction import MOST_ENTRIES, Extraction
from bythebook.adapters.readers.pdf.layout import LaidOut, lay_out
from bythebook.adapters.readers.pdf.process import Limits, extract
from bythebook.adapters.readers.pdf.words import clean
from bythebook.adapters.readers.plain_text import fingerprint, with_own_ids
from bythebook.domain.books import Document, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook

_NO_TITLE = re.compile(
    r"untitled.*|(?:microsoft \w+|powerpoint \w+)\s+-.*|\S+\.(?:docx?|pdf|tex|dvi|indd|odt|rtf|qxd|pptx?|html?)"
    r"|.*\.(?:docx?|indd|qxd)|document\d*|title|book|.*[\\/].*|[\W\d_]*",
    re.IGNORECASE,
)
_LETTERS_A_PAGE = 5  # fewer, and the pages are pictures
_LONGEST_TITLE = 200


class PdfReader:
    """Reads a PDF with a text layer as one book."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out, or raise UnreadableBook with what to do."""
        path = Path(source)
        _check(path)
        extraction = extract(path, self._limits)
        book = lay_out(extraction)
        _check_text(path, extraction, book)
        name = title or _own_title(extraction, book) or path.stem
        url = base_url or ""
        chapters = cut(
            book.elements, book.vocabulary, outlined=bool(extraction.outline), title=name
        )
        documents = [
            make_piece_document(piece, book, url)
            for piece in make_pieces(chapters, extraction.claimed)
        ]
        return SourceBook(
            name,
            "PDF",
            url,
            with_own_ids(_source_document(document) for document in documents),
            _skipped(extraction),
            _warnings(extraction),
        )


def _source_document(document: Document) -> SourceDocument:
    """Keep a document that is made already: a change anywhere in a PDF may move everything."""
    mark = fingerprint(
        "PDF", document.document_id, document.title, document.chapter, document.url, document.text,
        document.blocks, document.sections, document.pages, document.left_out,
    )  # fmt: skip
    return SourceDocument(document.document_id, mark, partial(_same, document))


def _same(document: Document) -> Document:
    return document


def _check(path: Path) -> None:
    if not path.is_file():
        raise UnreadableBook(
            f"There is no PDF file at {path}.", "Check the path, then run ingest again."
        )
    try:
        with path.open("rb") as file:
            opening = file.read(1024)
    except OSError as error:
        raise UnreadableBook(
            f"{path} cannot be opened ({error.strerror}).", "Check its permissions."
        ) from error
    if not opening:
        raise UnreadableBook(f"{path.name} is empty.", "Copy or download the file again.")
    if b"%PDF-" not in opening:
        raise UnreadableBook(
            f"{path.name} is not a PDF.", "Give a PDF file, or the book in another format."
        )


def _check_text(path: Path, extraction: Extraction, book: LaidOut) -> None:
    """Refuse a book of pictures: nothing could be quoted from it."""
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
            "Open it in a PDF viewer and save it anew, then run ingest again.",
        )
    if letters < _LETTERS_A_PAGE * min(pages, 400):
        raise UnreadableBook(
            f"{path.name} has no text layer: its pages are pictures.",
            "Run OCR on it first, for example with ocrmypdf, then ingest the result.",
        )


def _own_title(extraction: Extraction, book: LaidOut) -> str:
    """Give the title in the file if it reads like one, else the largest text on its first page."""
    written = " ".join(clean(extraction.title).split())
    if written and len(written) <= _LONGEST_TITLE and not _NO_TITLE.fullmatch(written):
        return written
    first = extraction.pages[0].number
    opening = [element for element in book.elements if element.first_page == first]
    lines = [line for element in opening for line in element.lines if line.page == first]
    largest = max((line.size for line in lines), default=0.0)
    usual = sorted(line.size for line in lines)[len(lines) // 2] if lines else 0.0
    shown = [line.text for line in lines if line.size > 0.97 * largest]
    text = " ".join(clean(" ".join(shown)).split())
    telling = largest > 1.1 * usual or len(lines) <= 3
    fits = 1 < len(text) <= _LONGEST_TITLE and not _NO_TITLE.fullmatch(text)
    return text if telling and fits else ""


def _skipped(extraction: Extraction) -> tuple[Skipped, ...]:
    skipped = []
    if extraction.unreadable:
        skipped.append(
            Skipped(
                _page_names(extraction.unreadable),
                "The PDF is damaged there, or asks for more memory or time than is allowed.",
            )
        )
    if extraction.unread:
        first = extraction.claimed - extraction.unread + 1
        skipped.append(
            Skipped(
                f"pages from {first} on",
                "There is more in them than the limits of time and size allow.",
            )
        )
    return tuple(skipped)


def _warnings(extraction: Extraction) -> tuple[str, ...]:
    warnings = []
    pictures = [page.number for page in extraction.pages if page.is_scan]
    if pictures:
        count = f"{len(pictures)} of {len(extraction.pages)} pages"
        warnings.append(
            f"{count} are pictures without text and were left out ({_page_names(pictures)}). "
            "Run OCR on the file, for example with ocrmypdf, to have them too."
        )
    if len(extraction.outline) >= MOST_ENTRIES:
        warnings.append(f"Of the outline only the first {MOST_ENTRIES:,} entries were used.")
    if extraction.cut:
        warnings.append(f"Of {_page_names(extraction.cut)} only the beginning was read.")
    return tuple(warnings)


def _page_names(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number + 1) for number in numbers[:5])
    more = f" and {len(numbers) - 5:,} more" if len(numbers) > 5 else ""
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}{more}"
