"""Sections of a book that a question came near to, or that its answer quotes."""

from pydantic import BaseModel, Field

from bythebook.domain.answers import NearestSection
from bythebook.domain.records import CitedSection


class NearModel(BaseModel):
    """The section nearest to a question, when it was asked."""

    book_id: str
    chapter: str
    section: str
    url: str = Field(description="Opens the book there.")


class CitedModelSection(BaseModel):
    """A section that an answer quotes."""

    book_id: str
    chapter: str
    section: str


def to_near(nearest: NearestSection | None) -> NearModel | None:
    """Write the section that came nearest, if any did."""
    if nearest is None:
        return None
    return NearModel(
        book_id=nearest.book_id, chapter=nearest.chapter, section=nearest.section, url=nearest.url
    )


def to_cited_section(section: CitedSection) -> CitedModelSection:
    """Write a section that is quoted."""
    return CitedModelSection(
        book_id=section.book_id, chapter=section.chapter, section=section.section
    )
