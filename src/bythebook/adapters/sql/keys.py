"""Keys to the service."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, insert, literal, select, update

from bythebook.adapters.sql.database import SqlRecords, carried_through
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
    """Keeps keys by the hash of their secret."""

    @carried_through
    async def create(self, terms: KeyTerms, now: datetime) -> IssuedKey:
        """Make a key; its secret is given here and never again."""
        secret = new_secret()
        key = ApiKey(uuid.uuid4(), key_prefix(secret), terms, now)
        row = asdict(terms) | {
            "key_id": key.key_id,
            "prefix": key.prefix,
            "key_hash": key_hash(secret),
            "created_at": now,
        }
        async with self.database.writing() as connection:
            await connection.execute(insert(api_keys).values(row))
        return IssuedKey(key, secret)

    @carried_through
    async def list(self) -> Sequence[ApiKey]:
        """Give all keys, revoked and expired ones too, oldest first."""
        in_order = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
        async with self.database.reading() as connection:
            return [_key(row) for row in await connection.execute(in_order)]

    @carried_through
    async def revoke(self, key_id: uuid.UUID, now: datetime) -> bool:
        """Make a key useless for good; False if there is none of that id."""
        first = func.coalesce(api_keys.c.revoked_at, literal(now, UtcTime()))
        async with self.database.writing() as connection:
            changed = await connection.execute(
                update(api_keys).where(api_keys.c.key_id == key_id).values(revoked_at=first)
            )
        return changed.rowcount > 0

    @carried_through
    async def find(self, key_hash: str) -> ApiKey | None:
        """Give the key of a hash, usable or not."""
        async with self.database.reading() as connection:
            found = await connection.execute(
                select(api_keys).where(api_keys.c.key_hash == key_hash)
            )
            row = found.one_or_none()
        return _key(row) if row else None


def _key(row: Row[Any]) -> ApiKey:
    terms = KeyTerms(
        scope=row.scope,
        books=None if row.books is None else tuple(row.books),
        origins=None if row.origins is None else tuple(row.origins),
        limit_per_minute=row.limit_per_minute,
        expires_at=row.expires_at,
    )
    return ApiKey(row.key_id, row.prefix, terms, row.created_at, row.revoked_at)
