"""The tools over the one answer path; they know nothing of the protocol."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import quote as percent

from bythebook.ask import FoundSection, readable_books, search_sections
from bythebook.ask.show import advice
from bythebook.domain.access import Caller
from bythebook.domain.answers import Answered, NearestSection
from bythebook.domain.books import Book, Document
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError, NoBooks, UnknownBook, UnknownDocument
from bythebook.http.contracts.query import REFUSAL_MESSAGES
from bythebook.http.mcp_api.shapes import (
    MOST_TEXT,
    AskArguments,
    AskResult,
    BookEntry,
    BookList,
    FoundPlace,
    ListArguments,
    NearSection,
    Quote,
    ReadArguments,
    SearchArguments,
    SearchResult,
    SectionText,
)
from bythebook.http.openai_api.footnotes import FootnotedText, NotedQuote
from bythebook.http.openai_api.replies import refusal_text
from bythebook.operate.answerer import Answerer
from bythebook.operate.incoming_question import IncomingQuestion

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Who calls a tool, and under which id."""

    caller: Caller = field(default_factory=Caller)
    request_id: uuid.UUID = field(default_factory=uuid.uuid4)


@dataclass(frozen=True, slots=True)
class ToolReply(Generic[_Result]):
    """What a tool gives: for programs, and as text."""

    result: _Result
    text: str


class BookTools:
    """Asks, searches and reads the books that a caller may read."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer
        self._ports = answerer.ports

    async def ask(self, given: AskArguments, call: ToolCall) -> ToolReply[AskResult]:
        """Answer a question, or refuse by type."""
        scope = Scope(given.book, readable=call.caller.readable)
        question = Question(given.question, scope)
        outcome = await self._answerer.collect(
            IncomingQuestion(question, "mcp", call.request_id, call.caller)
        )
        if isinstance(outcome, Answered):
            return self._make_answer(outcome, call)
        result = AskResult(
            status="refused",
            refusal_type=outcome.refusal_type,
            reason=f"{REFUSAL_MESSAGES[outcome.refusal_type]}. {advice(outcome)}",
            nearest_sections=[_near(near) for near in outcome.nearest_sections],
            request_id=call.request_id,
        )
        return ToolReply(result, refusal_text(outcome))

    def _make_answer(self, outcome: Answered, call: ToolCall) -> ToolReply[AskResult]:
        written = FootnotedText(self._ports.reader_url)
        written.open(outcome.disclaimer)
        for sentence in outcome.sentences:
            written.add(sentence)
        answer = written.text
        written.close()
        result = AskResult(
            status="success",
            answer=answer,
            citations=[_quote(noted) for noted in written.quotes],
            disclaimer=outcome.disclaimer,
            request_id=call.request_id,
        )
        return ToolReply(result, written.text)

    async def search(self, given: SearchArguments, call: ToolCall) -> ToolReply[SearchResult]:
        """Find the nearest sections."""
        scope = Scope(given.book, readable=call.caller.readable)
        found = await search_sections(Question(given.query, scope, given.limit), self._ports)
        places = [_place(one) for one in found]
        lines = [
            f"- {one.chapter} · {one.section}: {one.text}\n  {one.link}\n"
            f"  book={one.book} document_id={one.document_id} char_start={one.char_start}"
            for one in places
        ]
        return ToolReply(SearchResult(sections=places), "\n".join(lines) or "Nothing was found.")

    async def read(self, given: ReadArguments, call: ToolCall) -> ToolReply[SectionText]:
        """Give the exact text of a section."""
        document = await asyncio.to_thread(self.document, given.book, given.document_id, call)
        text = document.text
        if given.char_start >= max(len(text), 1):
            raise InputError(f"char_start: the page has {len(text)} characters.")
        section = document.section_at(given.char_start)
        start = given.char_start if given.char_start >= section.start + MOST_TEXT else section.start
        end = min(section.end, start + MOST_TEXT)
        result = SectionText(
            book=given.book,
            document_id=document.document_id,
            title=document.title,
            section=section.title,
            heading_path=list(section.path),
            char_start=start,
            char_end=end,
            text=text[start:end],
            next_char_start=_next_start(document, end),
            link=self._page_link(given.book, document),
        )
        return ToolReply(result, result.text)

    async def list(self, _given: ListArguments, call: ToolCall) -> ToolReply[BookList]:
        """List the books that the caller may read."""
        entries = [self._entry(book) for book in await self.books(call)]
        lines = [f"- {one.book}: {one.title}, {one.pages} pages, {one.link}" for one in entries]
        return ToolReply(BookList(books=entries), "\n".join(lines) or "There is no book yet.")

    async def books(self, call: ToolCall) -> Sequence[Book]:
        """Return the books that a caller may read."""
        try:
            return await asyncio.to_thread(
                readable_books, self._ports.library, None, call.caller.readable
            )
        except (NoBooks, UnknownBook):
            return ()

    def document(self, book_id: str, document_id: str, call: ToolCall) -> Document:
        """Return a page of a book that the caller may read, or raise InputError."""
        library = self._ports.library
        try:
            readable_books(library, book_id, call.caller.readable)
            return library.document(book_id, document_id)
        except UnknownDocument:
            raise UnknownDocument("document_id: The book has no such page.") from None

    def documents(self, book_id: str, call: ToolCall) -> tuple[Book, Sequence[Document]]:
        """Return a book that the caller may read and its pages, or raise UnknownBook."""
        (book,) = readable_books(self._ports.library, book_id, call.caller.readable)
        return book, self._ports.library.documents(book_id)

    def _entry(self, book: Book) -> BookEntry:
        return BookEntry(
            book=book.book_id,
            title=book.title,
            pages=book.documents,
            published_at=book.published_at,
            link=f"{self._ports.reader_url}/read/{book.book_id}",
        )

    def _page_link(self, book_id: str, document: Document) -> str:
        page = f"{self._ports.reader_url}/read/{book_id}/{percent(document.document_id)}"
        return document.url or page


def _next_start(document: Document, end: int) -> int | None:
    """Return where there is more to read after a place; white space is not."""
    rest = document.text[end:]
    return end + len(rest) - len(rest.lstrip()) if rest.strip() else None


def _quote(noted: NotedQuote) -> Quote:
    chunk = noted.citation.passage.chunk
    return Quote(
        number=noted.number,
        quote=noted.citation.quote,
        book=chunk.book_id,
        document_id=chunk.document_id,
        char_start=noted.citation.char_start,
        char_end=noted.citation.char_end,
        chapter=chunk.chapter,
        section=chunk.section,
        link=noted.link,
        permalink=noted.permalink,
    )


def _near(near: NearestSection) -> NearSection:
    return NearSection(
        book=near.book_id,
        document_id=near.document_id,
        chapter=near.chapter,
        section=near.section,
        link=near.url,
    )


def _place(found: FoundSection) -> FoundPlace:
    chunk = found.citation.passage.chunk
    return FoundPlace(
        book=chunk.book_id,
        document_id=chunk.document_id,
        chapter=found.chapter,
        section=found.section,
        link=found.url,
        text=found.text,
        char_start=found.citation.char_start,
        char_end=found.citation.char_end,
    )
