"""What is kept of older generations, so that citations of changed passages can be explained."""

from collections.abc import Sequence
from dataclasses import dataclass


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
