"""The frame that every page for people shares."""

from html import escape

from fastapi.responses import HTMLResponse

from bythebook.http.assets import ICON, STYLE, asset

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_SKIP = '<a class="skip" href="#_text">Skip to the text</a>'


def page(
    title: str, body: str, *, tools: str = "", shape: str = "plain", scripts: str = ""
) -> HTMLResponse:
    """Put a body into the frame; all but `title` is HTML, `shape` is a class of the style sheet.

    Ids of the frame begin with an underscore, which anchors of books hardly do.
    """
    main = body if shape == "reader" else f'<main id="_text" tabindex="-1">{body}</main>'
    html = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><link rel="icon" href="{asset(ICON).url}">
<link rel="stylesheet" href="{asset(STYLE).url}">{scripts}</head>
<body class="{shape}">{_SKIP}<header><a class="home" href="/">Ask the book</a>{tools}</header>
{main}
<footer>By the book, or not at all.</footer></body></html>"""
    return HTMLResponse(html, headers=SECURITY_HEADERS)
