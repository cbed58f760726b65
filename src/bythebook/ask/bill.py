"""What language models took for one question, however it ends."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bythebook.domain.answers import Draft
from bythebook.domain.usage import Usage


class Bill:
    """Adds up what each call took."""

    def __init__(self) -> None:
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        """Add what a call took."""
        self.usage += usage

    async def drafts(self, composed: AsyncGenerator[Draft | Usage]) -> AsyncGenerator[Draft]:
        """Give the sentences alone; what they took is put on the bill."""
        async with aclosing(composed):
            async for one in composed:
                if isinstance(one, Usage):
                    self.add(one)
                else:
                    yield one
