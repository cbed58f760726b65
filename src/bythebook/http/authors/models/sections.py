"""The section nearest to a question, and the sections that its answer cites."""

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
    """A section that an answer cites."""

    book_id: str
    chapter: str
    section: str


def to_near(nearest: NearestSection | None) -> NearModel | None:
    """Write the nearest section, if there is one."""
    if nearest is None:
        return None
    return NearModel(
        book_id=nearest.book_id, chapter=nearest.chapter, section=nearest.section, url=nearest.url
    )


def to_cited_section(section: CitedSection) -> CitedModelSection:
    """Write a cited section."""
    return CitedModelSection(
        book_id=section.book_id, chapter=section.chapter, section=section.section
    )
