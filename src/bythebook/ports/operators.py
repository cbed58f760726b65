"""What limiting, counting and calling for help needs."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from bythebook.domain.access import Allowance, Window, WindowName
from bythebook.domain.answers import Fault
from bythebook.domain.books import Book
from bythebook.domain.incidents import Incident
from bythebook.domain.records import QueryEntry


class Limiter(Protocol):
    """Counts requests in moving windows, in this process or shared with others."""

    async def take(self, window: Window) -> Allowance:
        """Count a request where there is room for it, in one step."""
        ...


class Metrics(Protocol):
    """Numbers for a monitoring system."""

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request to a route, by its template."""
        ...

    def question(self, entry: QueryEntry, timings: Mapping[str, float]) -> None:
        """Count a question with its verdict, the milliseconds of its stages and what it cost."""
        ...

    def model_sentence(self, model: str, *, dropped: bool) -> None:
        """Count a sentence that a language model proposed."""
        ...

    def sentence_fault(self, fault: Fault) -> None:
        """Count a proposed sentence that was dropped, or whose quotes had to be put right."""
        ...

    def part_failed(self, part: str) -> None:
        """Count a failure of a part that answers depend on."""
        ...

    def limited(self, window: WindowName) -> None:
        """Count a request that met a limit."""
        ...

    def entry_lost(self) -> None:
        """Count a question that could not be recorded."""
        ...

    def page(self, books: Sequence[Book]) -> tuple[bytes, str]:
        """Write all numbers, the size of the books among them, and name their media type."""
        ...


class Alarm(Protocol):
    """Calls an operator."""

    async def send(self, incident: Incident) -> None:
        """Tell of an incident that began or ended."""
        ...
