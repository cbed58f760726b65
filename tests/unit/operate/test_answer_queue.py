"""Questions take turns: a few at once, fair between callers, and none waits beyond its time."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest
from tests.unit.fakes import Clock

from bythebook.adapters.operations.prometheus_metrics import PrometheusMetrics
from bythebook.errors import Overloaded
from bythebook.operate.answer_queue import AnswerQueue


def queue(at_once: int = 1, max_wait: float = 60.0, clock: Clock | None = None) -> AnswerQueue:
    return AnswerQueue(at_once, max_wait, PrometheusMetrics(), clock or Clock())


class Answerer:
    """Answers in the order of turns, each when the test lets it end."""

    def __init__(self, turns: AnswerQueue) -> None:
        self.turns = turns
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}

    async def answer(self, name: str, holder: str) -> None:
        self.ends[name] = asyncio.Event()
        async with self.turns.turn(holder):
            self.begun.append(name)
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await asyncio.sleep(0.001)


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not reached():  # noqa: ASYNC110 - what is waited for is the state of the code under test
            await asyncio.sleep(0.001)


def run(scenario: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scenario())


def test_no_more_are_answered_at_once_than_allowed() -> None:
    async def scenario() -> None:
        answerer = Answerer(queue(at_once=2))
        async with asyncio.TaskGroup() as tasks:
            for name in "abc":
                tasks.create_task(answerer.answer(name, name))
            await until(lambda: answerer.turns.waiting == 1)
            assert answerer.begun == ["a", "b"]
            await answerer.end("a")
            assert answerer.begun == ["a", "b", "c"]
            await answerer.end("b")
            await answerer.end("c")

    run(scenario)


def test_a_caller_with_one_question_does_not_wait_behind_all_of_another() -> None:
    async def scenario() -> None:
        answerer = Answerer(queue())
        async with asyncio.TaskGroup() as tasks:
            for name in ("heavy 1", "heavy 2", "heavy 3", "heavy 4"):
                tasks.create_task(answerer.answer(name, "heavy"))
            await until(lambda: answerer.turns.waiting == 3)
            tasks.create_task(answerer.answer("light", "light"))
            await until(lambda: answerer.turns.waiting == 4)
            for name in ("heavy 1", "heavy 2", "light", "heavy 3", "heavy 4"):
                assert answerer.begun[-1] == name
                await answerer.end(name)

    run(scenario)


def test_a_question_is_refused_when_its_time_is_up_and_leaves_the_queue() -> None:
    async def scenario() -> None:
        answerer = Answerer(queue(max_wait=0.05))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(answerer.answer("a", "a"))
            await asyncio.sleep(0)
            with pytest.raises(Overloaded) as refused:
                await answerer.answer("b", "b")
            assert refused.value.retry_after >= 1
            assert answerer.turns.waiting == 0
            await answerer.end("a")
        async with answerer.turns.turn("c"):
            pass

    run(scenario)


def test_a_question_that_could_not_be_answered_in_time_is_refused_at_once() -> None:
    async def scenario() -> None:
        clock = Clock()
        turns = queue(max_wait=5.0, clock=clock)
        answerer = Answerer(turns)
        async with turns.turn("before"):
            clock.now += 3.0  # so long an answer takes
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(answerer.answer("a", "heavy"))
            await asyncio.sleep(0)
            tasks.create_task(answerer.answer("b", "heavy"))
            await until(lambda: turns.waiting == 1)
            with pytest.raises(Overloaded) as refused:
                await answerer.answer("c", "heavy")  # two answers of three seconds are ahead of it
            assert refused.value.retry_after == 6
            await answerer.end("a")
            await answerer.end("b")

    run(scenario)


def test_a_caller_with_nothing_waiting_is_not_refused_because_of_another_who_asks_too_much() -> (
    None
):
    async def scenario() -> None:
        clock = Clock()
        turns = queue(max_wait=5.0, clock=clock)
        answerer = Answerer(turns)
        async with turns.turn("before"):
            clock.now += 1.0
        async with asyncio.TaskGroup() as tasks:
            for name in "abcd":
                tasks.create_task(answerer.answer(name, "heavy"))
            await until(lambda: turns.waiting == 3)
            turns.require_short_wait("heavy")  # four seconds
            tasks.create_task(answerer.answer("e", "heavy"))
            await until(lambda: turns.waiting == 4)
            turns.require_short_wait("light")  # its turn comes after one of the others
            with pytest.raises(Overloaded):
                turns.require_short_wait("heavy")
            for name in "abcde":
                await answerer.end(name)
        turns.require_short_wait("heavy")  # a turn is free

    run(scenario)


def test_a_turn_granted_to_a_caller_who_just_left_goes_to_the_next() -> None:
    async def scenario() -> None:
        answerer = Answerer(queue())
        first = asyncio.create_task(answerer.answer("a", "a"))
        await asyncio.sleep(0)
        second = asyncio.create_task(answerer.answer("b", "b"))
        third = asyncio.create_task(answerer.answer("c", "c"))
        await until(lambda: answerer.turns.waiting == 2)
        answerer.ends["a"].set()
        while not first.done():
            await asyncio.sleep(0)
            second.cancel()  # in every step, so also in the one in which the turn is granted
        await until(lambda: answerer.begun == ["a", "c"])
        answerer.ends["c"].set()
        await third
        assert second.cancelled()

    run(scenario)


def test_a_caller_who_leaves_while_waiting_takes_no_turn() -> None:
    async def scenario() -> None:
        answerer = Answerer(queue())
        first = asyncio.create_task(answerer.answer("a", "a"))
        await asyncio.sleep(0)
        second = asyncio.create_task(answerer.answer("b", "b"))
        await until(lambda: answerer.turns.waiting == 1)
        second.cancel()
        await until(second.done)
        assert answerer.turns.waiting == 0
        answerer.ends["a"].set()
        await first
        async with asyncio.timeout(5), answerer.turns.turn("c"):
            assert answerer.begun == ["a"]

    run(scenario)
