"""Admonitions: the names that tools give them, and what kind each is."""

from typing import Final

from bythebook.domain.marks import AdmonitionKind

ADMONITION_KINDS: Final[dict[str, AdmonitionKind]] = {
    "note": "note", "info": "note", "secondary": "note", "seealso": "note", "abstract": "note",
    "summary": "note", "question": "note", "example": "note", "quote": "note", "topic": "note",
    "tip": "tip", "hint": "tip", "success": "tip", "check": "tip", "important": "important",
    "warning": "warning", "caution": "warning", "attention": "warning",
    "danger": "danger", "error": "danger", "failure": "danger", "bug": "danger",
}  # fmt: skip


def find_admonition_kind(name: str) -> AdmonitionKind:
    """Return the kind of an admonition by the name that its tool gives it."""
    return ADMONITION_KINDS.get(name.lower(), "note")
