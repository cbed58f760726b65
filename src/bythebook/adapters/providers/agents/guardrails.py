"""Our own checks, as guardrails of the SDK; what they decide is decided by the core."""

from collections.abc import Callable
from typing import Protocol

from agents import Agent, GuardrailFunctionOutput, InputGuardrail, OutputGuardrail
from agents.items import TResponseInputItem
from agents.run_context import RunContextWrapper

from bythebook.adapters.providers.agents.answer_reader import WrittenSentence
from bythebook.adapters.providers.agents.runs import Errand
from bythebook.domain.answers import Passage

Stands = Callable[[Passage, str], bool]  # says whether a passage holds a quote


class Neutral(Protocol):
    """Gives a text without what is no question and no book text."""

    def __call__(self, text: str, question: str = "", /) -> str:
        """Look at a text; at a book's, in the light of the question that it is to answer."""
        ...


def question_guardrail(neutral: Neutral) -> InputGuardrail[Errand]:
    """Stop before any call where nothing is asked of the book: only instructions to us."""

    def look(
        context: RunContextWrapper[Errand],
        _agent: Agent[Errand],
        _input: str | list[TResponseInputItem],
    ) -> GuardrailFunctionOutput:
        asks_nothing = not neutral(context.context.question).strip()
        return GuardrailFunctionOutput(None, tripwire_triggered=asks_nothing)

    return InputGuardrail(look, name="off-book instructions", run_in_parallel=False)


def quotes_guardrail(stands: Stands) -> OutputGuardrail[Errand]:
    """Stop an answer of which no quote stands in the passages: it is made up as a whole."""

    def look(
        context: RunContextWrapper[Errand], _agent: Agent[Errand], answer: object
    ) -> GuardrailFunctionOutput:
        sentences = answer if isinstance(answer, list) else []
        made_up = bool(sentences) and not any(
            _stands(sentence, context.context.passages, stands) for sentence in sentences
        )
        return GuardrailFunctionOutput(None, tripwire_triggered=made_up)

    return OutputGuardrail(look, name="quotes stand in the passages")


def _stands(sentence: WrittenSentence, passages: list[Passage], stands: Stands) -> bool:
    return any(stands(passage, quote) for _, quote in sentence.quotes for passage in passages)
