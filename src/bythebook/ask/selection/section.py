"""A reader's selection -> the section of the book in which it stands."""

import re
from collections.abc import Iterator, Sequence

from bythebook.ask.retrieve.passages import readable_books
from bythebook.ask.selection.folded_pages import FoldedShelf, fold
from bythebook.domain.questions import SectionSpan
from bythebook.errors import InputError
from bythebook.ports import Library

_TELLING = 12  # folded characters; a shorter line may be a label that only the page shows
_PAGE_MARK = re.compile(r"\A\s*\(?(?:\d{1,3}|[A-Za-z])[.)]\s|\[\d{1,3}\]")  # of items and notes
_shelf = FoldedShelf()


def find_section(
    selected_text: str,
    library: Library,
    book_id: str | None = None,
    readable: Sequence[str] | None = None,
) -> SectionSpan:
    """Find the innermost section that holds a selection whole, or raise InputError.

    Only letters and digits are compared, without case and accents: pages set the rest as they
    like. Where not even those agree, each longer line must stand in the text, in order: a page
    shows marks that the text lacks, and the text names pictures that the page shows. Of several
    places the first in reading order counts.
    """
    books = readable_books(library, book_id, readable)
    for lines in _ways_to_look(selected_text):
        for book in books:
            for page in _shelf.pages(library, book):
                if span := page.find(lines):
                    return SectionSpan(book.book_id, page.document_id, *span)
    raise InputError(
        "selected_text is not on any single page of the book.",
        "Select a passage as the book has it, within one page, or ask of the selection or the book.",
    )


def _ways_to_look(selected_text: str) -> Iterator[list[str]]:
    if whole := fold(selected_text):
        yield [whole]
    lines = [fold(_PAGE_MARK.sub("", line)) for line in selected_text.splitlines()]
    if telling := [line for line in lines if len(line) >= _TELLING]:
        yield telling
