"""The KeyStore port: keys to the service."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, insert, literal, select, update

from bythebook.adapters.sql.engine.database import SqlRecords, uncancellable
from bythebook.adapters.sql.tables import UtcTime, api_keys
from bythebook.domain.records import (
    ApiKey,
    IssuedKey,
    KeyTerms,
    key_hash,
    key_prefix,
    new_secret,
)


class SqlKeyStore(SqlRecords):
    """Stores keys by the hash of their secret."""

    @uncancellable
    async def create(self, terms: KeyTerms, now: datetime, secret: str | None = None) -> IssuedKey:
        """Create a key, of a new secret unless one is given; it is returned only here."""
        secret = secret or new_secret()
        key = ApiKey(uuid.uuid4(), key_prefix(secret), terms, now)
        row = asdict(terms) | {
            "key_id": key.key_id,
            "prefix": key.prefix,
            "key_hash": key_hash(secret),
            "created_at": now,
        }
        async with self.database.begin_write() as connection:
            await connection.execute(insert(api_keys).values(row))
        return IssuedKey(key, secret)

    @uncancellable
    async def list(self) -> Sequence[ApiKey]:
        """Return all keys, including revoked and expired ones, oldest first."""
        in_order = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
        async with self.database.begin_read() as connection:
            return [_read_key(row) for row in await connection.execute(in_order)]

    @uncancellable
    async def revoke(self, key_id: uuid.UUID, now: datetime) -> bool:
        """Revoke a key permanently; False if there is no such key."""
        first = func.coalesce(api_keys.c.revoked_at, literal(now, UtcTime()))
        async with self.database.begin_write() as connection:
            changed = await connection.execute(
                update(api_keys).where(api_keys.c.key_id == key_id).values(revoked_at=first)
            )
        return changed.rowcount > 0

    @uncancellable
    async def find(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash, usable or not."""
        async with self.database.begin_read() as connection:
            found = await connection.execute(
                select(api_keys).where(api_keys.c.key_hash == key_hash)
            )
            row = found.one_or_none()
        return _read_key(row) if row else None


def _read_key(row: Row[Any]) -> ApiKey:
    terms = KeyTerms(
        scope=row.scope,
        books=None if row.books is None else tuple(row.books),
        origins=None if row.origins is None else tuple(row.origins),
        limit_per_minute=row.limit_per_minute,
        expires_at=row.expires_at,
    )
    return ApiKey(row.key_id, row.prefix, terms, row.created_at, row.revoked_at)
