"""The language model usage of one question, however it ends."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from bythebook.domain.answers import Draft
from bythebook.domain.usage import Usage


class UsageMeter:
    """Adds up the usage of each call."""

    def __init__(self) -> None:
        self.total = Usage()

    def add(self, usage: Usage) -> None:
        """Add the usage of a call."""
        self.total += usage

    async def take_drafts(self, composed: AsyncGenerator[Draft | Usage]) -> AsyncGenerator[Draft]:
        """Yield the sentences, and add up their usage."""
        async with aclosing(composed):
            async for one in composed:
                if isinstance(one, Usage):
                    self.add(one)
                else:
                    yield one
