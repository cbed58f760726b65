"""The Validator port on a language model: whether passages answer a question."""

from collections.abc import Sequence

from agents import Agent

from bythebook.adapters.providers.agents.answer_reader import UnusableAnswer
from bythebook.adapters.providers.agents.fence import Fence, as_is, numbered
from bythebook.adapters.providers.agents.forms import OPINION, read_opinion
from bythebook.adapters.providers.agents.guardrails import Neutral
from bythebook.adapters.providers.agents.prompts import VALIDATOR
from bythebook.adapters.providers.agents.runs import Errand, Runs, settings_of, unusable
from bythebook.domain.answers import Passage
from bythebook.domain.usage import Usage
from bythebook.ports.models import Opinion


class AgentsValidator:
    """Has a model say whether passages answer; the judge is asked as well, and both must agree."""

    def __init__(self, runs: Runs, *, neutral: Neutral = as_is) -> None:
        self._runs = runs
        self._neutral = neutral

    async def review(
        self, question: str, passages: Sequence[Passage], model: str | None = None
    ) -> Opinion:
        """Say whether the passages answer the question."""
        read = [*numbered(passages, question, self._neutral), ("question", self._neutral(question))]
        mark, fenced = Fence().around(read)
        agent = Agent[Errand](
            name="validator",
            instructions=VALIDATOR.format(mark=mark),
            output_type=OPINION,
            model_settings=settings_of(),
        )
        told: bool | UnusableAnswer
        usage = Usage()
        async with self._runs.request("judge passages", model) as request:
            try:
                told = await request.told(
                    agent, fenced, Errand(question, list(passages)), read_opinion
                )
            except UnusableAnswer as error:
                told = error
            usage = request.usage()
        if isinstance(told, UnusableAnswer):
            raise unusable(told)
        return Opinion(told, usage)
