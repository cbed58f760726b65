"""Results of the client -> passages, which each framework puts into its own type."""

from dataclasses import dataclass
from typing import Any

from bythebook.client import AsyncClient, Client, QueryResult, SearchResult


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of the book, with its exact quote and its link."""

    text: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RetrievalOrder:
    """How to retrieve: verified quotes that answer, or the nearest sections."""

    url: str
    key: str | None = None
    book: str | None = None
    top_k: int = 5
    verified: bool = True

    def get(self, question: str) -> list[Passage]:
        """Retrieve."""
        with Client(self.url, key=self.key) as client:
            if self.verified:
                return _quotes(client.query(question, book=self.book, top_k=self.top_k))
            return _sections(client.search(question, book=self.book, limit=self.top_k))

    async def aget(self, question: str) -> list[Passage]:
        """Retrieve, in an event loop."""
        async with AsyncClient(self.url, key=self.key) as client:
            if self.verified:
                return _quotes(await client.query(question, book=self.book, top_k=self.top_k))
            return _sections(await client.search(question, book=self.book, limit=self.top_k))


def _quotes(result: QueryResult) -> list[Passage]:
    """Give each quote of an answer once; a refusal gives none."""
    found: dict[tuple[str, int, int], Passage] = {}
    for one in result.answer.citations if result.answer else ():
        quote = one.referenced_text or ""
        metadata = {
            "quote": quote,
            "link": one.link,
            "permalink": one.permalink,
            "chapter": one.chapter,
            "section": one.section,
            "document_id": one.document_id,
            "char_start": one.char_start,
            "char_end": one.char_end,
            "chunk_id": one.chunk_id,
            "verified": True,
        }
        found.setdefault((one.chunk_id, one.char_start, one.char_end), Passage(quote, metadata))
    return list(found.values())


def _sections(result: SearchResult) -> list[Passage]:
    return [
        Passage(
            one.text,
            {
                "quote": one.text,
                "link": one.url,
                "chapter": one.chapter,
                "section": one.section,
                "verified": False,
            },
        )
        for one in result.sections
    ]
