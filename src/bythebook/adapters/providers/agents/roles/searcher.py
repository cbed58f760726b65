"""The Searcher port on a language model: planner, retriever and generator hand over to each other.

The core decides. When the retriever hands over to the generator, the run waits until the core has
judged the passages; a refusal ends the run there, before anything is written.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace

from agents import (
    Agent,
    HandoffInputData,
    RunContextWrapper,
    TResponseInputItem,
    function_tool,
    handoff,
)
from pydantic import BaseModel, Field

from bythebook.adapters.providers.agents.calls.model_calls import (
    AgentContext,
    ModelCalls,
    ModelRequest,
    make_settings,
)
from bythebook.adapters.providers.agents.prompts import LEAD, RETRIEVER
from bythebook.adapters.providers.agents.replies.json_objects import UnusableAnswer
from bythebook.adapters.providers.agents.roles.fence import fence_texts, leave_unchanged
from bythebook.adapters.providers.agents.roles.found_passages import (
    MOST_SEARCHES,
    FoundPassages,
)
from bythebook.adapters.providers.agents.roles.generator import AgentsGenerator, Writing
from bythebook.adapters.providers.agents.roles.guardrails import Neutralize, make_question_guardrail
from bythebook.adapters.providers.agents.roles.turn_session import TurnSession
from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage
from bythebook.ports.models import Rewrite, Search

MOST_TURNS = MOST_SEARCHES + 5  # of all roles together
GENERATOR_NAME = "generator"


# The model sees this class as a schema, with its name and its texts.
class HandedPlan(BaseModel):
    """What the planner hands to the retriever."""

    question: str = Field(description="The reader's question, standing alone.")
    look_up: list[str] = Field(description="What must be looked up, at most three things.")


class AgentsSearcher:
    """Lets a model search the book up to three times, and write from the passages that the core accepts."""

    def __init__(
        self,
        calls: ModelCalls,
        generator: AgentsGenerator,
        *,
        neutralize: Neutralize = leave_unchanged,
    ) -> None:
        self._calls = calls
        self._generator = generator
        self._neutralize = neutralize

    @asynccontextmanager
    async def begin(
        self, plan: Plan, turns: Sequence[Turn], first: Sequence[Passage], search: Search
    ) -> AsyncIterator["AgentsJourney"]:
        """Start from the passages of the first search; leaving the context ends the run."""
        async with self._calls.request("search and answer", plan.model) as request:
            found = FoundPassages(plan.question, first, search, self._neutralize)
            journey = AgentsJourney(request, self._generator, plan, found)
            journey.start(turns, self._neutralize)
            try:
                yield journey
            finally:
                await journey.end()


class AgentsJourney:
    """One run of the three roles, with a pause between searching and writing."""

    def __init__(
        self, request: ModelRequest, generator: AgentsGenerator, plan: Plan, found: FoundPassages
    ) -> None:
        self._request = request
        self._generator = generator
        self._plan = plan
        self._found = found
        self._rewrite = Rewrite(plan.question)
        self._context = AgentContext(plan.question)
        self._search_done = asyncio.Event()  # the retriever has handed over
        self._writer_prompt: asyncio.Future[list[TResponseInputItem]] = (
            asyncio.get_running_loop().create_future()
        )
        self._pieces: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self._failure: Exception | None = None
        self._writer = Agent[AgentContext](name=GENERATOR_NAME)
        self._run: asyncio.Task[None] | None = None

    def start(self, turns: Sequence[Turn], neutralize: Neutralize) -> None:
        """Start the run of the roles."""
        planner = self._make_planner(self._make_retriever(), neutralize)
        question = fence_texts(self._found.mark, [("question", neutralize(self._plan.question))])
        session = TurnSession(turns, neutralize)
        self._run = asyncio.create_task(self._run_roles(planner, question, session))

    async def finish_search(self) -> tuple[Rewrite, tuple[Passage, ...]]:
        """Wait for the end of the search; return the rewrite with its usage, and the passages."""
        search_done = asyncio.create_task(self._search_done.wait())
        run = self._run or search_done
        try:
            await asyncio.wait({search_done, run}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            search_done.cancel()
        failure = self._found.failure or self._failure
        if failure is not None and not isinstance(failure, UnusableAnswer):
            raise failure
        return replace(self._rewrite, usage=self._request.take_usage()), self._found.passages

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Let the generator write from the judged passages; on its own, if the roles never reached it."""
        if self._search_done.is_set():
            chosen = self._stream_run_drafts(plan, judgement)
        else:
            chosen = self._generator.stream_drafts(self._request, plan, judgement)
        async with aclosing(chosen) as drafts:
            async for draft in drafts:
                yield draft
        yield self._request.take_usage()

    async def end(self) -> None:
        """Stop the run."""
        self._writer_prompt.cancel()
        if self._run is not None:
            self._run.cancel()
            with suppress(asyncio.CancelledError):
                await self._run

    async def _run_roles(
        self, planner: Agent[AgentContext], question: str, session: TurnSession
    ) -> None:
        pieces = self._request.stream_run(
            planner, question, self._context, session=session, most_turns=MOST_TURNS
        )
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    self._pieces.put_nowait(piece)
        except Exception as error:  # noqa: BLE001 - raised where the core waits
            self._failure = error
        self._pieces.put_nowait(None)

    async def _stream_run_drafts(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft]:
        """Yield what the generator writes in this run."""
        writing = self._start_writing(plan, judgement)
        async with aclosing(writing.read(self._stream_text())) as drafts:
            try:
                async for draft in drafts:
                    yield draft
            except UnusableAnswer:
                return  # a tool was called that is not there

    def _start_writing(self, plan: Plan, judgement: Judgement) -> Writing:
        """Give the generator the judged passages and nothing else."""
        writing = self._generator.prepare(plan, judgement)
        self._writer.instructions = writing.agent.instructions
        self._writer.model_settings = writing.agent.model_settings
        self._writer_prompt.set_result(writing.prompt)
        return writing

    async def _stream_text(self) -> AsyncGenerator[str]:
        """Yield the generator's text as it arrives."""
        while (item := await self._pieces.get()) is not None:
            writer, piece = item
            if writer == GENERATOR_NAME:
                yield piece
        if self._failure is not None:
            raise self._failure

    def _make_planner(
        self, retriever: Agent[AgentContext], neutralize: Neutralize
    ) -> Agent[AgentContext]:
        def keep_plan(_context: RunContextWrapper[AgentContext], plan: HandedPlan) -> None:
            parts = tuple(part for part in plan.look_up if part.strip())
            self._rewrite = Rewrite(plan.question.strip() or self._plan.question, parts)

        def start_retriever(_data: HandoffInputData) -> HandoffInputData:
            question = fence_texts(self._found.mark, [("question", self._rewrite.question)])
            return _start_with(f"{self._found.format_passages(self._found.passages)}\n{question}")

        to_retriever = handoff(
            retriever,
            tool_name_override="hand_to_retriever",
            tool_description_override="Hand the question over to be looked up.",
            on_handoff=keep_plan,
            input_type=HandedPlan,
            input_filter=start_retriever,
        )
        return Agent[AgentContext](
            name="planner",
            instructions=LEAD.format(mark=self._found.mark),
            handoffs=[to_retriever],
            model_settings=make_settings(),
            input_guardrails=[make_question_guardrail(neutralize)],
        )

    def _make_retriever(self) -> Agent[AgentContext]:
        async def search_textbook(query: str) -> str:
            """Search the book for passages.

            Args:
                query: What to look for, in few words.
            """
            return await self._found.look_up(query)

        async def wait_for_core(_context: RunContextWrapper[AgentContext]) -> None:
            self._search_done.set()
            await self._writer_prompt

        to_generator = handoff(
            self._writer,
            tool_name_override="hand_to_generator",
            tool_description_override="Hand over to be answered.",
            on_handoff=wait_for_core,
            input_filter=lambda _data: _start_with(self._writer_prompt.result()),
        )
        return Agent[AgentContext](
            name="retriever",
            instructions=RETRIEVER.format(mark=self._found.mark, searches=MOST_SEARCHES),
            tools=[function_tool(search_textbook)],
            handoffs=[to_generator],
            model_settings=make_settings(),
        )


def _start_with(prompt: str | Sequence[TResponseInputItem]) -> HandoffInputData:
    """Give the next role this prompt and nothing from before."""
    history = prompt if isinstance(prompt, str) else tuple(prompt)
    return HandoffInputData(input_history=history, pre_handoff_items=(), new_items=())
