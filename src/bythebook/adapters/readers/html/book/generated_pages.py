"""Pages that site generators add to a book: 404, search, print version, indexes."""

import re
from collections.abc import Sequence

from bythebook.adapters.readers.html.book.survey import PageSurvey

_GENERATED_INDEX = re.compile(
    r"(?:.*/)?(?:genindex(?:-[^/]+)?|py-modindex|http-routingtable)(?:\.html?)?"
)
_HELPER_PAGE = re.compile(r"(?:.*/)?(?:404|search)(?:\.html?|/index\.html?|/)?", re.IGNORECASE)
_PRINT_PAGE = re.compile(r"(?:.*/)?print\.html?", re.IGNORECASE)
_MAX_HELPER_LETTERS = 400  # letters of a page that only offers a search or reports a missing page


def is_generated_page(path: str, survey: PageSurvey) -> bool:
    """Return True if a generator added the page; a chapter about searching is part of the book."""
    if _GENERATED_INDEX.fullmatch(path):
        return True
    if _HELPER_PAGE.fullmatch(path):
        return survey.letters < _MAX_HELPER_LETTERS
    return bool(_PRINT_PAGE.fullmatch(path)) and (survey.chapters > 1 or not survey.may_index)


def warn_left_out(names: Sequence[str]) -> tuple[str, ...]:
    """Warn of the pages that were left out."""
    return (f"Left out, not part of the book: {', '.join(names)}.",) if names else ()
