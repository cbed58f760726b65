"""`keys`: makes, lists and revokes keys."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import typer

from bythebook.bootstrap import Core
from bythebook.cli.core import open_core
from bythebook.cli.terminal import out, say
from bythebook.domain.records import ApiKey, IssuedKey, KeyScope, KeyTerms, key_hash
from bythebook.errors import InputError

app = typer.Typer(help="Make, list and revoke keys to the service.", no_args_is_help=True)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]")
_UNBOUND = {"books": "all", "origins": "any", "limit": "default", "expires": "never"}
Json = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


@app.command()
def create(
    scope: Annotated[
        Literal["ask", "admin"],
        typer.Option(
            help="What it allows: asking, or everything, including the operator's routes."
        ),
    ],
    book: Annotated[
        list[str] | None, typer.Option(help="Id of a book it may read; default: all. Repeatable.")
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="Site whose pages may use it, as https://site.example. Repeatable."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help="Requests per minute; 0: no limit; default: BYTHEBOOK_LIMIT_KEY.",
            min=0,
            max=10**9,
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it expires: 30d, or a day (UTC) such as 2027-01-01.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key, and print its secret. It is shown only once; only its hash is stored."""
    now = datetime.now(UTC)
    with open_core() as core:
        terms = KeyTerms(
            scope,
            _require_books(core, book or ()),
            _origins(scope, origin or ()),
            limit,
            _expiry(expires, now) if expires else None,
        )
        issued = asyncio.run(_create(core, terms, now))
    if as_json:
        out.print_json(json.dumps(_values(issued.key, now) | {"key": issued.secret}))
        return
    say("The key, which is shown only now:")
    say(f"  {issued.secret}", "bold")
    say(
        f"Send it as `Authorization: Bearer ...` or `X-API-Key: ...`. Its id is {issued.key.key_id}."
    )
    say("From now on every request to the service needs a key.")


@app.command("list")
def list_keys(as_json: Json = False) -> None:
    """List all keys, including revoked and expired ones."""
    with open_core() as core:
        found = asyncio.run(_list(core))
    now = datetime.now(UTC)
    if as_json:
        out.print_json(json.dumps([_values(key, now) for key in found]))
    elif found:
        for line in _lines(found, now):
            say(line)
    else:
        say("There is no key: the service is open, and listens on this machine only.")
        say("Make one: bythebook keys create --scope ask")


@app.command()
def revoke(
    key: Annotated[
        str, typer.Argument(help="Id or prefix, as `keys list` shows them, or the key itself.")
    ],
) -> None:
    """Revoke a key for good, within a second."""
    now = datetime.now(UTC)
    with open_core() as core:
        found, left = asyncio.run(_revoke(core, key, now))
    if found.revoked_at is not None:
        say(f"{found.prefix} was revoked already.")
    else:
        say(f"Revoked {found.prefix} ({found.key_id}).")
    if not left:
        say("No usable key is left: the service rejects every request until you make one.")


async def _create(core: Core, terms: KeyTerms, now: datetime) -> IssuedKey:
    async with core.keys() as store:
        return await store.create(terms, now)


async def _list(core: Core) -> Sequence[ApiKey]:
    async with core.keys() as store:
        return await store.list()


async def _revoke(core: Core, name: str, now: datetime) -> tuple[ApiKey, int]:
    """Return the key as it was, and how many usable keys are left."""
    async with core.keys() as store:
        keys = await store.list()
        found = await store.find(key_hash(name)) or _find_key(keys, name)
        await store.revoke(found.key_id, now)
    return found, sum(key.usable_at(now) for key in keys if key.key_id != found.key_id)


def _find_key(keys: Sequence[ApiKey], name: str) -> ApiKey:
    """Find a key by its id or prefix, or by an unambiguous beginning of either."""
    exact = [key for key in keys if name in {str(key.key_id), key.prefix}]
    found = exact or [
        key
        for key in keys
        if name and (str(key.key_id).startswith(name) or key.prefix.startswith(name))
    ]
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} keys begin with that." if found else "There is no such key."
    raise InputError(what, "Give an id or a prefix, as `bythebook keys list` shows them.")


def _require_books(core: Core, names: Sequence[str]) -> tuple[str, ...] | None:
    """Raise UnknownBook for a missing book; a misspelt id would make a useless key."""
    for name in names:
        core.library.book(name)
    return tuple(dict.fromkeys(names)) or None


def _origins(scope: KeyScope, names: Sequence[str]) -> tuple[str, ...] | None:
    if names and scope == "admin":
        raise InputError(
            "A key of scope admin does not belong in a page.", "Use --origin with --scope ask."
        )
    return tuple(dict.fromkeys(_origin(name) for name in names)) or None


def _origin(text: str) -> str:
    """Return an origin as browsers send it."""
    wrong = InputError(
        f"{text!r} is not an origin.",
        "Write it without a path, as https://site.example or http://localhost:3000; a name in other "
        "letters as browsers send it, with xn--.",
    )
    try:
        parts = urlsplit(text.strip().lower())
        port = parts.port
    except ValueError as error:
        raise wrong from error
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    origin = f"{parts.scheme}://{parts.netloc}"
    plain = text.strip().lower() == origin and parts.scheme in _DEFAULT_PORTS
    if not plain or not _HOST.fullmatch(host):
        raise wrong
    shown = "" if port in {None, _DEFAULT_PORTS[parts.scheme]} else f":{port}"
    return f"{parts.scheme}://{host}{shown}"


def _expiry(text: str, now: datetime) -> datetime:
    days = re.fullmatch(r"([0-9]{1,5})d", text.strip())
    try:
        if days:
            ends = now + timedelta(days=int(days[1]))
        else:
            ends = datetime.strptime(text.strip(), "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError(
            f"{text!r} is no time for a key to end.",
            "Write 30d for 30 days, or a day as 2027-01-01.",
        ) from error
    if ends <= now:
        raise InputError(f"{text} is not in the future.", "A key must end later than now.")
    return ends


def _state(key: ApiKey, now: datetime) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "usable" if key.usable_at(now) else "expired"


def _values(key: ApiKey, now: datetime) -> dict[str, Any]:
    terms = key.terms
    return {
        "id": str(key.key_id),
        "prefix": key.prefix,
        "scope": terms.scope,
        "books": terms.books,
        "origins": terms.origins,
        "limit": terms.limit_per_minute,
        "created": key.created_at.isoformat(timespec="seconds"),
        "expires": terms.expires_at.isoformat(timespec="seconds") if terms.expires_at else None,
        "state": _state(key, now),
    }


def _lines(keys: Sequence[ApiKey], now: datetime) -> Iterator[str]:
    """Print a table without wrapping, so that an id in it can be copied."""
    values = [_values(key, now) for key in keys]
    rows = [tuple(values[0]), *(tuple(_cell(*pair) for pair in row.items()) for row in values)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _cell(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    if name == "limit" and value == 0:
        return "none"
    return _UNBOUND.get(name, "") if value is None else str(value)
