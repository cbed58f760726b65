"""The Generator port on a language model: yields lines with their quotes as they are written."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from agents import Agent, TResponseInputItem

from bythebook.adapters.providers.agents.calls.model_calls import (
    AgentContext,
    ModelCalls,
    ModelRequest,
    make_settings,
)
from bythebook.adapters.providers.agents.prompts import (
    EXAMPLE_ANSWER,
    EXAMPLE_PROMPT,
    GENERATOR,
    WRITE,
)
from bythebook.adapters.providers.agents.replies.json_objects import UnusableAnswer
from bythebook.adapters.providers.agents.replies.line_reader import LineReader
from bythebook.adapters.providers.agents.roles.fence import Fence, leave_unchanged
from bythebook.adapters.providers.agents.roles.guardrails import (
    Neutralize,
    make_question_guardrail,
)
from bythebook.adapters.providers.agents.roles.numbered_sentences import NumberedSentences
from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage

MOST_SENTENCES = 6
MOST_TOKENS = 2000  # that a model may write, its reasoning among them
MOST_PASSAGES = 3
WORTH_READING = 0.02  # of the best sentence's chance to answer: below it a passage only costs time
MOST_CHARACTERS = 8_000  # of passages in one prompt


@dataclass(frozen=True, slots=True)
class Writing:
    """An agent that writes one answer, its prompt, and the sentences that it may cite."""

    agent: Agent[AgentContext]
    prompt: list[TResponseInputItem]
    sentences: NumberedSentences

    async def read(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[Draft]:
        """Yield each line as soon as it is complete; a model that does not end is left alone."""
        reader = LineReader()
        async with aclosing(pieces):
            async for piece in pieces:
                for line in reader.feed(piece):
                    for draft in self.sentences.drafts(line):
                        yield draft
                if reader.is_runaway:
                    break
        for line in reader.finish():
            for draft in self.sentences.drafts(line):
                yield draft


class AgentsGenerator:
    """Lets a model write answers; nothing is shown before it is verified."""

    def __init__(self, calls: ModelCalls, *, neutralize: Neutralize = leave_unchanged) -> None:
        self._calls = calls
        self._neutralize = neutralize

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Yield each line as soon as it is complete, then the usage.

        An answer that is cut off is a failure, whatever came before. An answer without lines is the
        model's verdict that the passages do not answer.
        """
        async with self._calls.request("write an answer", plan.model) as request:
            async with aclosing(self.stream_drafts(request, plan, judgement)) as drafts:
                async for draft in drafts:
                    yield draft
            yield request.take_usage()

    async def stream_drafts(
        self, request: ModelRequest, plan: Plan, judgement: Judgement
    ) -> AsyncGenerator[Draft]:
        """Yield drafts within a request."""
        writing = self.prepare(plan, judgement)
        context = AgentContext(plan.question)
        pieces = request.stream_text(writing.agent, writing.prompt, context)
        async with aclosing(writing.read(pieces)) as drafts:
            try:
                async for draft in drafts:
                    yield draft
            except UnusableAnswer:
                return  # nothing was asked, or a tool was called that is not there

    def prepare(self, plan: Plan, judgement: Judgement) -> Writing:
        """Make the agent of one question, and its prompt."""
        sentences = NumberedSentences(choose_passages(judgement), plan.question, self._neutralize)
        question = self._neutralize(plan.question)
        mark, fenced = Fence().enclose([("passages", sentences.text), ("question", question)])
        most = min(plan.most_sentences or MOST_SENTENCES, MOST_SENTENCES)
        agent = Agent[AgentContext](
            name="generator",
            instructions=GENERATOR.format(mark=mark, most=f"{most} line{'s' if most > 1 else ''}"),
            model_settings=make_settings(max_tokens=MOST_TOKENS),
            input_guardrails=[make_question_guardrail(self._neutralize)],
        )
        prompt: list[TResponseInputItem] = [
            {"role": "user", "content": EXAMPLE_PROMPT},
            {"role": "assistant", "content": EXAMPLE_ANSWER},
            {"role": "user", "content": f"{fenced}\n{WRITE}"},
        ]
        return Writing(agent, prompt, sentences)


def choose_passages(judgement: Judgement) -> list[Passage]:
    """Return the passages that may answer, best first and one of each part, as many as fit in a prompt."""
    parts = [one for part in judgement.parts for one in part.evidence[:1]]
    least = WORTH_READING * max((one.support for one in judgement.evidence), default=0.0)
    chosen: list[Passage] = []
    room = MOST_CHARACTERS
    for evidence in (*parts, *(one for one in judgement.evidence if one.support >= least)):
        if not any(evidence.passage is other for other in chosen):
            room -= len(evidence.passage.chunk.text)
            if chosen and (room < 0 or len(chosen) == MOST_PASSAGES):
                break
            chosen.append(evidence.passage)
    return chosen
