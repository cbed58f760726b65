"""The Generator port on a language model: sentences with quotes, as they are written."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from agents import Agent

from bythebook.adapters.providers.agents.answer_reader import (
    AnswerReader,
    MadeUpAnswer,
    NothingAsked,
    UnusableAnswer,
    WrittenSentence,
)
from bythebook.adapters.providers.agents.fence import Fence, as_is, numbered
from bythebook.adapters.providers.agents.forms import ANSWER
from bythebook.adapters.providers.agents.guardrails import (
    Neutral,
    Stands,
    question_guardrail,
    quotes_guardrail,
)
from bythebook.adapters.providers.agents.prompts import GENERATOR
from bythebook.adapters.providers.agents.runs import (
    Errand,
    ModelRequest,
    Prompt,
    Runs,
    repaired,
    settings_of,
    unusable,
)
from bythebook.domain.answers import Draft, Judgement, Passage
from bythebook.domain.questions import Plan
from bythebook.domain.usage import Usage

MOST_SENTENCES = 6
MOST_CHARACTERS = 32_000  # of passages in one prompt


class AgentsGenerator:
    """Has a model write answers; nothing that it writes is shown before it was verified."""

    def __init__(
        self, runs: Runs, *, neutral: Neutral = as_is, stands: Stands | None = None
    ) -> None:
        self._runs = runs
        self._neutral = neutral
        self._stands = stands

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        """Give sentences as soon as each is whole, then what they took.

        An answer that is cut, empty or not in form is a failure, whatever came before it. An
        answer without sentences is the model's verdict that the passages do not answer.
        """
        failure: UnusableAnswer | None = None
        async with self._runs.request("write an answer", plan.model) as request:
            try:
                async with aclosing(self.drafts(request, plan, judgement)) as drafts:
                    async for draft in drafts:
                        yield draft
            except UnusableAnswer as error:  # told below: a bad form is no outage of the provider
                failure = error
            yield request.usage()
        if failure is not None:
            raise unusable(failure)

    async def drafts(
        self, request: ModelRequest, plan: Plan, judgement: Judgement
    ) -> AsyncGenerator[Draft]:
        """Give sentences within a request; one repair, and UnusableAnswer if that fails as well."""
        errand = Errand(plan.question, shown_passages(judgement))
        agent, prompt = self.agent_for(plan, errand.passages)
        try:
            async with aclosing(self._sentences(request, agent, prompt, errand)) as sentences:
                async for sentence in sentences:
                    yield drafted(sentence, errand.passages)
        except NothingAsked:
            return  # and nothing is said
        except MadeUpAnswer:
            return  # it insists: verification drops what does not stand

    def agent_for(self, plan: Plan, passages: Sequence[Passage]) -> tuple[Agent[Errand], str]:
        """Make the agent of one question, and what it is given to read."""
        question = ("question", self._neutral(plan.question))
        mark, fenced = Fence().around([*numbered(passages, plan.question, self._neutral), question])
        most = min(plan.most_sentences or MOST_SENTENCES, MOST_SENTENCES)
        agent = Agent[Errand](
            name="generator",
            instructions=GENERATOR.format(
                mark=mark, most=f"{most} sentence{'s' if most > 1 else ''}"
            ),
            output_type=ANSWER,
            model_settings=settings_of(),
            input_guardrails=[question_guardrail(self._neutral)],
            output_guardrails=[quotes_guardrail(self._stands)] if self._stands else [],
        )
        return agent, fenced

    async def _sentences(
        self, request: ModelRequest, agent: Agent[Errand], prompt: str, errand: Errand
    ) -> AsyncGenerator[WrittenSentence]:
        """Read an answer as it comes; one that cannot be used may be written once more."""
        reader = AnswerReader()
        try:
            async with aclosing(_read(reader, request, agent, prompt, errand)) as sentences:
                async for sentence in sentences:
                    yield sentence
        except UnusableAnswer as error:
            if reader.sentences and not reader.complete:
                raise  # a part of it was given away: there is no taking it back
            again = repaired(prompt, reader.written, error)
        else:
            return
        async with aclosing(_read(AnswerReader(), request, agent, again, errand)) as sentences:
            async for sentence in sentences:
                yield sentence


async def _read(
    reader: AnswerReader,
    request: ModelRequest,
    agent: Agent[Errand],
    prompt: Prompt,
    errand: Errand,
) -> AsyncGenerator[WrittenSentence]:
    async with aclosing(request.written(agent, prompt, errand)) as pieces:
        async for piece in pieces:
            for sentence in reader.feed(piece):
                yield sentence
    for sentence in reader.finish():
        yield sentence


def shown_passages(judgement: Judgement) -> list[Passage]:
    """Give the passages with evidence, best first, as many as a prompt takes."""
    shown: list[Passage] = []
    room = MOST_CHARACTERS
    for evidence in judgement.evidence:
        if not any(evidence.passage is other for other in shown):
            room -= len(evidence.passage.chunk.text)
            if shown and room < 0:
                break
            shown.append(evidence.passage)
    return shown


def drafted(sentence: WrittenSentence, passages: Sequence[Passage]) -> Draft:
    """Put passages in the place of their numbers; one that was never shown cannot be quoted."""
    quotes = tuple(
        (passages[number - 1], quote)
        for number, quote in sentence.quotes
        if 0 < number <= len(passages)
    )
    return Draft(sentence.text, quotes)
