"""The passages of a run's searches, and the tool that a model searches with."""

from collections.abc import Sequence

from bythebook.adapters.providers.agents.roles.fence import (
    Fence,
    fence_texts,
    number_passages,
)
from bythebook.adapters.providers.agents.roles.guardrails import Neutralize
from bythebook.domain.answers import Passage
from bythebook.errors import PartFailed
from bythebook.ports.models import Search

MOST_SEARCHES = 3
PASSAGES_PER_SEARCH = 5
LONGEST_QUERY = 300  # characters


class FoundPassages:
    """The passages of all searches, each once, and the search tool."""

    def __init__(
        self, question: str, first: Sequence[Passage], search: Search, neutralize: Neutralize
    ) -> None:
        self.mark, _ = Fence().enclose([])
        self.failure: PartFailed | None = None
        self.searches = 0
        self._search = search
        self._question = question
        self._neutralize = neutralize
        self._passages = {passage.chunk.chunk_id: passage for passage in first}

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All passages, in the order in which they were found."""
        return tuple(self._passages.values())

    def format_passages(self, passages: Sequence[Passage]) -> str:
        """Number and fence passages for the model."""
        return fence_texts(self.mark, number_passages(passages, self._question, self._neutralize))

    async def look_up(self, query: str) -> str:
        """Search within the limit; the model chooses the words, but not the book."""
        if self.searches >= MOST_SEARCHES:
            return "No more searches: hand over to the generator."
        self.searches += 1
        try:
            found = await self._search(query.strip()[:LONGEST_QUERY])
        except PartFailed as error:  # the core raises it; the model does not see it
            self.failure = error
            return "The search failed: hand over to the generator."
        known = self._passages
        new = [one for one in found if one.chunk.chunk_id not in known][:PASSAGES_PER_SEARCH]
        self._passages |= {one.chunk.chunk_id: one for one in new}
        return self.format_passages(new) if new else "Nothing new was found."
