"""A check of the core as a guardrail of the SDK."""

from typing import Protocol

from agents import Agent, GuardrailFunctionOutput, InputGuardrail
from agents.items import TResponseInputItem
from agents.run_context import RunContextWrapper

from bythebook.adapters.providers.agents.calls.model_calls import AgentContext


class Neutralize(Protocol):
    """Removes instructions from a text."""

    def __call__(self, text: str, question: str = "", /) -> str:
        """Return the text without instructions; `question` is what a book's text should answer."""
        ...


def make_question_guardrail(neutralize: Neutralize) -> InputGuardrail[AgentContext]:
    """Stop before any call if the question consists of instructions only."""

    def check(
        context: RunContextWrapper[AgentContext],
        _agent: Agent[AgentContext],
        _input: str | list[TResponseInputItem],
    ) -> GuardrailFunctionOutput:
        asks_nothing = not neutralize(context.context.question).strip()
        return GuardrailFunctionOutput(None, tripwire_triggered=asks_nothing)

    return InputGuardrail(check, name="off-book instructions", run_in_parallel=False)
