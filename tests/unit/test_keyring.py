"""What keys open, from moment to moment and while the database is away."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from tests.contracts.fakes import FakeKeys

from bythebook.domain.records import (
    ApiKey,
    KeyTerms,
    new_secret,
)
from bythebook.errors import RecordsFailed, Unauthorized
from bythebook.operate import keyring
from bythebook.operate.keyring import FRESH_SECONDS, KeyRing

pytestmark = pytest.mark.anyio
START = datetime(2026, 1, 1, tzinfo=UTC)
ASK = KeyTerms("ask")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Keys(FakeKeys):
    """Keys in memory, which can be away or silent."""

    away: bool = False
    silent: bool = False
    lists: int = 0
    finds: int = 0

    async def list(self) -> Sequence[ApiKey]:
        self.lists += 1
        await self._answer()
        return await super().list()

    async def find(self, key_hash: str) -> ApiKey | None:
        self.finds += 1
        await self._answer()
        return await super().find(key_hash)

    async def _answer(self) -> None:
        await asyncio.sleep(600 if self.silent else 0)
        if self.away:
            raise RecordsFailed("away")


@dataclass
class Clock:
    """Time that stands still until it is moved."""

    seconds: float = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ring(keys: Keys, clock: Clock) -> KeyRing:
    return KeyRing(keys, clock=clock.monotonic, now=clock.now)


async def test_without_any_key_the_service_is_open(ring: KeyRing) -> None:
    assert await ring.is_open()
    assert not await ring.has_usable()


async def test_a_service_that_others_reach_is_never_open(keys: Keys) -> None:
    assert not await KeyRing(keys, may_be_open=False).is_open()


async def test_a_key_opens_and_another_does_not(keys: Keys, ring: KeyRing) -> None:
    made = await keys.create(ASK, START)
    assert not await ring.is_open()
    assert await ring.open_with(made.secret) == made.key
    for wrong in (new_secret(), made.secret + "x", made.secret[:-1], "", "\ud800", "btb_"):
        with pytest.raises(Unauthorized):
            await ring.open_with(wrong)


async def test_a_new_key_opens_at_once(keys: Keys, ring: KeyRing, clock: Clock) -> None:
    await keys.create(ASK, START)
    assert not await ring.is_open()
    second = await keys.create(ASK, START)
    clock.seconds += 0.06
    assert await ring.open_with(second.secret) == second.key


async def test_a_revoked_key_is_refused_within_a_second(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    await keys.revoke(made.key.key_id, START)
    clock.seconds += FRESH_SECONDS
    assert FRESH_SECONDS < 1
    with pytest.raises(Unauthorized):
        await ring.open_with(made.secret)
    assert not await ring.is_open()  # there was a key once


async def test_an_expired_key_is_refused_from_its_moment_on(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    made = await keys.create(KeyTerms("ask", expires_at=START + timedelta(seconds=0.1)), START)
    assert await ring.open_with(made.secret) == made.key
    clock.seconds = 0.1
    with pytest.raises(Unauthorized):
        await ring.open_with(made.secret)


async def test_many_requests_share_one_reading(keys: Keys, ring: KeyRing) -> None:
    made = await keys.create(ASK, START)
    await asyncio.gather(*(ring.open_with(made.secret) for _ in range(100)))
    assert keys.lists == 1
    await asyncio.gather(*(ring.open_with(made.secret) for _ in range(100)))
    assert keys.finds <= 100  # the secret is looked up until it is known, and then no more
    before = keys.finds
    await ring.open_with(made.secret)
    assert (keys.lists, keys.finds) == (1, before)


async def test_guessed_keys_cost_the_database_next_to_nothing(keys: Keys, ring: KeyRing) -> None:
    await keys.create(ASK, START)
    for _ in range(100):
        with pytest.raises(Unauthorized):
            await ring.open_with(new_secret())
    assert keys.lists <= 2
    assert keys.finds == 0
    assert not ring._owners  # nothing of them is kept


async def test_with_the_database_away_known_keys_open_as_before(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    made = await keys.create(ASK, START)
    revoked = await keys.create(ASK, START)
    await keys.revoke(revoked.key.key_id, START)
    unused = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    keys.away = True
    clock.seconds += 86_400
    assert await ring.open_with(made.secret) == made.key
    assert not await ring.is_open()
    with pytest.raises(Unauthorized):
        await ring.open_with(revoked.secret)
    for secret in (unused.secret, new_secret()):  # nobody can tell what they open
        with pytest.raises(RecordsFailed):
            await ring.open_with(secret)


async def test_an_open_service_stays_open_while_the_database_is_away(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    assert await ring.is_open()
    keys.away = True
    clock.seconds += 3600
    assert await ring.is_open()


async def test_with_the_database_away_from_the_start_nothing_is_open(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    keys.away = True
    for _ in range(2):
        with pytest.raises(RecordsFailed):
            await ring.is_open()
        clock.seconds += 5
    assert await ring.origins() == frozenset()
    keys.away = False
    assert await ring.is_open()


async def test_once_the_database_is_back_it_is_believed_again(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    keys.away = True
    clock.seconds += 10
    await ring.open_with(made.secret)
    await keys.revoke(made.key.key_id, START)
    keys.away = False
    clock.seconds += FRESH_SECONDS
    with pytest.raises(Unauthorized):
        await ring.open_with(made.secret)


async def test_a_silent_database_is_waited_for_briefly_and_once(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    assert keyring._PATIENCE_SECONDS < 0.5
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    keys.silent = True
    clock.seconds += FRESH_SECONDS
    async with asyncio.timeout(60):
        assert await ring.open_with(made.secret) == made.key
    clock.seconds += keyring._PATIENCE_SECONDS  # which is what that took
    for _ in range(3):
        opened = asyncio.create_task(ring.open_with(made.secret))
        for _ in range(10):
            await asyncio.sleep(0)
        assert opened.result() == made.key


async def test_origins_are_those_of_usable_keys(keys: Keys, ring: KeyRing, clock: Clock) -> None:
    await keys.create(KeyTerms("ask", origins=("https://a", "https://b")), START)
    gone = await keys.create(KeyTerms("ask", origins=("https://c",)), START)
    await keys.create(KeyTerms("ask", origins=("https://d",), expires_at=START), START)
    await keys.create(ASK, START)
    await keys.revoke(gone.key.key_id, START)
    assert await ring.origins() == {"https://a", "https://b"}


async def test_a_service_that_could_never_read_its_keys_is_not_sound(
    ring: KeyRing, keys: Keys, clock: Clock
) -> None:
    keys.away = True
    with pytest.raises(RecordsFailed):
        await ring.check()
    keys.away = False
    clock.seconds += FRESH_SECONDS
    await ring.check()
    keys.away = True
    clock.seconds += FRESH_SECONDS
    await ring.check()  # what it knew lasts
