"""Web addresses: one strict parser, so that what was checked is what is connected to."""

import ipaddress
import posixpath
import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote, urljoin

import idna

_LONGEST = 2_000  # characters of an address
_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@%]+))(?::(\d{1,5}))?", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER_LIKE = re.compile(r"\d+|0x[0-9a-f]*")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})|%")
_INDEX = re.compile(r"(?<=/)index\.(?:html?|xhtml|php)$")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """Not an address that may be fetched; the text says why."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address in its one normal form, without its fragment."""

    scheme: str
    host: str  # ASCII, lower case; an IPv6 address has no brackets
    port: int
    path: str
    query: str = ""

    @property
    def authority(self) -> str:
        """The host as the Host header names it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what may not change on the way through a book."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """Path and query, as a request names them."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def text(self) -> str:
        """The address as it is written."""
        return self.origin + self.target

    @property
    def folder(self) -> str:
        """The path up to its last slash."""
        return self.path[: self.path.rfind("/") + 1]

    @property
    def key(self) -> str:
        """The same for addresses that differ by a trailing slash or an index page only."""
        path = _INDEX.sub("", self.path)
        return (path.rstrip("/") or "/") + (f"?{self.query}" if self.query else "")

    def without_query(self) -> "WebAddress":
        """Give the address of the page itself."""
        return replace(self, query="") if self.query else self


def parse_address(text: str) -> WebAddress:
    """Parse an absolute address, or raise BadAddress; nothing is guessed or put right."""
    if len(text) > _LONGEST:
        raise BadAddress("the address is too long")
    if _FORBIDDEN.search(text):
        raise BadAddress("the address holds a space, a backslash or a control character")
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise BadAddress("it is not an http or https address")
    scheme = parts[1].lower()
    authority = _AUTHORITY.fullmatch(parts[2])
    if authority is None:
        raise BadAddress("its host name is not one (a user name is not allowed there)")
    port = int(authority[3]) if authority[3] else _DEFAULT_PORTS[scheme]
    if not 0 < port < 65536:
        raise BadAddress("its port is not one")
    host = _ipv6(authority[1]) if authority[1] else _host(authority[2])
    return WebAddress(scheme, host, port, _path(parts[3]), _escaped(parts[4] or "", "/?"))


def join(base: WebAddress, reference: str) -> tuple[WebAddress, str] | None:
    """Give where a link on a page leads, and its fragment; none if to no web page."""
    reference = reference.strip(" \t\r\n\f")
    if _FORBIDDEN.search(reference.replace(" ", "")) or len(reference) > _LONGEST:
        return None
    reference, _, fragment = reference.replace(" ", "%20").partition("#")
    try:
        return parse_address(urljoin(base.text, reference)), unquote(fragment)
    except ValueError:
        return None


def _ipv6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError as error:
        raise BadAddress("its IPv6 address is not one") from error


def _host(text: str) -> str:
    try:
        host = text.lower() if text.isascii() else idna.encode(text, uts46=True).decode()
    except UnicodeError as error:  # idna's own errors are of this kind
        raise BadAddress("its host name is not one") from error
    labels = host.split(".")
    if _NUMBER_LIKE.fullmatch(labels[-1]):
        return _ipv4(host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadAddress("its host name is not one")
    return host


def _ipv4(host: str) -> str:
    """Take dotted decimals only: other spellings of a number hide where they lead."""
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise BadAddress("its host is a number, but not a plain IPv4 address") from error


def _path(text: str) -> str:
    path = _escaped(text or "/", "/")
    normal = posixpath.normpath(path)
    normal = "/" + normal.lstrip("/")  # POSIX lets two slashes open a path
    closes = path.endswith(("/", "/.", "/.."))
    return f"{normal}/" if closes and normal != "/" else normal


def _escaped(text: str, also_safe: str) -> str:
    """Write each character in the one way: unreserved ones bare, all others by capitals."""

    def normal(escape: re.Match[str]) -> str:
        if escape[1] is None:
            return "%25"
        character = chr(int(escape[1], 16))
        bare = character.isascii() and (character.isalnum() or character in "-._~")
        return character if bare else f"%{escape[1].upper()}"

    return quote(_ESCAPE.sub(normal, text), safe=f"%:@!$&'()*+,;=~{also_safe}")
