"""GET /admin: the author's page; its script loads the data with the key that the author types in."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from bythebook.http.pages.render import SECURITY_HEADERS, render

HEADERS = SECURITY_HEADERS | {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}


def admin_page_router() -> APIRouter:
    """Make the page."""
    router = APIRouter(include_in_schema=False)
    content = render("admin.html")

    @router.get("/admin")
    async def show_page() -> HTMLResponse:
        return HTMLResponse(content, headers=HEADERS)

    return router
