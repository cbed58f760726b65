"""Pages that generators make beside a book: not found, search, all in one, indexes."""

import re
from collections.abc import Sequence

from bythebook.adapters.readers.html.survey import Look

_INDEX = re.compile(r"(?:.*/)?(?:genindex(?:-[^/]+)?|py-modindex|http-routingtable)(?:\.html?)?")
_SHORT = re.compile(r"(?:.*/)?(?:404|search)(?:\.html?|/index\.html?|/)?", re.IGNORECASE)
_ALL = re.compile(r"(?:.*/)?print\.html?", re.IGNORECASE)
_FEW = 400  # letters of a page that only says that it searches, or has not found


def is_beside(path: str, look: Look) -> bool:
    """Say whether a page is no part of the book; a chapter on searching is one."""
    if _INDEX.fullmatch(path):
        return True
    if _SHORT.fullmatch(path):
        return look.letters < _FEW
    return bool(_ALL.fullmatch(path)) and (look.chapters > 1 or not look.may_index)


def beside_warning(names: Sequence[str]) -> tuple[str, ...]:
    """Tell which pages were left out, if any."""
    return (f"Left out as no part of the book: {', '.join(names)}.",) if names else ()
