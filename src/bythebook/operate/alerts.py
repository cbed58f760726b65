"""Failing and recovering parts -> alerts to an operator, when an incident begins and when it ends."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bythebook.domain.incidents import Incident
from bythebook.errors import PartFailed
from bythebook.ports import Alarm, Metrics

_log = logging.getLogger("bythebook.alerts")
CALM = timedelta(seconds=30)  # without a failure, before a passed check ends an incident
MOST_WAITING = 100  # calls
NEEDED = frozenset({"model", "embedder", "store"})  # without which no question is answered
Check = Callable[[], Awaitable[None]]


def _now() -> datetime:
    return datetime.now(UTC)


class Alerts:
    """Keeps an incident per part; alerts are sent in order, outside the answer path."""

    def __init__(
        self,
        metrics: Metrics,
        alarm: Alarm | None = None,
        *,
        calm: timedelta = CALM,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._metrics = metrics
        self._alarm = alarm
        self._calm = calm
        self._clock = clock
        self._incidents: dict[str, Incident] = {}
        self._last_failure: dict[str, datetime] = {}
        self._calls: asyncio.Queue[Incident] = asyncio.Queue(MOST_WAITING)

    @property
    def failing(self) -> frozenset[str]:
        """The parts with an incident that has not ended."""
        return frozenset(self._incidents)

    def report_failure(self, part: str, message: str) -> None:
        """Record a failure; the first one begins an incident."""
        self._metrics.count_failure(part)
        self._last_failure[part] = self._clock()
        if part in self._incidents:
            return
        incident = self._incidents[part] = Incident(part, message, self._last_failure[part])
        level = logging.CRITICAL if part in NEEDED else logging.ERROR
        _log.log(level, "a part failed: %s", message, extra={"part": part})
        self._call(incident)

    def report_recovery(self, part: str) -> None:
        """Record that a part works; this ends its incident unless it failed just now."""
        now = self._clock()
        if part not in self._incidents or now - self._last_failure[part] < self._calm:
            return
        incident = replace(self._incidents.pop(part), ended_at=now)
        seconds = round((now - incident.began_at).total_seconds())
        _log.warning("a part works again", extra={"part": part, "failed_for_seconds": seconds})
        self._call(incident)

    async def run(self) -> None:
        """Send alerts until cancelled."""
        while True:
            incident = await self._calls.get()
            try:
                if self._alarm is not None:
                    await self._alarm.send(incident)
            except Exception:  # noqa: BLE001 - a call that fails must not stop the next
                _log.exception("an operator could not be called")

    def _call(self, incident: Incident) -> None:
        if self._alarm is None:
            return
        try:
            self._calls.put_nowait(incident)
        except asyncio.QueueFull:
            _log.warning("too many calls are waiting; one was not made")


class Watch:
    """Checks the parts regularly, so that recovery is noticed without a question."""

    def __init__(
        self,
        alerts: Alerts,
        checks: Mapping[str, Check],
        parts: Mapping[str, Sequence[str]],
        *,
        every_seconds: float = 30.0,
        check_seconds: float = 20.0,
    ) -> None:
        self._alerts = alerts
        self._checks = checks
        self._parts = (
            parts  # the part that a check, by its name, depends on; without one: the name itself
        )
        self._every_seconds = every_seconds
        self._check_seconds = check_seconds

    async def run(self) -> None:
        """Check regularly until cancelled."""
        while True:
            await asyncio.sleep(self._every_seconds)
            await self.look()

    async def look(self) -> None:
        """Check each part once."""
        examined, doubtful = set[str](), set[str]()
        for name, check in self._checks.items():
            touched = tuple(self._parts.get(name, (name,)))
            examined.update(touched)
            failed = await _fault(check, touched[0], self._check_seconds)
            if failed is not None:
                self._alerts.report_failure(*failed)
                doubtful.update((*touched, failed[0]))
        for part in (self._alerts.failing & examined) - doubtful:
            self._alerts.report_recovery(part)


async def _fault(check: Check, part: str, seconds: float) -> tuple[str, str] | None:
    """Return the part that a check finds failing, and its error."""
    try:
        async with asyncio.timeout(seconds):
            await check()
    except PartFailed as error:
        return (part if error.part == PartFailed.part else error.part), error.what
    except TimeoutError:
        return part, f"No answer within {seconds:.0f} seconds."
    except Exception:  # noqa: BLE001 - a part that breaks in a new way is still only a part
        _log.exception("a check failed", extra={"part": part})
        return part, "This part failed; the log says more."
    return None
