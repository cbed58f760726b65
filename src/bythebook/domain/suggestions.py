"""Questions that a book is known to answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the section that answers it."""

    question: str
    document_id: str
    chapter: str
    section: str
    digest: str  # of the section's text: as long as it stays, so does the answer
