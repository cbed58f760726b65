"""GET /oembed: a citation as a quote with its source, for pages that show links as what they lead to."""

import asyncio
from html import escape
from typing import Annotated, Literal
from urllib.parse import quote as percent

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from bythebook.http.pages.machines.listing import Listing
from bythebook.http.pages.reader.citations import CitationPages, OpenedCitation
from bythebook.http.pages.reader.visitors import MayAsk

PATH = "/oembed"
_WIDTH = 600  # pixels, unless the page has less
_LETTER, _LINE, _FRAME = (
    8,
    24,
    90,
)  # pixels: a letter's width, a line's height, what is around the words
_NOT_HERE = "There is no citation at this address, or it may not be shown."
_JSON_ONLY = "Only JSON is given: ask for format=json."


class EmbeddedCitation(BaseModel):
    """A citation in oEmbed's shape."""

    version: Literal["1.0"] = Field("1.0", description="Of oEmbed.")
    type: Literal["rich"] = Field("rich", description="HTML to show as it is.")
    title: str = Field(description="Title of the book.")
    provider_name: Literal["ByTheBook"] = Field("ByTheBook", description="What serves the book.")
    provider_url: str = Field(description="Where it is served.")
    html: str = Field(
        description="The words as they stand now, with the link; no script, no style."
    )
    width: int = Field(ge=1, description="Pixels, at most `maxwidth`.")
    height: int = Field(ge=1, description="Pixels, as estimated, at most `maxheight`.")


Pixels = Annotated[int | None, Query(ge=1, le=100_000)]


def oembed_router(pages: CitationPages, listing: Listing, reader_url: str) -> APIRouter:
    """Make the route; a closed book does not exist to it."""
    router = APIRouter(include_in_schema=False)

    @router.get(PATH, response_model=EmbeddedCitation)
    async def embed(
        may_ask: MayAsk,
        url: Annotated[str, Query(max_length=2000, description="A citation's permalink.")],
        maxwidth: Pixels = None,
        maxheight: Pixels = None,
        format: Annotated[str, Query(max_length=20)] = "json",  # noqa: A002 - oEmbed's name
    ) -> EmbeddedCitation | JSONResponse:
        """Give a citation of a book that machines may find, by its permalink."""
        if format != "json":
            return JSONResponse({"error": "not_implemented", "message": _JSON_ONLY}, 501)
        prefix = f"{reader_url}/c/"
        if not url.startswith(prefix):
            raise HTTPException(404, _NOT_HERE)
        opened = await asyncio.to_thread(pages.open, url.removeprefix(prefix))
        if opened is None or not listing.shows(opened.book.book_id, is_open=may_ask):
            raise HTTPException(404, _NOT_HERE)
        words = await asyncio.to_thread(_words, pages, opened)
        if not words:
            raise HTTPException(404, _NOT_HERE)
        width = min(maxwidth or _WIDTH, _WIDTH)
        lines = 1 + len(words) * _LETTER // width
        return EmbeddedCitation(
            title=opened.book.title,
            provider_url=reader_url,
            html=_write(opened, words, url),
            width=width,
            height=min(_FRAME + _LINE * lines, maxheight or 100_000),
        )

    return router


def oembed_link(opened: OpenedCitation, reader_url: str) -> str:
    """Return where a citation's embedding is found."""
    address = f"{reader_url}/c/{opened.cited}"
    return f"{reader_url}{PATH}?url={percent(address, safe='')}"


def _words(pages: CitationPages, opened: OpenedCitation) -> str:
    place = opened.found.place
    return pages.words_at(opened.book.book_id, place) if place else ""


def _write(opened: OpenedCitation, words: str, url: str) -> str:
    note = " (edited since it was cited)" if opened.found.status == "edited" else ""
    return (
        f'<blockquote cite="{escape(url)}"><p>{escape(words)}</p>'
        f'<footer><a href="{escape(url)}">{escape(opened.book.title)}</a>{note}</footer></blockquote>'
    )
