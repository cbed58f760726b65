"""The Planner port on a language model: what a follow-up asks, standing alone."""

from collections.abc import Sequence

from agents import Agent

from bythebook.adapters.providers.agents.answer_reader import UnusableAnswer
from bythebook.adapters.providers.agents.fence import Fence, as_is
from bythebook.adapters.providers.agents.forms import PLAN, read_plan
from bythebook.adapters.providers.agents.guardrails import Neutral
from bythebook.adapters.providers.agents.prompts import PLANNER
from bythebook.adapters.providers.agents.runs import Errand, Runs, settings_of, unusable
from bythebook.adapters.providers.agents.turn_session import TurnSession
from bythebook.domain.conversations import Turn
from bythebook.domain.usage import Usage
from bythebook.ports.models import Reading


class AgentsPlanner:
    """Has a model read a question in the light of a conversation."""

    def __init__(self, runs: Runs, *, neutral: Neutral = as_is) -> None:
        self._runs = runs
        self._neutral = neutral

    async def read(self, question: str, turns: Sequence[Turn], model: str | None = None) -> Reading:
        """Say what a follow-up asks, standing alone, and what its parts are."""
        mark, fenced = Fence().around([("question", self._neutral(question))])
        agent = Agent[Errand](
            name="planner",
            instructions=PLANNER.format(mark=mark),
            output_type=PLAN,
            model_settings=settings_of(),
        )
        told: tuple[str, tuple[str, ...]] | UnusableAnswer
        usage = Usage()
        async with self._runs.request("plan a question", model) as request:
            session = TurnSession(turns, self._neutral)
            try:
                told = await request.told(agent, fenced, Errand(question), read_plan, session)
            except UnusableAnswer as error:
                told = error
            usage = request.usage()
        if isinstance(told, UnusableAnswer):
            raise unusable(told)
        return Reading(*told, usage)
