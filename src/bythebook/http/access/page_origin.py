"""Which site's page sent a request, by the headers that browsers set and pages cannot."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers

_OWN_SITES = frozenset({"same-origin", "none"})  # none: an address that was typed or bookmarked


def is_own_origin(headers: Headers) -> bool:
    """Return True if a page of this service sent the request; programs send none of these headers."""
    if headers.get("sec-fetch-site") == "same-origin":
        return True
    return "origin" in headers and _authority(headers["origin"]) == headers.get("host", "").lower()


def is_from_another_site(headers: Headers) -> bool:
    """Return True if a page of another origin caused the request, be it on another port.

    Sec-Fetch-Site covers everything a page can load, also an image; Origin covers browsers that do
    not send it, and a proxy that forwards as this service's what is another site's to the browser.
    """
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _OWN_SITES:
        return True
    origin = headers.get("origin")
    if origin is None or (origin == "null" and site is not None):  # null: by our referrer policy
        return False
    return _authority(origin) != headers.get("host", "").lower()


def _authority(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
