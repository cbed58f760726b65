"""What no line of a log may hold, and how it is taken out."""

import dataclasses
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote, urlsplit

HIDDEN = "[hidden]"
_DEEPEST = 6  # levels of nested values; deeper ones are logged as text
_LEAST = 4  # characters of a secret that is looked for by its letters
_NAMES = (
    r"(?:authorization|api[-_]?keys?|passw(?:or)?ds?|secrets?|token|cookie"
    r"|database_url|redis_url|alert_webhook)"
)
_SENSITIVE_NAME = re.compile(rf"(?i).*{_NAMES}")
_VALUE = r"""b?\\*"[^"]*"|b?\\*'[^']*'|(?:bearer|basic)\s+[^\s"',;&)}\]]+|[^\s"',;&)}\]]+"""
_PLAIN = re.compile(r"[\w.-]*")  # a word, an id, a time: nothing that names or quotes a secret
_PATTERNS = (
    (re.compile(r"btb_[A-Za-z0-9_-]{9,}"), HIDDEN),  # 8 characters tell keys apart and may be shown
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]+"), rf"\1 {HIDDEN}"),
    (re.compile(r"""(://)[^\s'"<>]*@"""), rf"\1{HIDDEN}@"),
    (
        re.compile(rf"""(?i)({_NAMES}\b\\*(?:["']\s*[:=,]|\s*[:=])\s*)(?:{_VALUE})"""),
        rf"\1{HIDDEN}",
    ),
)


def secrets_in(addresses: Iterable[str]) -> tuple[str, ...]:
    """Find the secrets in addresses: the whole address, its password; more of a web address."""
    found = set[str]()
    for address in filter(None, addresses):
        found |= {address} | _password(address)
        if address.lower().startswith(("http://", "https://")):
            found |= _web_secrets(address)
    return tuple(found - {""})


def _password(address: str) -> set[str]:
    """Give the password and the pair that it makes with a name; a name alone is no secret."""
    rest = address.partition("://")[2]
    # Which "@" ends it is not the same to all who read addresses.
    pairs = {rest.partition("@")[0], rest.rpartition("@")[0]} if "@" in rest else set()
    passwords = {pair: pair.partition(":")[2] for pair in pairs}
    return {one for pair, password in passwords.items() if password for one in (pair, password)}


def _web_secrets(address: str) -> set[str]:
    """Give what lets in whoever knows it: user, path and query; those of a database are but names."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return set()
    return {parts.username or "", parts.path, parts.query, f"{parts.path}?{parts.query}"}


class Hider:
    """Takes secrets out of whatever a line of a log is made of."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        forms = {form for secret in secrets for form in _forms(secret) if len(form) >= _LEAST}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def text(self, text: str) -> str:
        """Take secrets out of a text."""
        if self._known is not None:
            text = self._known.sub(HIDDEN, text)
        if _PLAIN.fullmatch(text) and "btb_" not in text:
            return text
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text

    def value(self, value: object, depth: int = 0) -> object:
        """Give a value as JSON can hold it, without secrets."""
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes | bytearray):
            return self.text(bytes(value).decode("utf-8", "backslashreplace"))
        if depth >= _DEEPEST:
            return self.text(_show(value))
        return self._clean_nested(value, depth + 1)

    def fields(self, named: Mapping[Any, object], depth: int = 1) -> dict[str, object]:
        """Give named values without those whose names say that they are secret."""
        return {
            self.text(_name(key)): HIDDEN if _is_sensitive(key) else self.value(one, depth)
            for key, one in named.items()
        }

    def _clean_nested(self, value: object, depth: int) -> object:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {one.name: getattr(value, one.name, None) for one in dataclasses.fields(value)}
        if isinstance(value, Mapping):
            return self.fields(value, depth)
        if isinstance(value, Sequence | AbstractSet):
            if isinstance(value, Sequence) and len(value) == 2 and _is_sensitive(value[0]):
                return [_name(value[0]), HIDDEN]  # a header, as servers pass them on
            return [self.value(one, depth) for one in value]
        return self.text(_show(value))


def _forms(secret: str) -> set[str]:
    """Give the ways in which a secret may be written down."""
    written = {secret, unquote(secret), quote(secret), quote(secret, safe="")}
    return written | {form for one in written for form in (json.dumps(one)[1:-1], repr(one)[1:-1])}


def _is_sensitive(name: object) -> bool:
    return isinstance(name, str | bytes) and _says_secret(_name(name))


@lru_cache(1000)
def _says_secret(name: str) -> bool:
    return bool(_SENSITIVE_NAME.fullmatch(name))


def _name(key: object) -> str:
    return key.decode("utf-8", "backslashreplace") if isinstance(key, bytes) else str(key)


def _show(value: object) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - a value that cannot be shown must not cost the line
        return f"<{type(value).__name__}>"
