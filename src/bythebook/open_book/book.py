"""`Book` and `AsyncBook`: one published book, asked by the same path as the service's."""

import asyncio
import threading
import weakref
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from bythebook.ask import AskPorts, collect, search_sections
from bythebook.ask.show import remove_opening
from bythebook.bootstrap import Core
from bythebook.calibrate.after_publishing import fit_published, live_fit
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from bythebook.errors import InputError
from bythebook.http.contracts.query import QueryRequest
from bythebook.http.contracts.search import SearchRequest
from bythebook.http.wire.problems import field_message
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.open_book.results import Answer, Citation, FoundSection, Page, Section, Sections
from bythebook.open_book.tell import tell_outcome, tell_section
from bythebook.settings import load_settings

_T = TypeVar("_T")
Place = str | Citation | FoundSection  # a page by its id, or the section around a quote


class AsyncBook:
    """A book in this process, for code that runs in an event loop."""

    def __init__(self, core: Core, book_id: str) -> None:
        self._core = core
        self._published = core.library.book(book_id)

    @classmethod
    async def open(
        cls,
        book_id: str,
        *,
        source: str | Path | None = None,
        title: str | None = None,
        data_dir: str | Path | None = None,
    ) -> Self:
        """Open a published book; with a source, publish it first: only what changed is embedded."""
        settings = load_settings()
        if data_dir is not None:
            settings = settings.model_copy(update={"data_dir": Path(data_dir)})
        core = Core(settings)
        try:
            if source is not None:
                await _publish(core, IngestOrder(str(source), book_id, title))
            return cls(core, book_id)
        except BaseException:
            core.close()
            raise

    @property
    def book_id(self) -> str:
        """Its id."""
        return self._published.book_id

    @property
    def title(self) -> str:
        """Its title."""
        return self._published.title

    async def ask(
        self,
        question: str,
        *,
        after: Sequence[Answer] = (),
        selected_text: str | None = None,
        top_k: int = 5,
    ) -> Answer:
        """Answer a question; `after` are the answers before it, so that a follow-up is understood."""
        asked = _check(
            QueryRequest,
            query=question,
            book=self.book_id,
            selected_text=selected_text,
            top_k=top_k,
            session_id=None,
        )
        scope = Scope(self.book_id, asked.selected_text)
        turns = tuple(Turn(one.question, _answer_words(one)) for one in after)
        ports = self._ports()
        outcome = await collect(Question(asked.query, scope, asked.top_k, turns=turns), ports)
        return tell_outcome(asked.query, outcome, ports.reader_url)

    async def search(self, query: str, *, limit: int = 5) -> Sections:
        """Find the nearest sections, best first; they are not judged."""
        asked = _check(SearchRequest, q=query, book=self.book_id, limit=limit)
        question = Question(asked.q, Scope(self.book_id), asked.limit)
        found = await search_sections(question, self._ports())
        return Sections(tell_section(one) for one in found)

    async def read(self, place: Place) -> Section:
        """Return a page by its id, or the section around a citation or a found section."""
        return await asyncio.to_thread(self._read, place)

    async def pages(self) -> tuple[Page, ...]:
        """List the pages in reading order."""
        documents = await asyncio.to_thread(self._core.library.documents, self.book_id)
        return tuple(Page(one.document_id, one.title, one.chapter) for one in documents)

    async def close(self) -> None:
        """Close the book's index."""
        self._core.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.book_id!r})"

    def _ports(self) -> AskPorts:
        """Return the parts; links open at a service of the same data folder, if one runs."""
        url = self._core.running_url() or self._core.settings.reader_url
        return replace(self._core.ask, reader_url=url)

    def _read(self, place: Place) -> Section:
        if isinstance(place, str):
            page = self._core.library.document(self.book_id, place)
            path = (page.title,)
            return Section(place, page.title, path, 0, len(page.text), page.text)
        if not place.document_id:
            raise InputError("A quote of selected text stands on no page of the book.")
        page = self._core.library.document(self.book_id, place.document_id)
        section = page.section_at(place.char_start)
        end = max(section.end, place.char_end)
        return Section(
            page.document_id,
            section.title,
            section.path,
            section.start,
            end,
            page.text[section.start : end],
            (place.char_start, place.char_end),
        )


class Book:
    """A book in this process; its work runs in a thread of its own, so that notebooks can use it."""

    def __init__(self, book: AsyncBook, loop: "_Loop") -> None:
        self._book = book
        self._loop = loop
        self._close = weakref.finalize(self, _close, book, loop)

    @classmethod
    def open(
        cls,
        book_id: str,
        *,
        source: str | Path | None = None,
        title: str | None = None,
        data_dir: str | Path | None = None,
    ) -> Self:
        """Open a published book; with a source, publish it first: only what changed is embedded."""
        loop = _Loop()
        try:
            opening = AsyncBook.open(book_id, source=source, title=title, data_dir=data_dir)
            return cls(loop.run(opening), loop)
        except BaseException:
            loop.stop()
            raise

    @property
    def book_id(self) -> str:
        """Its id."""
        return self._book.book_id

    @property
    def title(self) -> str:
        """Its title."""
        return self._book.title

    def ask(
        self,
        question: str,
        *,
        after: Sequence[Answer] = (),
        selected_text: str | None = None,
        top_k: int = 5,
    ) -> Answer:
        """Answer a question; `after` are the answers before it, so that a follow-up is understood."""
        asking = self._book.ask(question, after=after, selected_text=selected_text, top_k=top_k)
        return self._loop.run(asking)

    def search(self, query: str, *, limit: int = 5) -> Sections:
        """Find the nearest sections, best first; they are not judged."""
        return self._loop.run(self._book.search(query, limit=limit))

    def read(self, place: Place) -> Section:
        """Return a page by its id, or the section around a citation or a found section."""
        return self._loop.run(self._book.read(place))

    def pages(self) -> tuple[Page, ...]:
        """List the pages in reading order."""
        return self._loop.run(self._book.pages())

    def close(self) -> None:
        """Close the book's index; it happens by itself when the book is no longer used."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.book_id!r})"


class _Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run work to its end; Ctrl-C stops it."""
        if not self._thread.is_alive():
            work.close()
            raise InputError("This book is closed.", "Open it again with Book.open(...).")
        running = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            raise

    def stop(self) -> None:
        """End the thread."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


def _close(book: AsyncBook, loop: _Loop) -> None:
    try:
        loop.run(book.close())
    finally:
        loop.stop()


async def _publish(core: Core, order: IngestOrder) -> None:
    """Publish a book and fit its scores, as `bythebook ingest` does."""
    before = live_fit(order.book_id, core.library, core.calibrations)
    report = await ingest(order, core.ingest, lambda _progress: None)
    await fit_published(
        report, before, core.library, core.calibrations, lambda: core.calibrate, lambda *_: None
    )


_Model = TypeVar("_Model", QueryRequest, SearchRequest)
_ARGUMENTS = {"query": "question", "q": "query"}  # fields of the contracts by our names


def _check(model: type[_Model], **given: Any) -> _Model:
    """Apply the limits of the contracts."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        named = tuple(_ARGUMENTS.get(str(part), part) for part in first["loc"])
        raise InputError(field_message({**first, "loc": named})) from None


def _answer_words(answer: Answer) -> str:
    return remove_opening(answer.text).strip() if answer else ""
