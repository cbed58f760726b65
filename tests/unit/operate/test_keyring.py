"""What keys open, from moment to moment and while the database is away."""

import asyncio
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from tests.contracts.fakes import FakeKeys

from bythebook.domain.records import (
    ApiKey,
    KeyTerms,
    new_secret,
)
from bythebook.errors import RecordsFailed, Unauthorized
from bythebook.operate.access.keyring import KeyRing
from bythebook.operate.access.latest_keys import KEY_TIMES, KeyTimes

pytestmark = pytest.mark.anyio
START = datetime(2026, 1, 1, tzinfo=UTC)
ASK = KeyTerms("ask")
SITE = "https://site.example"


async def settle() -> None:
    """Let all tasks run as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Keys(FakeKeys):
    """Keys in memory, which can be away or silent, or answer when they are let."""

    away: bool = False
    silent: bool = False
    held: asyncio.Event | None = None  # what a list waits for
    given_up: asyncio.Event = field(default_factory=asyncio.Event)
    lists: int = 0
    finds: int = 0

    async def list(self) -> Sequence[ApiKey]:
        self.lists += 1
        found = await super().list()  # as a database does: what changes from here on is not seen
        held = self.held
        await self._answer()
        if held is not None:
            await held.wait()
        return found

    async def find(self, key_hash: str) -> ApiKey | None:
        self.finds += 1
        await self._answer()
        return await super().find(key_hash)

    def give_up(self) -> None:
        """Fail what is waited for in silence, as a time limit of the adapter does."""
        self.given_up.set()
        self.given_up = asyncio.Event()

    async def _answer(self) -> None:
        await asyncio.sleep(0)
        if self.silent:
            await self.given_up.wait()
            raise RecordsFailed("silent")
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
    clock.seconds += KEY_TIMES.fresh
    assert KEY_TIMES.fresh < 1
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


async def test_guessed_keys_cost_the_database_next_to_nothing(keys: Keys) -> None:
    await keys.create(ASK, START)
    ring = KeyRing(keys)
    guesses = (ring.open_with(new_secret()) for _ in range(100))
    ends = await asyncio.gather(*guesses, return_exceptions=True)
    assert all(isinstance(end, Unauthorized) for end in ends)
    assert (
        keys.lists < 10
    )  # one read for the first, one for all the others, unless a machine is slow
    assert keys.finds == 0
    assert not ring._owners  # nothing of them is kept


async def test_however_fast_keys_are_guessed_the_database_has_its_rest(keys: Keys) -> None:
    began: list[float] = []

    class Noting(Keys):
        async def list(self) -> Sequence[ApiKey]:
            began.append(asyncio.get_running_loop().time())
            return await super().list()

    noting = Noting()
    await noting.create(ASK, START)
    ring = KeyRing(noting)
    for _ in range(10):
        with pytest.raises(Unauthorized):
            await ring.open_with(new_secret())
    rests = [later - earlier for earlier, later in itertools.pairwise(began)]
    assert len(rests) >= 9
    assert min(rests) > 0.9 * KEY_TIMES.pace


async def test_nobody_is_let_in_by_what_was_known_while_it_is_read_again(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    await keys.revoke(made.key.key_id, START)
    clock.seconds += 8
    keys.held = asyncio.Event()
    opened = [asyncio.create_task(ring.open_with(made.secret)) for _ in range(6)]
    await settle()
    assert keys.lists == 2
    assert not any(one.done() for one in opened)
    keys.held.set()
    ends = await asyncio.gather(*opened, return_exceptions=True)
    assert all(isinstance(end, Unauthorized) for end in ends)
    assert keys.lists == 2


async def test_a_read_that_began_too_early_serves_only_those_who_came_early(
    keys: Keys, ring: KeyRing, clock: Clock
) -> None:
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    clock.seconds += KEY_TIMES.fresh
    slow = keys.held = asyncio.Event()
    early = asyncio.create_task(ring.open_with(made.secret))
    await settle()
    await keys.revoke(made.key.key_id, START)
    clock.seconds += KEY_TIMES.fresh
    keys.held = None
    late = [asyncio.create_task(ring.open_with(made.secret)) for _ in range(3)]
    await settle()
    assert keys.lists == 2  # one at a time
    slow.set()
    assert await early == made.key
    ends = await asyncio.gather(*late, return_exceptions=True)
    assert all(isinstance(end, Unauthorized) for end in ends)
    assert keys.lists == 3


async def test_a_new_key_and_its_origin_are_known_to_all_who_come_at_once(
    keys: Keys, ring: KeyRing
) -> None:
    assert await ring.is_open()  # what is known is as fresh as can be
    slow = keys.held = asyncio.Event()
    unaware = asyncio.create_task(ring.allows_origin(SITE))
    await asyncio.sleep(2 * KEY_TIMES.pace)
    assert keys.lists == 2
    made = await keys.create(KeyTerms("ask", origins=(SITE,)), START)
    keys.held = None
    allowed = [asyncio.create_task(ring.allows_origin(SITE)) for _ in range(4)]
    opened = [asyncio.create_task(ring.open_with(made.secret)) for _ in range(4)]
    await asyncio.sleep(2 * KEY_TIMES.pace)
    slow.set()
    assert await asyncio.gather(*allowed) == [True] * 4
    assert await asyncio.gather(*opened) == [made.key] * 4
    assert not await unaware


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
    assert not await ring.allows_origin(SITE)
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
    clock.seconds += KEY_TIMES.fresh
    with pytest.raises(Unauthorized):
        await ring.open_with(made.secret)


async def test_a_silent_database_is_waited_for_once_and_then_briefly(
    keys: Keys, clock: Clock
) -> None:
    times = KeyTimes(patience=0.2, brief_patience=0.1)
    ring = KeyRing(keys, clock=clock.monotonic, now=clock.now, times=times)
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    keys.silent = True
    for patience in (0.2, 0.1, 0.1):
        clock.seconds += KEY_TIMES.fresh
        waiting = asyncio.create_task(ring.open_with(made.secret))
        await asyncio.sleep(patience / 2)
        assert not waiting.done()
        async with asyncio.timeout(60):
            assert await waiting == made.key
        clock.seconds += patience  # which is what that took
        for _ in range(3):
            opened = asyncio.create_task(ring.open_with(made.secret))
            await settle()
            assert opened.result() == made.key
        keys.give_up()
        await settle()


async def test_a_database_that_is_back_is_waited_for_again(keys: Keys, clock: Clock) -> None:
    times = KeyTimes(brief_patience=0.0)
    ring = KeyRing(keys, clock=clock.monotonic, now=clock.now, times=times)
    made = await keys.create(ASK, START)
    await ring.open_with(made.secret)
    keys.away = True
    clock.seconds += KEY_TIMES.fresh
    assert await ring.open_with(made.secret) == made.key
    keys.away = False
    await keys.revoke(made.key.key_id, START)
    keys.held = asyncio.Event()
    clock.seconds += KEY_TIMES.fresh
    assert await ring.open_with(made.secret) == made.key  # it does not wait, but has it read
    keys.held.set()
    await settle()
    keys.held = asyncio.Event()
    clock.seconds += KEY_TIMES.fresh
    waiting = asyncio.create_task(ring.open_with(made.secret))
    await settle()
    assert not waiting.done()
    keys.held.set()
    with pytest.raises(Unauthorized):
        await waiting


async def test_a_silent_database_at_the_start_is_an_error_in_the_end(keys: Keys) -> None:
    keys.silent = True
    async with asyncio.timeout(60):
        with pytest.raises(RecordsFailed):
            await KeyRing(keys, times=KeyTimes(first_patience=0.05)).is_open()


async def test_only_origins_of_usable_keys_are_allowed(keys: Keys, ring: KeyRing) -> None:
    await keys.create(KeyTerms("ask", origins=("https://a", "https://b")), START)
    gone = await keys.create(KeyTerms("ask", origins=("https://c",)), START)
    await keys.create(KeyTerms("ask", origins=("https://d",), expires_at=START), START)
    await keys.create(ASK, START)
    await keys.revoke(gone.key.key_id, START)
    allowed = [one for one in "abcde" if await ring.allows_origin(f"https://{one}")]
    assert allowed == ["a", "b"]


async def test_a_service_that_could_never_read_its_keys_is_not_sound(
    ring: KeyRing, keys: Keys, clock: Clock
) -> None:
    keys.away = True
    with pytest.raises(RecordsFailed):
        await ring.check()
    keys.away = False
    clock.seconds += KEY_TIMES.fresh
    await ring.check()
    keys.away = True
    clock.seconds += KEY_TIMES.fresh
    await ring.check()  # what it knew lasts
