"""What the tools take and give; their descriptions are read by language models."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from bythebook.domain.answers import RefusalType
from bythebook.http.contracts.fields import PLAIN, BookId
from bythebook.http.contracts.query import QueryText
from bythebook.http.contracts.search import MOST_SECTIONS, SECTIONS, SearchText

MOST_TEXT = 20_000  # characters of a section that are given at once
_BOOK = "Id of the book, as list_books gives it; leave it out to search all books."


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AskArguments(_Arguments):
    """What ask_book takes."""

    question: QueryText = Field(
        description="One question that stands alone, in plain words: no 'it' or 'that' that points to the "
        "conversation. At most 500 characters."
    )
    book: BookId | None = Field(None, description=_BOOK)


class SearchArguments(_Arguments):
    """What search_book takes."""

    query: SearchText = Field(description="A question, or words to look for.")
    book: BookId | None = Field(None, description=_BOOK)
    limit: int = Field(SECTIONS, ge=1, le=MOST_SECTIONS, description="Sections at most.")


class ReadArguments(_Arguments):
    """What read_section takes."""

    book: BookId = Field(description="Id of the book.")
    document_id: Annotated[str, Field(min_length=1, max_length=1000), *PLAIN] = Field(
        description="Page of the book, as citations, search results and the book's resource name it."
    )
    char_start: int = Field(
        0,
        ge=0,
        description="A place in the page: the section it lies in is given. Take it from a citation, a search "
        "result, or `next_char_start` to read on.",
    )


class ListArguments(_Arguments):
    """What list_books takes: nothing."""


class Quote(BaseModel):
    """A verbatim quote and where it stands."""

    number: int | None = Field(
        None,
        ge=1,
        description="As in the answer: [1], [2], ...; null where its sentence is only context.",
    )
    quote: str = Field(description="The words of the book, verbatim.")
    book: str = Field(description="Id of the book.")
    document_id: str = Field(description="Page of the book.")
    char_start: int = Field(ge=0, description="Where the quote begins in the page's text.")
    char_end: int = Field(ge=0, description="Where it ends.")
    chapter: str = Field(description="Its chapter.")
    section: str = Field(description="Its section.")
    link: str = Field(description="Opens the book at the quote. Show it to the reader.")
    permalink: str = Field(
        description="Opens the same quote after the book was edited. Give it where the reader cites the book."
    )


class NearSection(BaseModel):
    """Where to read on."""

    book: str = Field(description="Id of the book.")
    document_id: str = Field(description="Page of the book.")
    chapter: str = Field(description="Its chapter.")
    section: str = Field(description="Its title.")
    link: str = Field(description="Opens the book there.")


class AskResult(BaseModel):
    """What ask_book gives: an answer with its quotes, or a refusal of a type."""

    status: Literal["success", "refused"] = Field(
        description="`refused`: the book does not say. Tell the reader so; do not answer from elsewhere."
    )
    answer: str | None = Field(
        None,
        description="The book's own sentences; those that answer are followed by the numbers of their citations.",
    )
    citations: list[Quote] = Field(
        default_factory=list, description="At least one for each sentence."
    )
    disclaimer: str | None = Field(None, description="What the answer leaves open, if anything.")
    refusal_type: RefusalType | None = Field(None, description="Why there is no answer.")
    reason: str | None = Field(None, description="The same in a sentence, and what to try.")
    nearest_sections: list[NearSection] = Field(
        default_factory=list, description="After a refusal: where the reader might look."
    )
    request_id: UUID = Field(description="Id of this question.")


class FoundPlace(NearSection):
    """A section that search_book found."""

    text: str = Field(description="Its sentence that fits best, verbatim up to white space.")
    char_start: int = Field(ge=0, description="Where that sentence begins in the page's text.")
    char_end: int = Field(ge=0, description="Where it ends.")


class SearchResult(BaseModel):
    """What search_book gives."""

    sections: list[FoundPlace] = Field(description="Best first; near is not yet an answer.")


class SectionText(BaseModel):
    """What read_section gives."""

    book: str = Field(description="Id of the book.")
    document_id: str = Field(description="Page of the book.")
    title: str = Field(description="Title of the page.")
    section: str = Field(description="Title of the section.")
    heading_path: list[str] = Field(description="Titles from the page down to the section.")
    char_start: int = Field(ge=0, description="Where the text begins in the page.")
    char_end: int = Field(ge=0, description="Where it ends.")
    text: str = Field(description="The exact text.")
    next_char_start: int | None = Field(
        None, description="Where the page goes on; null at its end."
    )
    link: str = Field(description="Opens the page.")


class BookEntry(BaseModel):
    """A book of the library."""

    book: str = Field(description="Its id.")
    title: str = Field(description="Its title.")
    pages: int = Field(ge=0, description="How many pages it has.")
    published_at: str = Field(description="When its text was last published.")
    link: str = Field(description="Opens the book.")


class BookList(BaseModel):
    """What list_books gives."""

    books: list[BookEntry] = Field(description="The books that may be asked.")
