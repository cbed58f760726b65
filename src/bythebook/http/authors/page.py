"""GET /admin: the author's page; it holds no data, its script asks for that with the key typed in."""

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from bythebook.http.assets import asset

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def admin_page_router() -> APIRouter:
    """Make the page."""
    router = APIRouter(include_in_schema=False)
    shown = _page(asset("admin.js").url, asset("admin.css").url)

    @router.get("/admin")
    async def page() -> HTMLResponse:
        return HTMLResponse(shown, headers=HEADERS)

    return router


def _page(script: str, style: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>What readers ask</title>
<link rel="stylesheet" href="{style}"><script src="{script}" defer></script></head>
<body><noscript><p>This page needs scripts. Without them, <code>bythebook stats</code> tells the
same in a terminal.</p></noscript><div id="admin"></div></body></html>"""
