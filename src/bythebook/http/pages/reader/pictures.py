"""GET /pictures/{book}/{file}: the pictures of books, which only draw."""

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from bythebook.errors import UnknownBook, UnknownDocument
from bythebook.http.pages.failures import PageRoute
from bythebook.ports import Library

_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "svg": "image/svg+xml",
}
_HEADERS = {
    # A drawing that is opened by itself runs nothing and loads nothing.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "public, max-age=31536000, immutable",  # it is named by its content
}


def pictures_router(library: Library) -> APIRouter:
    """Make the route of the pictures, open to those who may read the pages."""
    router = APIRouter(include_in_schema=False, route_class=PageRoute)

    @router.get("/pictures/{book_id}/{file}")
    def show_picture(book_id: str, file: str) -> Response:
        kind = _TYPES.get(file.rpartition(".")[2])
        try:
            content = library.picture(book_id, file) if kind else None
        except (UnknownBook, UnknownDocument):
            content = None
        if content is None:
            raise HTTPException(404, "This book has no such picture.")
        return Response(content, media_type=kind, headers=_HEADERS)

    return router
