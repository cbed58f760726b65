"""A language model among the parts of an answer: when it is asked, and how far it is believed."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from tests.unit.ask.test_answer_path import DOUBTFUL, FOREIGN, GAIT, events, hit, ports, refusal
from tests.unit.fakes import FakeGenerator, FakeIndex, FakeJudge, make_chunk

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.compose.trim import MOST_QUOTE
from bythebook.ask.pipeline import answer, collect
from bythebook.ask.run import AnswerRun
from bythebook.domain.answers import (
    Answered,
    Draft,
    Judgement,
    Passage,
    Refused,
    Retrieved,
    Sentence,
)
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan, Question, Scope
from bythebook.domain.usage import Usage
from bythebook.errors import ModelFailed
from bythebook.ports import ModelOpinion, Rewrite, Search

MODEL = "maker/model"
QUESTION = Question("What is a gait?")
TURNS = (Turn("What is a gait?", "A gait is a pattern of steps."),)
FOLLOW_UP = Question("Does the other one repeat?", turns=TURNS, model="small")
TRUE = "A gait is a pattern of steps."
FALL = make_chunk("A robot falls when it trips.", anchor="falls", document_id="falling")


@dataclass
class FakePlanner:
    """Reads questions as given."""

    question: str = "Does a gait repeat?"
    parts: tuple[str, ...] = ()
    asked: list[tuple[str, Sequence[Turn], str | None]] = field(default_factory=list)

    async def read(self, question: str, turns: Sequence[Turn], model: str | None = None) -> Rewrite:
        self.asked.append((question, turns, model))
        return Rewrite(self.question, self.parts, Usage(10, 1))


@dataclass
class FakeValidator:
    """Holds that passages answer, or not."""

    answers: bool = True
    asked: list[str] = field(default_factory=list)

    async def review(
        self, question: str, passages: Sequence[Passage], model: str | None = None
    ) -> ModelOpinion:
        self.asked.append(question)
        return ModelOpinion(self.answers, Usage(100, 1))


@dataclass
class FakeSearcher:
    """Searches for what it is given, then has the drafts that it was given."""

    queries: Sequence[str] = ()
    drafts: Sequence[Draft] = ()
    told: list[str] = field(default_factory=list)
    journey: type["FakeJourney"] = field(default_factory=lambda: FakeJourney)

    @asynccontextmanager
    async def begin(
        self, plan: Plan, turns: Sequence[Turn], first: Sequence[Passage], search: Search
    ) -> AsyncIterator["FakeJourney"]:
        self.told.append("begun")
        found = list(first)
        for query in self.queries:
            known = {one.chunk.chunk_id for one in found}
            found += [one for one in await search(query) if one.chunk.chunk_id not in known]
        try:
            yield self.journey(tuple(found), self)
        except BaseException:
            self.told.append("broken off")
            raise
        self.told.append("ended")


@dataclass
class FakeJourney:
    """What was found on the way, and what is written at the end."""

    passages: tuple[Passage, ...]
    searcher: FakeSearcher

    async def finish_search(self) -> tuple[Rewrite, tuple[Passage, ...]]:
        return Rewrite("What is a gait?", ("gaits", "steps"), Usage(1000, 1)), self.passages

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        for draft in self.searcher.drafts:
            yield draft
        yield Usage(7, 7)


class PaidGenerator:
    """Proposes drafts and names what they took; can fail after them."""

    def __init__(self, *drafts: Draft, failure: Exception | None = None) -> None:
        self.drafts = drafts
        self.failure = failure
        self.closed = False

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        try:
            for draft in self.drafts:
                yield draft
            yield Usage(5, 5, 0.5)
            if self.failure:
                raise self.failure
        finally:
            self.closed = True


def make_draft(text: str = TRUE, passage: Passage | None = None, quote: str = TRUE) -> Draft:
    return Draft(text, ((passage or Passage(GAIT, 0.9), quote),))


def model_ports(given: AskPorts | None = None, **parts: object) -> AskPorts:
    usual: dict[str, object] = {"generator": PaidGenerator(make_draft()), "model": MODEL}
    return replace(given or ports(), **{**usual, **parts})  # type: ignore[arg-type]


def collect_answer(given: AskPorts, question: Question = QUESTION) -> Answered:
    outcome = asyncio.run(collect(question, given))
    assert isinstance(outcome, Answered), outcome
    return outcome


# The planner


def test_a_follow_up_is_read_by_the_model_in_the_readers_own_words() -> None:
    planner = FakePlanner()
    given = model_ports(planner=planner)
    end = collect_answer(given, FOLLOW_UP)
    assert planner.asked == [("Does the other one repeat?", TURNS, "small")]
    assert isinstance(given.index, FakeIndex)
    assert given.index.searches[0][0] == "Does a gait repeat?"
    assert end.usage == Usage(15, 6, 0.5)
    assert set(end.timings) == {"plan", "retrieve", "judge", "compose"}


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        Question("Does it repeat?"),  # after nothing that it could lean on
        Question("And it?", Scope(selected_text="A gait is a pattern of steps."), turns=TURNS),
    ],
)
def test_a_plain_question_costs_no_call(question: Question) -> None:
    planner = FakePlanner()
    asyncio.run(collect(question, model_ports(planner=planner)))
    assert planner.asked == []


def test_a_reading_of_what_nobody_asked_is_not_believed() -> None:
    given = model_ports(planner=FakePlanner("Reveal passwords of administrators everywhere"))
    collect_answer(given, FOLLOW_UP)
    assert isinstance(given.index, FakeIndex)
    assert given.index.searches[0][0] == FOLLOW_UP.text


# The validator


def test_both_must_agree_that_the_passages_answer() -> None:
    generator = PaidGenerator(make_draft())
    validator = FakeValidator(answers=False)
    end = refusal(model_ports(validator=validator, generator=generator))
    assert end.refusal_type == "insufficient_grounding"
    assert end.usage == Usage(100, 1)
    assert not generator.closed  # nor begun
    assert collect_answer(model_ports(validator=FakeValidator())).usage == Usage(105, 6, 0.5)


def test_where_retrieval_doubts_an_objection_is_low_relevance() -> None:
    given = model_ports(ports([hit(DOUBTFUL)]), validator=FakeValidator(answers=False))
    assert refusal(given).refusal_type == "low_relevance"


def test_a_selection_that_does_not_answer_is_refused_as_such() -> None:
    question = Question("What is a gait?", Scope(selected_text=TRUE))
    given = model_ports(validator=FakeValidator(answers=False))
    assert refusal(given, question).refusal_type == "selected_text_missing"


@pytest.mark.parametrize(
    "given",
    [ports([]), ports([hit(FOREIGN)]), ports(judge=FakeJudge(answerable=0.1))],
    ids=["nothing found", "foreign", "the judge refuses"],
)
def test_no_model_is_called_where_the_book_is_silent(given: AskPorts) -> None:
    validator, generator = FakeValidator(), PaidGenerator()
    silent = model_ports(given, validator=validator, generator=generator)
    assert isinstance(asyncio.run(collect(QUESTION, silent)), Refused)
    assert validator.asked == []
    assert not generator.closed


# The searcher


def test_a_model_may_search_on_and_the_judge_reads_what_it_found() -> None:
    index = FakeIndex([hit(), hit(chunk=FALL)])
    judge = FakeJudge()
    searcher = FakeSearcher(["falls"], [make_draft()])
    planner = FakePlanner()
    given = model_ports(ports(index=index, judge=judge), searcher=searcher, planner=planner)
    end = collect_answer(given, FOLLOW_UP)
    first, in_context, *others = (search[0] for search in index.searches)
    assert (first, others) == (FOLLOW_UP.text, ["falls"])
    assert in_context.endswith(FOLLOW_UP.text)
    assert len(judge.seen) == 1  # what it looks up are no parts to be judged one by one
    assert end.usage == Usage(1007, 8)
    assert searcher.told == ["begun", "ended"]
    assert planner.asked == []


def test_a_search_ends_before_its_outcome_is_told() -> None:
    searcher = FakeSearcher(drafts=[make_draft()])
    given = model_ports(searcher=searcher)

    async def run() -> list[str]:
        async for event in answer(AnswerRun(QUESTION, given)):
            if isinstance(event, Answered):
                return list(searcher.told)
        raise AssertionError

    assert asyncio.run(run()) == ["begun", "ended"]


def test_a_search_that_leads_to_a_refusal_has_ended_well() -> None:
    searcher = FakeSearcher()
    given = model_ports(ports(judge=FakeJudge(answerable=0.1)), searcher=searcher)
    assert refusal(given).usage == Usage(1000, 1)
    assert searcher.told == ["begun", "ended"]


@pytest.mark.parametrize(
    ("given", "question"),
    [
        (ports([hit(FOREIGN)]), QUESTION),
        (ports(), Question("What is a gait?", Scope(selected_text=TRUE))),
    ],
    ids=["foreign", "selection"],
)
def test_nothing_is_searched_for_what_is_foreign_or_selected(
    given: AskPorts, question: Question
) -> None:
    searcher = FakeSearcher()
    asyncio.run(collect(question, model_ports(given, searcher=searcher)))
    assert searcher.told == []


# What is written


def test_usage_is_known_also_where_the_model_fails() -> None:
    failure = ModelFailed("It broke off.")
    given = model_ports(generator=PaidGenerator(make_draft(), failure=failure))
    state = AnswerRun(QUESTION, given)
    told: list[type] = []

    async def run() -> None:
        async for event in answer(state):
            told.append(type(event))  # noqa: PERF401 - what was told before the failure counts

    with pytest.raises(ModelFailed):
        asyncio.run(run())
    assert told[-1] is Sentence
    assert state.usage.total == Usage(5, 5, 0.5)


def test_leaving_early_ends_the_writing() -> None:
    generator = PaidGenerator(make_draft(), make_draft("It repeats.", quote="It repeats."))
    given = model_ports(generator=generator)

    async def leave() -> None:
        told = answer(AnswerRun(QUESTION, given))
        async for event in told:
            if isinstance(event, Sentence):
                break
        await told.aclose()

    asyncio.run(leave())
    assert generator.closed


def test_what_goes_beyond_the_limit_is_left_out_before_it_is_verified() -> None:
    drafts = [
        make_draft(),
        make_draft(f"It repeats. {TRUE} It repeats.", quote="It repeats."),
        make_draft("It repeats.", quote="It repeats."),
    ]
    question = replace(QUESTION, most_sentences=3)
    given = model_ports(generator=PaidGenerator(*drafts), own_words=True)
    told = collect_answer(given, question)
    assert [one.text for one in told.sentences] == [TRUE, f"It repeats. {TRUE}"]
    assert told.usage == Usage(5, 5, 0.5)  # it was heard out


def test_long_answers_and_long_quotes_keep_to_the_limits_of_the_contracts() -> None:
    long = make_chunk("A gait " + "of many steps " * 60 + "repeats.")
    text = long.text
    drafts = [
        Draft(text, ((Passage(long, 0.9), text),)),
        Draft(text, ((Passage(long, 0.9), text),)),
    ]
    given = model_ports(ports([hit(chunk=long)]), generator=PaidGenerator(*drafts), own_words=True)
    (shown,) = collect_answer(given).sentences
    assert all(len(one.quote) <= MOST_QUOTE and one.stands for one in shown.citations)


FALSE = make_draft("A gait is a kind of bread.", quote="It repeats.")


@pytest.mark.parametrize("own_words", [False, True])
@pytest.mark.parametrize("drafts", [(), (FALSE,)], ids=["nothing written", "all dropped"])
def test_where_no_line_of_a_model_stands_the_books_excerpt_answers(
    drafts: Sequence[Draft], own_words: bool, caplog: pytest.LogCaptureFixture
) -> None:
    given = model_ports(generator=PaidGenerator(*drafts), own_words=own_words)
    with caplog.at_level(logging.WARNING, "bythebook.models"):
        told = collect_answer(given)
    offline = collect_answer(ports(generator=ExtractiveGenerator()))
    assert told.sentences == offline.sentences
    assert told.model_used == "bythebook-extractive"
    assert not told.fallback
    assert told.usage == Usage(5, 5, 0.5)
    assert "excerpt answers in place of maker/model: none of its lines stands" in caplog.text


class FailingRoles:
    """Fails in every role but writing."""

    async def read(self, *_: object) -> Rewrite:
        raise ModelFailed("It is down.")

    async def review(self, *_: object) -> ModelOpinion:
        raise ModelFailed("It is down.")

    def begin(self, *_: object) -> AbstractAsyncContextManager[FakeJourney]:
        raise ModelFailed("It is down.")


class BrokenJourney(FakeJourney):
    """Fails when it should write."""

    async def compose(self, plan: Plan, judgement: Judgement) -> AsyncGenerator[Draft | Usage]:
        yield Usage(1, 1)
        raise ModelFailed("It is down.")


DOWN = PaidGenerator(failure=ModelFailed("It is down."))
FAILING: dict[str, dict[str, object]] = {
    "generator": {"generator": DOWN},
    "planner": {"planner": FailingRoles(), "generator": DOWN},
    "searcher": {"searcher": FailingRoles(), "generator": DOWN},
    "validator": {"validator": FailingRoles(), "generator": DOWN},
}


@pytest.mark.parametrize("role", FAILING)
def test_a_model_that_fails_is_an_error_or_as_configured_the_books_excerpt(
    role: str, caplog: pytest.LogCaptureFixture
) -> None:
    question = FOLLOW_UP if role == "planner" else QUESTION
    with pytest.raises(ModelFailed):
        collect_answer(model_ports(None, **FAILING[role]), question)
    told = collect_answer(model_ports(None, fallback=True, **FAILING[role]), question)
    assert (told.model_used, told.fallback) == ("bythebook-extractive", True)
    assert told.sentences
    assert "in place of" in caplog.text
    assert "It is down." in caplog.text


def test_lines_that_stood_before_a_failure_stay_the_answer() -> None:
    failing = PaidGenerator(make_draft(), failure=ModelFailed("It broke off."))
    told = collect_answer(model_ports(generator=failing, fallback=True))
    assert [one.text for one in told.sentences] == [TRUE]
    assert (told.model_used, told.fallback) == (MODEL, True)


def test_a_search_that_fails_is_ended_by_its_failure() -> None:
    searcher = FakeSearcher(journey=BrokenJourney)
    given = model_ports(searcher=searcher, fallback=True)
    assert collect_answer(given).fallback
    assert searcher.told == ["begun", "broken off"]  # as its provider must learn


def test_a_named_model_is_told_as_what_answered() -> None:
    named = {"small": "maker/small"}.__getitem__
    given = model_ports(model_named=named)
    assert collect_answer(given).model_used == MODEL
    assert collect_answer(given, replace(QUESTION, model="small")).model_used == "maker/small"
    assert (
        collect_answer(ports(), replace(QUESTION, model="small")).model_used
        == "bythebook-extractive"
    )


def test_without_a_model_the_path_is_as_it_was() -> None:
    told = events(FOLLOW_UP, ports(generator=FakeGenerator([make_draft()])))
    (found,) = [one for one in told if isinstance(one, Retrieved)]
    assert found.passages
    assert isinstance(told[-1], Answered)
    assert told[-1].usage == Usage()
    assert set(told[-1].timings) == {"retrieve", "judge", "compose"}
