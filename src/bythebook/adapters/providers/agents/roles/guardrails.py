"""Checks of the core as guardrails of the SDK."""

from collections.abc import Callable
from typing import Protocol

from agents import Agent, GuardrailFunctionOutput, InputGuardrail, OutputGuardrail
from agents.items import TResponseInputItem
from agents.run_context import RunContextWrapper

from bythebook.adapters.providers.agents.calls.model_calls import AgentContext
from bythebook.adapters.providers.agents.replies.answer_reader import WrittenSentence
from bythebook.domain.answers import Passage

HoldsQuote = Callable[[Passage, str], bool]  # whether a passage contains a quote


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


def make_quotes_guardrail(holds_quote: HoldsQuote) -> OutputGuardrail[AgentContext]:
    """Stop an answer if none of its quotes is in the passages: it is invented."""

    def check(
        context: RunContextWrapper[AgentContext], _agent: Agent[AgentContext], answer: object
    ) -> GuardrailFunctionOutput:
        sentences = answer if isinstance(answer, list) else []
        is_invented = bool(sentences) and not any(
            _has_real_quote(sentence, context.context.passages, holds_quote)
            for sentence in sentences
        )
        return GuardrailFunctionOutput(None, tripwire_triggered=is_invented)

    return OutputGuardrail(check, name="quotes stand in the passages")


def _has_real_quote(
    sentence: WrittenSentence, passages: list[Passage], holds_quote: HoldsQuote
) -> bool:
    return any(holds_quote(passage, quote) for _, quote in sentence.quotes for passage in passages)
