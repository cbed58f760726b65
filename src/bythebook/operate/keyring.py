"""Keys, as last read: a moment old while the database answers, the last known while it does not."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from bythebook.domain.records import ApiKey, key_hash, key_prefix
from bythebook.errors import RecordsFailed, Unauthorized
from bythebook.ports import KeyStore

FRESH_SECONDS = 0.5  # so that a revoked key is refused within a second
_NEW_KEY_SECONDS = 0.05  # so that a key opens as soon as it was made, however many guess keys
_PATIENCE_SECONDS = 0.4  # of a request that can do with what was known before
_UNKNOWN = "The key is unknown, revoked or expired."


@dataclass(frozen=True, slots=True)
class _Known:
    """All keys, when they were read."""

    keys: Mapping[UUID, ApiKey]
    read_at: float

    def of_prefix(self, prefix: str) -> list[ApiKey]:
        return [key for key in self.keys.values() if key.prefix == prefix]


class KeyRing:
    """Tells whether keys are needed and what a secret opens.

    Which key a secret belongs to never changes and is looked up once; what the key allows is read
    anew with all others, at most twice a second however many ask.
    """

    def __init__(
        self,
        store: KeyStore,
        *,
        may_be_open: bool = True,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._may_be_open = may_be_open
        self._clock = clock
        self._now = now
        self._known: _Known | None = None
        self._tried_at = float("-inf")
        self._reading: asyncio.Task[_Known] | None = None
        self._owners: dict[str, UUID] = {}  # of secrets, by their hash

    async def is_open(self) -> bool:
        """Whether no key was ever made; raises RecordsFailed where that was never known."""
        known = await self._keys(FRESH_SECONDS)
        return self._may_be_open and not known.keys

    async def open_with(self, secret: str) -> ApiKey:
        """Give the usable key of a secret, or raise Unauthorized; RecordsFailed if it cannot be told."""
        known = await self._keys(FRESH_SECONDS)
        hashed, prefix = key_hash(secret), key_prefix(secret)
        owner = self._owners.get(hashed)
        if owner is None:
            if not known.of_prefix(prefix):
                known = await self._keys(_NEW_KEY_SECONDS)
            owner = await self._look_up(hashed, prefix, known)
        key = known.keys.get(owner)
        if key is None or not key.usable_at(self._now()):
            raise Unauthorized(_UNKNOWN)
        return key

    async def origins(self) -> frozenset[str]:
        """Give the origins of all usable keys; none while that cannot be told."""
        try:
            known = await self._keys(FRESH_SECONDS)
        except RecordsFailed:
            return frozenset()
        now = self._now()
        usable = (key.terms.origins or () for key in known.keys.values() if key.usable_at(now))
        return frozenset(origin for origins in usable for origin in origins)

    async def check(self) -> None:
        """Raise RecordsFailed while no key can be told from another."""
        await self._keys(FRESH_SECONDS)

    async def has_usable(self) -> bool:
        """Whether there is a key that opens anything."""
        known = await self._keys(FRESH_SECONDS)
        return any(key.usable_at(self._now()) for key in known.keys.values())

    async def _look_up(self, hashed: str, prefix: str, known: _Known) -> UUID:
        named = known.of_prefix(prefix)
        if not named and known.read_at < self._tried_at:  # reading failed: it may be a new key
            raise RecordsFailed("The keys cannot be read.", "Try again.")
        if not any(key.usable_at(self._now()) for key in named):
            raise Unauthorized(_UNKNOWN)
        found = await self._store.find(hashed)
        if found is None:
            raise Unauthorized(_UNKNOWN)
        self._owners[hashed] = found.key_id
        return found.key_id

    async def _keys(self, most_seconds: float) -> _Known:
        """Give all keys, read again if what is known is older; one attempt serves all who wait."""
        known, now = self._known, self._clock()
        if known is not None and now - self._tried_at < most_seconds:
            return known
        if self._reading is None or self._reading.done():
            self._tried_at = now
            self._reading = asyncio.create_task(self._read(now))
            self._reading.add_done_callback(_note)
        reading = asyncio.shield(self._reading)
        if known is None:
            return await reading
        patience = self._tried_at + _PATIENCE_SECONDS - now  # a silent database is waited for once
        try:
            return await asyncio.wait_for(reading, max(0.0, patience))
        except (RecordsFailed, TimeoutError):
            return known

    async def _read(self, began: float) -> _Known:
        keys = {key.key_id: key for key in await self._store.list()}
        self._known = _Known(keys, began)
        return self._known


def _note(reading: asyncio.Task[_Known]) -> None:
    """Take the failure of an attempt that nobody waits for any more."""
    if not reading.cancelled():
        reading.exception()
