"""What a book gives: answers, found sections and text, which draw themselves in notebooks."""

from dataclasses import dataclass, field

from bythebook.domain.answers import RefusalType
from bythebook.open_book import drawing


@dataclass(frozen=True, slots=True)
class Citation:
    """A verbatim quote and where it stands."""

    quote: str
    document_id: str  # empty for a quote of selected text
    char_start: int
    char_end: int
    chapter: str
    section: str
    link: str  # opens the book at the quote, where it is served
    sentence: int  # index of the sentence that it supports
    key: bool = True  # that sentence answers; False: it is the context of one that does
    permalink: str = ""  # opens the quote, where it is served, also after the book was edited

    def _repr_html_(self) -> str:
        return drawing.draw_quotes([self])


@dataclass(frozen=True, slots=True)
class NearestSection:
    """Where to read on after a refusal."""

    chapter: str
    section: str
    document_id: str
    link: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the book says to a question, or that it does not say; true if it answers."""

    question: str
    text: str  # the answer, or the refusal in words
    sentences: tuple[str, ...] = ()
    key_sentences: tuple[int, ...] = ()  # indexes of those that answer; the others are context
    citations: tuple[Citation, ...] = ()
    disclaimer: str | None = None  # what a cautious or partial answer opens with
    refusal_type: RefusalType | None = None
    nearest_sections: tuple[NearestSection, ...] = ()

    def __bool__(self) -> bool:
        return self.refusal_type is None

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return drawing.draw_answer(self)


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section near to a search, and its sentence that fits best."""

    chapter: str
    section: str
    text: str  # that sentence, and more if there is room
    document_id: str
    char_start: int
    char_end: int
    link: str

    def _repr_html_(self) -> str:
        return drawing.draw_sections([self])


class Sections(tuple[FoundSection, ...]):
    """The sections nearest to a search, best first."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return drawing.draw_sections(self)


@dataclass(frozen=True, slots=True)
class Section:
    """The exact text of a section or a page, with its offsets in the page."""

    document_id: str
    title: str
    heading_path: tuple[str, ...]
    char_start: int
    char_end: int
    text: str
    marked: tuple[int, int] | None = field(default=None)  # a quote in it, in the page's offsets

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return drawing.draw_text(self)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the book, as its contents name it."""

    document_id: str
    title: str
    chapter: str
