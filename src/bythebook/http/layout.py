"""The frame that every page for people shares."""

from html import escape

from fastapi.responses import HTMLResponse

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def page(title: str, body: str, trail: str = "") -> HTMLResponse:
    """Put a body into the frame; `body` and `trail` are HTML, `title` is text."""
    html = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><link rel="stylesheet" href="/reader.css"></head>
<body><header><a href="/">Ask the book</a>{trail}</header>
<main>{body}</main>
<footer>By the book, or not at all.</footer></body></html>"""
    return HTMLResponse(html, headers=SECURITY_HEADERS)
