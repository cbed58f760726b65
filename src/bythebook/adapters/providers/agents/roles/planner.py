"""The Planner port on a language model: rewrites a follow-up as a standalone question."""

from collections.abc import Sequence

from agents import Agent

from bythebook.adapters.providers.agents.calls.model_calls import (
    AgentContext,
    AgentTask,
    ModelCalls,
    make_settings,
)
from bythebook.adapters.providers.agents.prompts import PLANNER
from bythebook.adapters.providers.agents.replies.forms import PLAN, read_plan
from bythebook.adapters.providers.agents.roles.fence import Fence, leave_unchanged
from bythebook.adapters.providers.agents.roles.guardrails import Neutralize
from bythebook.adapters.providers.agents.roles.turn_session import TurnSession
from bythebook.domain.conversations import Turn
from bythebook.ports.models import Rewrite


class AgentsPlanner:
    """Lets a model read a question in the context of a conversation."""

    def __init__(self, calls: ModelCalls, *, neutralize: Neutralize = leave_unchanged) -> None:
        self._calls = calls
        self._neutralize = neutralize

    async def read(self, question: str, turns: Sequence[Turn], model: str | None = None) -> Rewrite:
        """Return the question as a standalone one, and its parts if it asks several things."""
        mark, prompt = Fence().enclose([("question", question)])
        agent = Agent[AgentContext](
            name="planner",
            instructions=PLANNER.format(mark=mark),
            output_type=PLAN,
            model_settings=make_settings(),
        )
        session = TurnSession(turns, self._neutralize)
        task = AgentTask(agent, prompt, AgentContext(question), session)
        reply, usage = await self._calls.request_reply("plan a question", model, task, read_plan)
        return Rewrite(*reply, usage)
