"""A conversation from our records, as a session of the SDK."""

from collections.abc import Callable, Sequence

from agents.items import TResponseInputItem
from agents.memory.session_settings import SessionSettings

from bythebook.adapters.providers.agents.roles.fence import leave_unchanged
from bythebook.domain.conversations import Turn

MOST_CHARACTERS = 2000  # of one message


class TurnSession:
    """Gives the SDK the earlier turns; it stores nothing, since our records do."""

    session_id = "conversation"
    session_settings: SessionSettings | None = None

    def __init__(
        self, turns: Sequence[Turn], neutralize: Callable[[str, str], str] = leave_unchanged
    ) -> None:
        self._items: list[TResponseInputItem] = []
        for turn in turns:
            self._items.append({"role": "user", "content": _shorten(turn.question)})
            answer = neutralize(turn.answer, turn.question) or "The book does not answer this."
            self._items.append({"role": "assistant", "content": _shorten(answer)})

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the messages, or the latest ones, in order."""
        return list(self._items if limit is None else self._items[len(self._items) - limit :])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store nothing: answers are recorded after verification."""

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the latest message of this copy."""
        return self._items.pop() if self._items else None

    async def clear_session(self) -> None:
        """Clear this copy."""
        self._items.clear()


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
