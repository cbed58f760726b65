"""Our records of a conversation, as the SDK's session."""

from collections.abc import Callable, Sequence

from agents.items import TResponseInputItem
from agents.memory.session_settings import SessionSettings

from bythebook.adapters.providers.agents.fence import as_is
from bythebook.domain.conversations import Turn

MOST_CHARACTERS = 2000  # of one message


class TurnSession:
    """Gives the SDK what was said before; our records keep what is said, so that nothing is added."""

    session_id = "conversation"
    session_settings: SessionSettings | None = None

    def __init__(self, turns: Sequence[Turn], neutral: Callable[[str], str] = as_is) -> None:
        self._items: list[TResponseInputItem] = []
        for turn in turns:
            self._items.append({"role": "user", "content": _short(neutral(turn.question))})
            answer = neutral(turn.answer) or "The book does not answer this."
            self._items.append({"role": "assistant", "content": _short(answer)})

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Give the messages, or the latest of them, in order."""
        return list(self._items if limit is None else self._items[len(self._items) - limit :])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep nothing: what comes of a run is recorded when it was verified."""

    async def pop_item(self) -> TResponseInputItem | None:
        """Give up the latest message of this copy."""
        return self._items.pop() if self._items else None

    async def clear_session(self) -> None:
        """Forget this copy."""
        self._items.clear()


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
