"""A document -> questions that its sections may answer, the best forms first."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bythebook.domain.books import Document, Section
from bythebook.domain.suggestions import Suggestion
from bythebook.domain.text.units import block_units
from bythebook.suggest.wording import (
    BookVocabulary,
    Form,
    SuggestedWording,
    ask_about_heading,
    ask_about_sentence,
)

_RANKS: Mapping[Form, int] = {"asked": 0, "how": 1, "list": 2, "difference": 2, "why": 3, "what": 4}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, and the part of a document that should answer it."""

    suggestion: Suggestion
    form: Form
    start: int
    end: int


def list_candidates(document: Document, vocabulary: BookVocabulary) -> list[Candidate]:
    """List the questions of a document: forms that invite most come first, in reading order."""
    made = [
        _make(document, section, wording)
        for section in document.sections
        for wording in _word(document, section, vocabulary)
    ]
    return sorted(made, key=lambda one: _RANKS[one.form])


def digest_section(document: Document, section: Section) -> str:
    """Sum up the text of a section, to know it again in a later generation."""
    text = document.text[section.start : section.end]
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _word(
    document: Document, section: Section, vocabulary: BookVocabulary
) -> Iterator[SuggestedWording]:
    if made := ask_about_heading(section.title, vocabulary):
        yield made
    for block in document.blocks:
        if block.kind == "paragraph" and section.start <= block.start < section.end:
            for unit in block_units(document.text, block):
                sentence = " ".join(document.text[unit.start : unit.end].split())
                if made := ask_about_sentence(sentence, vocabulary):
                    yield made


def _make(document: Document, section: Section, wording: SuggestedWording) -> Candidate:
    suggestion = Suggestion(
        wording.text,
        document.document_id,
        document.chapter,
        section.title,
        digest_section(document, section),
    )
    return Candidate(suggestion, wording.form, section.start, section.end)
