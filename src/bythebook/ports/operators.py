"""What limits, metrics and alerts need."""

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
        """Count a request if there is room for it, atomically."""
        ...


class Metrics(Protocol):
    """Numbers for a monitoring system."""

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request to a route, by its template."""
        ...

    def count_question(self, entry: QueryEntry, timings: Mapping[str, float]) -> None:
        """Count a question with its verdict, the milliseconds of its stages and what it cost."""
        ...

    def count_model_sentence(self, model: str, *, dropped: bool) -> None:
        """Count a sentence that a language model proposed."""
        ...

    def count_excerpt(self, model: str, *, failed: bool) -> None:
        """Count a question that went on without a language model: it failed, or no line of it stood."""
        ...

    def count_fault(self, fault: Fault) -> None:
        """Count a proposed sentence that was dropped, or whose quotes were corrected."""
        ...

    def count_failure(self, part: str) -> None:
        """Count a failure of a part that answers depend on."""
        ...

    def count_limited(self, window: WindowName) -> None:
        """Count a request that exceeded a limit."""
        ...

    def count_overload(self) -> None:
        """Count a question that was refused because too many were waiting."""
        ...

    def count_lost_entry(self) -> None:
        """Count a question that could not be recorded."""
        ...

    def write_page(self, books: Sequence[Book]) -> tuple[bytes, str]:
        """Return all metrics, including the size of the books, and their media type."""
        ...


class Alarm(Protocol):
    """Alerts an operator."""

    async def send(self, incident: Incident) -> None:
        """Send an incident that began or ended."""
        ...
