"""The Validator port on a language model: whether passages answer a question."""

from collections.abc import Sequence

from agents import Agent

from bythebook.adapters.providers.agents.calls.model_calls import (
    AgentContext,
    AgentTask,
    ModelCalls,
    make_settings,
)
from bythebook.adapters.providers.agents.prompts import VALIDATOR
from bythebook.adapters.providers.agents.replies.forms import OPINION, read_opinion
from bythebook.adapters.providers.agents.roles.fence import Fence, leave_unchanged, number_passages
from bythebook.adapters.providers.agents.roles.guardrails import Neutralize
from bythebook.domain.answers import Passage
from bythebook.ports.models import ModelOpinion


class AgentsValidator:
    """Lets a model decide whether passages answer; the judge must agree as well."""

    def __init__(self, calls: ModelCalls, *, neutralize: Neutralize = leave_unchanged) -> None:
        self._calls = calls
        self._neutralize = neutralize

    async def review(
        self, question: str, passages: Sequence[Passage], model: str | None = None
    ) -> ModelOpinion:
        """Return the model's opinion on whether the passages answer the question."""
        texts = number_passages(passages, question, self._neutralize)
        mark, prompt = Fence().enclose([*texts, ("question", self._neutralize(question))])
        agent = Agent[AgentContext](
            name="validator",
            instructions=VALIDATOR.format(mark=mark),
            output_type=OPINION,
            model_settings=make_settings(),
        )
        task = AgentTask(agent, prompt, AgentContext(question))
        reply, usage = await self._calls.request_reply("judge passages", model, task, read_opinion)
        return ModelOpinion(reply, usage)
