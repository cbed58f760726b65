"""The first key of a service that starts where nobody can run `keys create`, as in a container."""

import re
from datetime import datetime
from pathlib import Path

from bythebook.domain.records import KeyTerms, key_hash
from bythebook.errors import InputError, RecordsFailed
from bythebook.ports import KeyStore

_SECRET = re.compile(r"[!-~]{32,200}")
_HELP = "Make one with `openssl rand -hex 32`."


def read_first_key(value: str, file: Path | None) -> str:
    """Return the key that the settings give, by value or in a file; empty if they give none."""
    if value and file:
        raise InputError(
            "The first key is given twice.",
            "Set BYTHEBOOK_FIRST_KEY or BYTHEBOOK_FIRST_KEY_FILE, not both.",
        )
    if file is not None:
        value = _read(file)
    if (value or file) and not _SECRET.fullmatch(value):
        raise InputError("The first key must be 32 to 200 characters without spaces.", _HELP)
    return value


async def provide_first_key(store: KeyStore, secret: str, now: datetime) -> bool:
    """Make a key of this secret; False if it was made before, even if it was revoked since."""
    if await store.find(key_hash(secret)):
        return False
    try:
        await store.create(KeyTerms("admin"), now, secret)
    except RecordsFailed:
        if await store.find(key_hash(secret)):  # another process that starts made it just now
            return False
        raise
    return True


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"The first key cannot be read from {file}: {why}.", _HELP) from error
