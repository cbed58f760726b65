"""The Searcher port on a language model: planner, retriever and generator hand over to each other.

The core keeps the lead. When the retriever hands over to the generator, the run waits until the
core has judged what was found; a refusal ends the run there, and nothing was written.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace

from agents import Agent, HandoffInputData, RunContextWrapper, function_tool, handoff
from pydantic import BaseModel, Field

from bythebook.adapters.providers.agents.agents_generator import (
    AgentsGenerator,
    drafted,
    shown_passages,
)
from bythebook.adapters.providers.agents.answer_reader import (
    AnswerReader,
    MadeUpAnswer,
    UnusableAnswer,
    WrittenSentence,
)
from bythebook.adapters.providers.agents.fence import Fence, as_is, fenced, numbered
from bythebook.adapters.providers.agents.guardrails import Neutral, question_guardrail
from bythebook.adapters.providers.agents.prompts import LEAD, RETRIEVER
from bythebook.adapters.providers.agents.runs import (
    Errand,
    ModelRequest,
    Runs,
    settings_of,
    unusable,
)
from bythebook.adapters.providers.agents.turn_session import TurnSession
from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage
from bythebook.errors import PartFailed
from bythebook.ports.models import Reading, Search

MOST_SEARCHES = 3
MOST_TURNS = MOST_SEARCHES + 5  # of all roles together
SHOWN_OF_SEARCH = 5  # passages
LONGEST_QUERY = 300  # characters
GENERATOR_NAME = "generator"


class HandedPlan(BaseModel):
    """What the planner hands to the retriever."""

    question: str = Field(description="The reader's question, standing alone.")
    look_up: list[str] = Field(description="What must be looked up, at most three things.")


class AgentsSearcher:
    """Has a model search the book up to three times, and write from what the core lets through."""

    def __init__(self, runs: Runs, generator: AgentsGenerator, *, neutral: Neutral = as_is) -> None:
        self._runs = runs
        self._generator = generator
        self._neutral = neutral

    @asynccontextmanager
    async def begin(
        self, plan: Plan, turns: Sequence[Turn], first: Sequence[Passage], search: Search
    ) -> AsyncIterator["AgentsJourney"]:
        """Set out from what the first search found; leaving the context ends the journey."""
        async with self._runs.request("search and answer", plan.model) as request:
            finds = _Finds(plan.question, first, search, self._neutral)
            journey = AgentsJourney(request, self._generator, plan, finds)
            journey.start(turns, self._neutral)
            try:
                yield journey
            finally:
                await journey.end()


class _Finds:
    """What searches found, each passage once; the tool that searches stands here."""

    def __init__(
        self, question: str, first: Sequence[Passage], search: Search, neutral: Neutral
    ) -> None:
        self.mark, _ = Fence().around([])
        self.failure: PartFailed | None = None
        self.searches = 0
        self._search = search
        self._question = question
        self._neutral = neutral
        self._passages = {passage.chunk.chunk_id: passage for passage in first}

    @property
    def passages(self) -> tuple[Passage, ...]:
        return tuple(self._passages.values())

    def shown(self, passages: Sequence[Passage]) -> str:
        return fenced(self.mark, numbered(passages, self._question, self._neutral))

    async def look_up(self, query: str) -> str:
        """Search within the limit; the book is bound, the model only words what it looks for."""
        if self.searches >= MOST_SEARCHES:
            return "No more searches: hand over to the generator."
        self.searches += 1
        try:
            found = await self._search(query.strip()[:LONGEST_QUERY])
        except PartFailed as error:  # told by the core, not to the model
            self.failure = error
            return "The search failed: hand over to the generator."
        new = [one for one in found if one.chunk.chunk_id not in self._passages][:SHOWN_OF_SEARCH]
        self._passages |= {one.chunk.chunk_id: one for one in new}
        return self.shown(new) if new else "Nothing new was found."


class AgentsJourney:
    """One run of the three roles, stopped between searching and writing."""

    def __init__(
        self, request: ModelRequest, generator: AgentsGenerator, plan: Plan, finds: _Finds
    ) -> None:
        self._request = request
        self._generator = generator
        self._plan = plan
        self._finds = finds
        self._reading = Reading(plan.question)
        self._errand = Errand(plan.question)
        self._handed = asyncio.Event()  # the retriever has handed over
        self._cleared: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._spoken: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self._failure: Exception | None = None
        self._writer = Agent[Errand](name=GENERATOR_NAME)
        self._run: asyncio.Task[None] | None = None

    def start(self, turns: Sequence[Turn], neutral: Neutral) -> None:
        """Set the roles going."""
        lead = self._lead(self._retriever(), neutral)
        asked = fenced(self._finds.mark, [("question", neutral(self._plan.question))])
        self._run = asyncio.create_task(self._go(lead, asked, TurnSession(turns, neutral)))

    async def found(self) -> tuple[Reading, tuple[Passage, ...]]:
        """Give how the question was understood, what was found and what it took, once the search is over."""
        handed = asyncio.create_task(self._handed.wait())
        run = self._run or handed
        try:
            await asyncio.wait({handed, run}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            handed.cancel()
        failure = self._finds.failure or self._failure
        if failure is not None and not isinstance(failure, UnusableAnswer):
            raise failure
        return replace(self._reading, usage=self._request.usage()), self._finds.passages

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Let the generator write from what was judged; by itself, if the roles never came to it."""
        try:
            if self._handed.is_set():
                chosen = self._handed_drafts(plan, judgement)
            else:
                chosen = self._plain_drafts(plan, judgement)
            async with aclosing(chosen) as drafts:
                async for draft in drafts:
                    yield draft
        except UnusableAnswer as error:
            raise unusable(error) from None
        yield self._request.usage()

    async def end(self) -> None:
        """Stop whatever is still under way."""
        self._cleared.cancel()
        if self._run is not None:
            self._run.cancel()
            with suppress(asyncio.CancelledError):
                await self._run

    async def _go(self, lead: Agent[Errand], asked: str, session: TurnSession) -> None:
        pieces = self._request.spoken(
            lead, asked, self._errand, session=session, most_turns=MOST_TURNS
        )
        try:
            async with aclosing(pieces):
                async for spoken in pieces:
                    self._spoken.put_nowait(spoken)
        except Exception as error:  # noqa: BLE001 - raised where the core waits for it
            self._failure = error
        self._spoken.put_nowait(None)

    async def _plain_drafts(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        async with aclosing(self._generator.drafts(self._request, plan, judgement)) as drafts:
            async for draft in drafts:
                yield draft

    async def _handed_drafts(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        """Give what the generator writes in this run; what cannot be used, it writes once more alone."""
        reader = AnswerReader()
        self._let_write(plan, judgement)
        try:
            async with aclosing(self._read(reader)) as sentences:
                async for sentence in sentences:
                    yield drafted(sentence, self._errand.passages)
        except MadeUpAnswer:
            return  # verification drops what does not stand
        except UnusableAnswer:
            if reader.sentences and not reader.complete:
                raise  # a part of it was given away: there is no taking it back
        else:
            return
        async with aclosing(self._plain_drafts(plan, judgement)) as drafts:
            async for draft in drafts:
                yield draft

    def _let_write(self, plan: Plan, judgement: Judgement) -> None:
        """Give the generator what was judged to answer, and nothing else."""
        self._errand.passages = shown_passages(judgement)
        writer, prompt = self._generator.agent_for(plan, self._errand.passages)
        self._writer.instructions = writer.instructions
        self._writer.output_type = writer.output_type
        self._writer.output_guardrails = writer.output_guardrails
        self._writer.model_settings = writer.model_settings
        self._cleared.set_result(prompt)

    async def _read(self, reader: AnswerReader) -> AsyncGenerator[WrittenSentence]:
        while (spoken := await self._spoken.get()) is not None:
            speaker, piece = spoken
            for sentence in reader.feed(piece) if speaker == GENERATOR_NAME else ():
                yield sentence
        if self._failure is not None:
            raise self._failure
        for sentence in reader.finish():
            yield sentence

    def _lead(self, retriever: Agent[Errand], neutral: Neutral) -> Agent[Errand]:
        def planned(_context: RunContextWrapper[Errand], plan: HandedPlan) -> None:
            parts = tuple(part for part in plan.look_up if part.strip())
            self._reading = Reading(plan.question.strip() or self._plan.question, parts)

        def first(_data: HandoffInputData) -> HandoffInputData:
            question = fenced(self._finds.mark, [("question", self._reading.question)])
            return _only(f"{self._finds.shown(self._finds.passages)}\n{question}")

        to_retriever = handoff(
            retriever,
            tool_name_override="hand_to_retriever",
            tool_description_override="Hand the question over to be looked up.",
            on_handoff=planned,
            input_type=HandedPlan,
            input_filter=first,
        )
        return Agent[Errand](
            name="planner",
            instructions=LEAD.format(mark=self._finds.mark),
            handoffs=[to_retriever],
            model_settings=settings_of(),
            input_guardrails=[question_guardrail(neutral)],
        )

    def _retriever(self) -> Agent[Errand]:
        async def search_textbook(query: str) -> str:
            """Search the book for passages.

            Args:
                query: What to look for, in few words.
            """
            return await self._finds.look_up(query)

        async def handed(_context: RunContextWrapper[Errand]) -> None:
            self._handed.set()
            await self._cleared

        to_generator = handoff(
            self._writer,
            tool_name_override="hand_to_generator",
            tool_description_override="Hand over to be answered.",
            on_handoff=handed,
            input_filter=lambda _data: _only(self._cleared.result()),
        )
        return Agent[Errand](
            name="retriever",
            instructions=RETRIEVER.format(mark=self._finds.mark, searches=MOST_SEARCHES),
            tools=[function_tool(search_textbook)],
            handoffs=[to_generator],
            model_settings=settings_of(),
        )


def _only(prompt: str) -> HandoffInputData:
    """Give the next role this and nothing of what went before."""
    return HandoffInputData(input_history=prompt, pre_handoff_items=(), new_items=())
