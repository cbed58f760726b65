"""Render templates, and send them as pages with the headers that all pages for people share."""

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from bythebook.http.pages.assets import find_asset, load_asset

SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_TEMPLATES = Environment(
    loader=PackageLoader("bythebook.http.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    cache_size=-1,  # every template is compiled once
    auto_reload=False,
)
_TEMPLATES.globals.update(find_asset=find_asset, load_asset=load_asset)


def render(template: str, **values: object) -> str:
    """Fill a template in; every value is escaped."""
    return _TEMPLATES.get_template(template).render(values)


def render_page(template: str, **values: object) -> HTMLResponse:
    """Answer a request with a template."""
    return HTMLResponse(render(template, **values), headers=SECURITY_HEADERS)


def forbid_caching(page: HTMLResponse) -> HTMLResponse:
    """Keep a browser from showing this page again for the same address, once the reader has asked."""
    page.headers["Cache-Control"] = "no-store"
    return page
