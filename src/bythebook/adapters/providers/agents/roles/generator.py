"""The Generator port on a language model: yields sentences with quotes as they are written."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agents import Agent

from bythebook.adapters.providers.agents.calls.model_calls import (
    AgentContext,
    ModelCalls,
    ModelRequest,
    Prompt,
    bad_answer_error,
    make_repair_prompt,
    make_settings,
)
from bythebook.adapters.providers.agents.prompts import GENERATOR
from bythebook.adapters.providers.agents.replies.answer_reader import (
    AnswerReader,
    InventedAnswer,
    NothingAsked,
    UnusableAnswer,
    WrittenSentence,
)
from bythebook.adapters.providers.agents.replies.forms import ANSWER
from bythebook.adapters.providers.agents.roles.fence import Fence, leave_unchanged, number_passages
from bythebook.adapters.providers.agents.roles.guardrails import (
    HoldsQuote,
    Neutralize,
    make_question_guardrail,
    make_quotes_guardrail,
)
from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage

MOST_SENTENCES = 6
MOST_CHARACTERS = 32_000  # of passages in one prompt


class AgentsGenerator:
    """Lets a model write answers; nothing is shown before it is verified."""

    def __init__(
        self,
        calls: ModelCalls,
        *,
        neutralize: Neutralize = leave_unchanged,
        holds_quote: HoldsQuote | None = None,
    ) -> None:
        self._calls = calls
        self._neutralize = neutralize
        self._holds_quote = holds_quote

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Yield each sentence as soon as it is complete, then the usage.

        An answer that is cut off, empty or malformed is a failure, whatever came before. An answer
        without sentences is the model's verdict that the passages do not answer.
        """
        failure: UnusableAnswer | None = None
        async with self._calls.request("write an answer", plan.model) as request:
            try:
                async with aclosing(self.stream_drafts(request, plan, judgement)) as drafts:
                    async for draft in drafts:
                        yield draft
            except UnusableAnswer as error:  # raised below: a bad form is not an outage
                failure = error
            yield request.take_usage()
        if failure is not None:
            raise bad_answer_error(failure)

    async def stream_drafts(
        self, request: ModelRequest, plan: Plan, judgement: Judgement
    ) -> AsyncGenerator[Draft]:
        """Yield sentences within a request; UnusableAnswer if one repair fails as well."""
        context = AgentContext(plan.question, choose_passages(judgement))
        agent, prompt = self.make_agent(plan, context.passages)
        try:
            async with aclosing(
                self._stream_sentences(request, agent, prompt, context)
            ) as sentences:
                async for sentence in sentences:
                    yield make_draft(sentence, context.passages)
        except NothingAsked:
            return  # there is nothing to answer
        except InventedAnswer:
            return  # invented again: verification drops the sentences

    def make_agent(
        self, plan: Plan, passages: Sequence[Passage]
    ) -> tuple[Agent[AgentContext], str]:
        """Make the agent of one question, and its prompt."""
        question = ("question", self._neutralize(plan.question))
        texts = number_passages(passages, plan.question, self._neutralize)
        mark, prompt = Fence().enclose([*texts, question])
        most = min(plan.most_sentences or MOST_SENTENCES, MOST_SENTENCES)
        quotes = [make_quotes_guardrail(self._holds_quote)] if self._holds_quote else []
        agent = Agent[AgentContext](
            name="generator",
            instructions=GENERATOR.format(
                mark=mark, most=f"{most} sentence{'s' if most > 1 else ''}"
            ),
            output_type=ANSWER,
            model_settings=make_settings(),
            input_guardrails=[make_question_guardrail(self._neutralize)],
            output_guardrails=quotes,
        )
        return agent, prompt

    async def _stream_sentences(
        self, request: ModelRequest, agent: Agent[AgentContext], prompt: str, context: AgentContext
    ) -> AsyncGenerator[WrittenSentence]:
        """Read an answer as it arrives; an unusable one is requested once more."""
        reader = AnswerReader()
        try:
            async with aclosing(
                _stream_answer(reader, request, agent, prompt, context)
            ) as sentences:
                async for sentence in sentences:
                    yield sentence
        except UnusableAnswer as error:
            if reader.sentences and not reader.complete:
                raise  # some sentences are already out and cannot be taken back
            again = make_repair_prompt(prompt, reader.written, error)
        else:
            return
        async with aclosing(
            _stream_answer(AnswerReader(), request, agent, again, context)
        ) as sentences:
            async for sentence in sentences:
                yield sentence


async def _stream_answer(
    reader: AnswerReader,
    request: ModelRequest,
    agent: Agent[AgentContext],
    prompt: Prompt,
    context: AgentContext,
) -> AsyncGenerator[WrittenSentence]:
    async with aclosing(request.stream_text(agent, prompt, context)) as pieces:
        async for piece in pieces:
            for sentence in reader.feed(piece):
                yield sentence
    for sentence in reader.finish():
        yield sentence


def choose_passages(judgement: Judgement) -> list[Passage]:
    """Return the passages with evidence, best first, as many as fit in a prompt."""
    chosen: list[Passage] = []
    room = MOST_CHARACTERS
    for evidence in judgement.evidence:
        if not any(evidence.passage is other for other in chosen):
            room -= len(evidence.passage.chunk.text)
            if chosen and room < 0:
                break
            chosen.append(evidence.passage)
    return chosen


def make_draft(sentence: WrittenSentence, passages: Sequence[Passage]) -> Draft:
    """Replace the numbers of passages by passages; unknown numbers are dropped."""
    quotes = tuple(
        (passages[number - 1], quote)
        for number, quote in sentence.quotes
        if 0 < number <= len(passages)
    )
    return Draft(sentence.text, quotes)
