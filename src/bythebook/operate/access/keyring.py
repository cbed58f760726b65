"""Whether keys are needed, and what a secret gives access to."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from bythebook.domain.records import ApiKey, key_hash, key_prefix
from bythebook.errors import RecordsFailed, Unauthorized
from bythebook.operate.access.latest_keys import KEY_TIMES, KeyTimes, KnownKeys, LatestKeys
from bythebook.ports import KeyStore

_UNKNOWN = "The key is unknown, revoked or expired."


class KeyRing:
    """Knows whether keys are needed and what a secret gives access to.

    Which key a secret belongs to never changes and is looked up once; what the key allows is read
    again with all others twice a second. A secret or an origin that is not known is answered from a
    read that began after it came, so that a new key works at once.
    """

    def __init__(
        self,
        store: KeyStore,
        *,
        may_be_open: bool = True,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        times: KeyTimes = KEY_TIMES,
    ) -> None:
        self._store = store
        self._latest = LatestKeys(store, clock, times)
        self._fresh = times.fresh
        self._may_be_open = may_be_open
        self._now = now
        self._owners: dict[str, UUID] = {}  # of secrets, by their hash

    async def is_open(self) -> bool:
        """Return True if no key was ever made; raise RecordsFailed if that was never known."""
        known = await self._latest.at_most(self._fresh)
        return self._may_be_open and not known.keys

    async def open_with(self, secret: str) -> ApiKey:
        """Return the usable key of a secret, or raise Unauthorized; RecordsFailed if keys are unreadable."""
        known = await self._latest.at_most(self._fresh)
        hashed, prefix = key_hash(secret), key_prefix(secret)
        owner = self._owners.get(hashed)
        if owner is None:
            if not known.of_prefix(prefix):
                known = await self._latest.newest()
            owner = await self._look_up(hashed, prefix, known)
        key = known.keys.get(owner)
        if key is None or not key.usable_at(self._now()):
            raise Unauthorized(_UNKNOWN)
        return key

    async def allows_origin(self, origin: str) -> bool:
        """Return True if a usable key is bound to this origin; False while that is not known."""
        try:
            known = await self._latest.at_most(self._fresh)
            if origin not in self._origins(known):
                known = await self._latest.newest()
        except RecordsFailed:
            return False
        return origin in self._origins(known)

    async def check(self) -> None:
        """Raise RecordsFailed while keys cannot be read."""
        await self._latest.at_most(self._fresh)

    async def has_usable(self) -> bool:
        """Return True if there is a usable key."""
        known = await self._latest.at_most(self._fresh)
        return any(key.usable_at(self._now()) for key in known.keys.values())

    def _origins(self, known: KnownKeys) -> frozenset[str]:
        now = self._now()
        usable = (key.terms.origins or () for key in known.keys.values() if key.usable_at(now))
        return frozenset(origin for origins in usable for origin in origins)

    async def _look_up(self, hashed: str, prefix: str, known: KnownKeys) -> UUID:
        if not any(key.usable_at(self._now()) for key in known.of_prefix(prefix)):
            raise Unauthorized(_UNKNOWN)
        found = await self._store.find(hashed)
        if found is None:
            raise Unauthorized(_UNKNOWN)
        self._owners[hashed] = found.key_id
        return found.key_id
