"""Timeouts, retries and breakers, in a time of their own; no test sleeps for what it proves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic

import pytest

from bythebook.adapters.providers.breaker import MOST_UNANSWERED
from bythebook.adapters.providers.resilience import EMBEDDER, MODEL, STORE, Policy, Provider
from bythebook.errors import (
    EmbedderFailed,
    ModelFailed,
    ModelTimeout,
    PartFailed,
    StoreFailed,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Time:
    """A clock that moves only when somebody sleeps by it."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class Upstream:
    """Fails by a script, and counts calls."""

    def __init__(self, *failures: PartFailed | None) -> None:
        self.failures = list(failures)
        self.down: PartFailed | None = None
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        failure = self.failures.pop(0) if self.failures else self.down
        if failure is not None:
            raise type(failure)(failure.what, retry_after=failure.retry_after)
        return "an answer"


def make_lasting_failure(what: str = "wrong key") -> EmbedderFailed:
    failure = EmbedderFailed(what)
    failure.retryable = False
    return failure


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def embedder(time: Time) -> Provider:
    return Provider("Cohere", EmbedderFailed, EMBEDDER, time.clock, time.sleep)


@pytest.fixture
def once(time: Time) -> Provider:
    """One that is never tried again, so that each call is one attempt."""
    return Provider("Cohere", EmbedderFailed, Policy(timeout=10), time.clock, time.sleep)


async def fails(call: Awaitable[object]) -> PartFailed:
    with pytest.raises(PartFailed) as caught:
        await call
    return caught.value


def test_the_policies_are_those_of_the_contracts() -> None:
    assert (STORE.timeout, STORE.waits) == (5, (2,))
    assert (EMBEDDER.timeout, EMBEDDER.waits) == (10, (0.5, 1.0))
    assert (MODEL.timeout, MODEL.first_token, MODEL.gap, MODEL.waits) == (30, 20, 15, ())


async def test_gives_what_the_attempt_gives(embedder: Provider) -> None:
    assert await embedder.call("embed", Upstream()) == "an answer"


async def test_tries_again_with_growing_pauses(embedder: Provider, time: Time) -> None:
    upstream = Upstream(EmbedderFailed("500"), EmbedderFailed("500"))
    assert await embedder.call("embed", upstream) == "an answer"
    assert (upstream.calls, time.slept) == (3, [0.5, 1.0])


async def test_gives_up_after_the_retries_of_its_policy(embedder: Provider) -> None:
    upstream = Upstream(*[EmbedderFailed("500")] * 3)
    assert (await fails(embedder.call("embed", upstream))).what == "500"
    assert upstream.calls == 3


async def test_what_only_a_person_can_put_right_is_not_tried_again(
    embedder: Provider, time: Time
) -> None:
    tries = 0

    async def refuse() -> None:
        nonlocal tries
        tries += 1
        raise make_lasting_failure()

    for _ in range(7):
        await fails(embedder.call("embed", refuse))
    assert (tries, time.slept) == (7, [])
    assert await embedder.call("embed", Upstream()) == "an answer", "the breaker must be closed"


async def test_a_retry_after_is_waited_for(embedder: Provider, time: Time) -> None:
    upstream = Upstream(EmbedderFailed("429", retry_after=4))
    assert await embedder.call("embed", upstream) == "an answer"
    assert time.slept == [4]


async def test_a_long_retry_after_is_passed_on(embedder: Provider, time: Time) -> None:
    upstream = Upstream(EmbedderFailed("429", retry_after=40))
    assert (await fails(embedder.call("embed", upstream))).retry_after == 40
    assert (upstream.calls, time.slept) == (1, [])


async def test_ingest_has_the_patience_for_a_long_retry_after(
    embedder: Provider, time: Time
) -> None:
    upstream = Upstream(EmbedderFailed("429", retry_after=40))
    assert await embedder.call("embed", upstream, longest_wait=60) == "an answer"
    assert time.slept == [40]


async def test_nobody_calls_before_the_time_that_a_provider_named(
    once: Provider, time: Time
) -> None:
    await fails(once.call("embed", Upstream(EmbedderFailed("429", retry_after=7))))
    upstream = Upstream()
    time.now += 5
    refused = await fails(once.call("embed", upstream))
    assert (refused.retry_after, upstream.calls) == (2, 0)
    time.now += 2
    assert await once.call("embed", upstream) == "an answer"


async def test_who_is_refused_does_not_wait_however_little_is_left(
    embedder: Provider, time: Time
) -> None:
    await fails(embedder.call("embed", Upstream(EmbedderFailed("429", retry_after=40))))
    time.now += 38
    assert (await fails(embedder.call("embed", Upstream()))).retry_after == 2
    assert time.slept == []


async def test_an_answer_that_was_on_its_way_does_not_end_the_wait(once: Provider) -> None:
    release = asyncio.Event()

    async def slow() -> str:
        await release.wait()
        return "an answer"

    on_its_way = asyncio.create_task(once.call("embed", slow))
    await asyncio.sleep(0)
    await fails(once.call("embed", Upstream(EmbedderFailed("429", retry_after=7))))
    release.set()
    assert await on_its_way == "an answer"
    assert (await fails(once.call("embed", Upstream()))).retry_after == 7


async def test_the_breaker_opens_after_five_failures_in_a_row(once: Provider) -> None:
    upstream = Upstream()
    upstream.down = EmbedderFailed("500")
    for _ in range(4):
        assert (await fails(once.call("embed", upstream))).retry_after is None
    assert (await fails(once.call("embed", upstream))).retry_after == 30
    refused = await fails(once.call("embed", upstream))
    assert isinstance(refused, EmbedderFailed)
    assert (upstream.calls, refused.retry_after) == (5, 30)
    assert "500" in refused.what, "an operator learns why"


async def test_an_answer_between_failures_keeps_the_breaker_closed(once: Provider) -> None:
    upstream = Upstream(*[EmbedderFailed("500")] * 4, None, *[EmbedderFailed("500")] * 4)
    for _ in range(9):
        try:
            await once.call("embed", upstream)
        except EmbedderFailed:
            continue
    assert await once.call("embed", upstream) == "an answer"


async def open_breaker(provider: Provider) -> None:
    upstream = Upstream(*[EmbedderFailed("500")] * 5)
    for _ in range(5):
        await fails(provider.call("embed", upstream))


async def test_after_half_a_minute_one_trial_at_a_time_goes_through(
    once: Provider, time: Time
) -> None:
    await open_breaker(once)
    time.now += 29.5
    assert (await fails(once.call("embed", Upstream()))).retry_after == 1
    time.now += 0.5
    release = asyncio.Event()

    async def slow() -> str:
        await release.wait()
        return "an answer"

    trial = asyncio.create_task(once.call("embed", slow))
    await asyncio.sleep(0)
    upstream = Upstream()
    await fails(once.call("embed", upstream))
    assert upstream.calls == 0
    release.set()
    assert await trial == "an answer"
    assert await once.call("embed", upstream) == "an answer"


async def test_a_failed_trial_means_another_half_minute_from_its_beginning(
    once: Provider, time: Time
) -> None:
    await open_breaker(once)
    time.now += 30

    async def fail_late() -> None:
        time.now += 9
        raise EmbedderFailed("500")

    await fails(once.call("embed", fail_late))
    assert (await fails(once.call("embed", Upstream()))).retry_after == 21
    time.now += 21
    assert await once.call("embed", Upstream()) == "an answer"


async def test_a_trial_that_nobody_waits_for_makes_room_for_the_next(
    once: Provider, time: Time
) -> None:
    await open_breaker(once)
    time.now += 30
    trial = asyncio.create_task(once.call("embed", asyncio.Event().wait))
    await asyncio.sleep(0)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial
    assert await once.call("embed", Upstream()) == "an answer"


async def test_a_trial_refused_for_a_wrong_key_closes_the_breaker(
    once: Provider, time: Time
) -> None:
    await open_breaker(once)
    time.now += 30

    async def refuse() -> None:
        raise make_lasting_failure()

    await fails(once.call("embed", refuse))
    assert await once.call("embed", Upstream()) == "an answer"


async def test_a_dead_upstream_sees_ten_calls_a_minute_and_its_return_within_35_seconds(
    embedder: Provider, time: Time
) -> None:
    upstream, calls = Upstream(), list[float]()
    upstream.down = EmbedderFailed("500")

    async def attempt() -> str:
        calls.append(time.now)
        return await upstream()

    for _ in range(300):  # a question each second, for five minutes
        await fails(embedder.call("embed", attempt))
        time.now += 1
    assert max(sum(1 for c in calls if t <= c < t + 60) for t in calls) <= 10
    upstream.down, back = None, time.now
    while time.now - back <= 40:
        try:
            await embedder.call("embed", attempt)
        except EmbedderFailed:
            time.now += 1
        else:
            break
    assert time.now - back <= 35


async def test_an_attempt_ends_when_its_time_is_up() -> None:
    provider = Provider("The model", ModelFailed, Policy(timeout=0.02), timed_out=ModelTimeout)
    late = await fails(provider.call("answer", asyncio.Event().wait))
    assert isinstance(late, ModelTimeout)
    assert "asked to answer" in late.what


async def test_of_a_crowd_only_a_few_reach_a_provider_that_is_silent() -> None:
    provider = Provider("Cohere", EmbedderFailed, Policy(timeout=0.2))
    calls = 0

    async def silent() -> None:
        nonlocal calls
        calls += 1
        await asyncio.Event().wait()

    crowd = [fails(provider.call("embed", silent)) for _ in range(60)]
    await asyncio.gather(*crowd)
    assert calls <= MOST_UNANSWERED


async def test_a_crowd_is_served_at_once_by_a_provider_that_answers() -> None:
    provider = Provider("Cohere", EmbedderFailed, Policy(timeout=60))
    under_way, most = 0, 0

    async def healthy() -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.05)
        under_way -= 1
        return "an answer"

    answers = await asyncio.gather(*(provider.call("embed", healthy) for _ in range(200)))
    assert answers == ["an answer"] * 200
    assert most > MOST_UNANSWERED, "a provider that answers must not be queued for"


async def tokens(*pauses: float) -> AsyncIterator[int]:
    for number, pause in enumerate(pauses):
        await asyncio.sleep(pause)
        yield number


def make_streaming_provider(
    *,
    timeout: float = 60.0,
    first_token: float = 60.0,
    gap: float = 60.0,
    clock: Callable[[], float] = monotonic,
) -> Provider:
    policy = Policy(timeout, first_token=first_token, gap=gap)
    return Provider("The model", ModelFailed, policy, clock, timed_out=ModelTimeout)


async def read(provider: Provider, source: AsyncIterator[int]) -> list[int]:
    async with provider.stream("answer") as stream:
        return [part async for part in stream.time_parts(source)]


async def test_a_stream_gives_its_parts() -> None:
    assert await read(make_streaming_provider(gap=0.5), tokens(0.6, 0, 0)) == [
        0,
        1,
        2,
    ]  # the first may take longer


@pytest.mark.parametrize(
    ("pauses", "provider"),
    [
        ((5.0,), make_streaming_provider(first_token=0.02)),
        ((0.0, 0.0, 5.0), make_streaming_provider(gap=0.02)),
        ((0.0, *[0.03] * 50), make_streaming_provider(timeout=0.1)),
    ],
    ids=["first token", "gap", "in all"],
)
async def test_a_stream_ends_when_its_time_is_up(
    pauses: tuple[float, ...], provider: Provider
) -> None:
    late = await fails(read(provider, tokens(*pauses)))
    assert isinstance(late, ModelTimeout)


async def test_parts_that_are_no_token_do_not_prolong_the_wait_for_one() -> None:
    provider = make_streaming_provider(first_token=0.1)

    async def run() -> None:
        async with provider.stream("answer") as stream:
            async for _ in stream.time_parts(tokens(*[0.03] * 20), lambda _: False):
                pass

    assert isinstance(await fails(run()), ModelTimeout)


async def test_only_the_provider_is_waited_for_not_who_reads_its_stream(time: Time) -> None:
    seen: list[int] = []
    async with make_streaming_provider(clock=time.clock).stream("answer") as stream:
        async for part in stream.time_parts(tokens(0, 0, 0)):
            seen.append(part)
            time.now += 100  # a slow reader
    assert seen == [0, 1, 2]


async def test_five_streams_that_break_open_the_breaker_and_a_sixth_is_refused_at_once() -> None:
    provider = make_streaming_provider(gap=0.01)
    for _ in range(5):
        assert isinstance(await fails(read(provider, tokens(0, 5))), ModelTimeout)
    source = tokens(0)
    refused = await fails(read(provider, source))
    assert type(refused) is ModelFailed
    assert refused.retry_after == 30
    assert await anext(source) == 0, "nothing was read of it"


async def test_a_stream_left_early_says_nothing_of_the_provider() -> None:
    provider = make_streaming_provider()

    async def some() -> AsyncIterator[int]:
        async with provider.stream("answer") as stream:
            async for part in stream.time_parts(tokens(0, 0, 0)):
                yield part

    for _ in range(20):
        parts = some()
        assert await anext(parts) == 0
        await parts.aclose()  # type: ignore[attr-defined]
    assert await read(provider, tokens(0)) == [0]


async def test_a_failure_of_another_part_inside_a_stream_is_not_the_providers() -> None:
    provider = make_streaming_provider()

    async def run() -> None:
        async with provider.stream("answer"):
            raise StoreFailed("the index is away")

    for _ in range(20):
        assert isinstance(await fails(run()), StoreFailed)
    assert await read(provider, tokens(0)) == [0]


async def test_what_worked_lately_need_not_be_asked_again(once: Provider, time: Time) -> None:
    assert not once.has_worked_within(300)
    await once.call("embed", Upstream())
    assert once.has_worked_within(300)
    time.now += 301
    assert not once.has_worked_within(300)
    await once.call("embed", Upstream())
    await fails(once.call("embed", Upstream(EmbedderFailed("500"))))
    assert not once.has_worked_within(300)
