"""Web addresses: one strict parser, so that the checked address is the one that is used."""

import ipaddress
import posixpath
import re
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote, urljoin

import idna

_MAX_LENGTH = 2_000  # characters
_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@%]+))(?::(\d{1,5}))?", re.IGNORECASE)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER_LIKE = re.compile(r"\d+|0x[0-9a-f]*")
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\]")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})|%")
_INDEX = re.compile(r"(?<=/)index\.(?:html?|xhtml|php)$")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """An address that may not be fetched; the message says why."""


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An http or https address in normal form, without its fragment."""

    scheme: str
    host: str  # ASCII, lower case; an IPv6 address has no brackets
    port: int
    path: str
    query: str = ""

    @property
    def written_host(self) -> str:
        """The host as addresses have it: a number of IPv6 in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def host_and_port(self) -> str:
        """Host and port, also where the port is the usual one."""
        return f"{self.written_host}:{self.port}"

    @property
    def authority(self) -> str:
        """The host as the Host header names it."""
        is_usual = self.port == _DEFAULT_PORTS[self.scheme]
        return self.written_host if is_usual else self.host_and_port

    @property
    def origin(self) -> str:
        """Scheme, host and port, which stay the same within a book."""
        return f"{self.scheme}://{self.authority}"

    @property
    def target(self) -> str:
        """Path and query, as in a request."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def text(self) -> str:
        """The whole address."""
        return self.origin + self.target

    @property
    def folder(self) -> str:
        """The path up to its last slash."""
        return self.path[: self.path.rfind("/") + 1]

    @property
    def key(self) -> str:
        """A key shared by addresses that differ only by a trailing slash or an index page."""
        path = _INDEX.sub("", self.path)
        return (path.rstrip("/") or "/") + (f"?{self.query}" if self.query else "")

    def drop_query(self) -> "WebAddress":
        """Return the address without its query."""
        return replace(self, query="") if self.query else self


def parse_address(text: str) -> WebAddress:
    """Parse an absolute address, or raise BadAddress; nothing is guessed or corrected."""
    if len(text) > _MAX_LENGTH:
        raise BadAddress("the address is too long")
    if _FORBIDDEN.search(text):
        raise BadAddress("the address contains a space, a backslash or a control character")
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise BadAddress("it is not an http or https address")
    scheme = parts[1].lower()
    authority = _AUTHORITY.fullmatch(parts[2])
    if authority is None:
        raise BadAddress("its host name is not valid (a user name is not allowed)")
    port = int(authority[3]) if authority[3] else _DEFAULT_PORTS[scheme]
    if not 0 < port < 65536:
        raise BadAddress("its port is not valid")
    host = _parse_ipv6(authority[1]) if authority[1] else _parse_host(authority[2])
    return WebAddress(
        scheme, host, port, _normalize_path(parts[3]), _normalize_escapes(parts[4] or "", "/?")
    )


def join(base: WebAddress, reference: str) -> tuple[WebAddress, str] | None:
    """Return the target of a link on a page, and its fragment; None if it is not a web page."""
    reference = reference.strip(" \t\r\n\f")
    if _FORBIDDEN.search(reference.replace(" ", "")) or len(reference) > _MAX_LENGTH:
        return None
    reference, _, fragment = reference.replace(" ", "%20").partition("#")
    try:
        return parse_address(urljoin(base.text, reference)), unquote(fragment)
    except ValueError:
        return None


def _parse_ipv6(text: str) -> str:
    try:
        return str(ipaddress.IPv6Address(text))
    except ValueError as error:
        raise BadAddress("its IPv6 address is not valid") from error


def _parse_host(text: str) -> str:
    try:
        host = text.lower() if text.isascii() else idna.encode(text, uts46=True).decode()
    except UnicodeError as error:  # the base class of idna's errors
        raise BadAddress("its host name is not valid") from error
    labels = host.split(".")
    if _NUMBER_LIKE.fullmatch(labels[-1]):
        return _parse_ipv4(host)
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadAddress("its host name is not valid")
    return host


def _parse_ipv4(host: str) -> str:
    """Accept only dotted decimals: other notations hide where they lead."""
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError as error:
        raise BadAddress("its host is a number, but not a plain IPv4 address") from error


def _normalize_path(text: str) -> str:
    path = _normalize_escapes(text or "/", "/")
    normal = posixpath.normpath(path)
    normal = "/" + normal.lstrip("/")  # POSIX allows two slashes at the start of a path
    closes = path.endswith(("/", "/.", "/.."))
    return f"{normal}/" if closes and normal != "/" else normal


def _normalize_escapes(text: str, also_safe: str) -> str:
    """Write each character in one way only: unreserved ones as they are, others with capital hex digits."""

    def normalize(escape: re.Match[str]) -> str:
        if escape[1] is None:
            return "%25"
        character = chr(int(escape[1], 16))
        bare = character.isascii() and (character.isalnum() or character in "-._~")
        return character if bare else f"%{escape[1].upper()}"

    return quote(_ESCAPE.sub(normalize, text), safe=f"%:@!$&'()*+,;=~{also_safe}")
