import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from tests.unit.fakes import (
    FakeCalibrations,
    FakeEmbedder,
    FakeIndex,
    FakeLibrary,
    FakeSupport,
    UntouchableEmbedder,
    UntouchableIndex,
    UntouchableLibrary,
    make_chunk,
)

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.pipeline import READ_OF_PART, answer
from bythebook.ask.retrieve.passages import READ_AT_MOST
from bythebook.ask.retrieve.relevance import relevance_map
from bythebook.ask.run import AnswerRun
from bythebook.ask.show.wording import DISCLAIMER
from bythebook.domain.answers import (
    Answered,
    Event,
    Evidence,
    Hit,
    Judged,
    Judgement,
    Passage,
    Refused,
)
from bythebook.domain.questions import Question, Scope
from bythebook.errors import StoreFailed

BOTH = "What is ROS 2 and who invented it?"
ASKED = Question(BOTH)
WHAT, WHO = "What is ROS 2?", "Who invented it?"
IS = make_chunk("ROS 2 is a set of libraries.", document_id="a", section="What")
BY = make_chunk("Willow Garage invented ROS 2.", document_id="b", section="Who")
FILLER = [make_chunk(f"Filler {n}.", document_id=f"f{n}", section=f"F{n}") for n in range(9)]


@dataclass
class PartJudge:
    """Finds for each question the unit that holds the word set for it."""

    words: dict[str, str]
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.asked.append((question, len(passages)))
        word = self.words.get(question)
        found = [
            Evidence(passage, unit, 0.9)
            for passage in passages
            for unit, text in zip(passage.chunk.units, passage.chunk.unit_texts(), strict=True)
            if word and word in text
        ]
        supports = tuple(0.9 * any(one.passage == p for one in found) for p in passages)
        return Judgement(0.9 if found else 0.05, supports, tuple(found))


def ports(judge: PartJudge, *, cosine: float = 0.9, failure: Exception | None = None) -> AskPorts:
    hits = [Hit(chunk, cosine, 0.0) for chunk in (IS, BY, *FILLER)]
    return AskPorts(
        library=FakeLibrary(),
        embedder=FakeEmbedder(),
        index=FakeIndex(hits, failure),
        calibrations=FakeCalibrations(),
        judge=judge,
        support=FakeSupport(),
        generator=ExtractiveGenerator(),
        reader_url="http://reader.test",
    )


def events(given: AskPorts, question: Question = ASKED) -> list[Event]:
    async def run() -> list[Event]:
        return [event async for event in answer(AnswerRun(question, given))]

    return asyncio.run(run())


def collect_answer(given: AskPorts, question: Question = ASKED) -> Answered:
    end = events(given, question)[-1]
    assert isinstance(end, Answered)
    return end


def test_both_parts_are_answered_in_the_order_asked() -> None:
    end = collect_answer(ports(PartJudge({WHAT: "libraries", WHO: "Garage"})))
    assert [one.text for one in end.sentences] == [
        "ROS 2 is a set of libraries.",
        "Willow Garage invented ROS 2.",
    ]
    assert (end.missing, end.disclaimer) == ((), None)
    assert end.grounded


def test_a_part_that_is_not_covered_is_named_in_the_readers_words() -> None:
    told = events(ports(PartJudge({WHAT: "libraries"})))
    judged, end = told[2], told[-1]
    assert isinstance(judged, Judged)
    assert isinstance(end, Answered)
    assert [one.text for one in end.sentences] == ["ROS 2 is a set of libraries."]
    assert end.missing == judged.missing == ("who invented it",)
    assert end.disclaimer == judged.disclaimer == "The book does not say: “who invented it”."
    assert judged.passages == end.passages


def test_no_part_covered_leaves_it_to_the_whole_question() -> None:
    judge = PartJudge({})
    end = events(ports(judge))[-1]
    assert isinstance(end, Refused)
    assert end.refusal_type == "insufficient_grounding"
    assert [question for question, _ in judge.asked] == [WHAT, WHO, BOTH]
    whole = collect_answer(ports(PartJudge({BOTH: "Garage"})))
    assert (whole.sentences[0].text, whole.missing) == ("Willow Garage invented ROS 2.", ())


def test_two_parts_cost_little_more_than_one_question() -> None:
    judge = PartJudge({WHAT: "libraries"})
    collect_answer(ports(judge))
    assert judge.asked == [(WHAT, READ_OF_PART), (WHO, READ_OF_PART)]
    assert 2 * READ_OF_PART <= 2 * READ_AT_MOST


def test_a_doubtful_part_brings_the_caution_too() -> None:
    doubtful = relevance_map(FakeEmbedder().model_id).midpoint - 0.01
    end = collect_answer(ports(PartJudge({WHAT: "libraries"}), cosine=doubtful))
    assert end.disclaimer == f"{DISCLAIMER} The book does not say: “who invented it”."


def test_no_more_passages_are_given_than_asked_for_and_each_part_has_its_own() -> None:
    judge = PartJudge({WHAT: "Filler", WHO: "Garage"})
    end = collect_answer(ports(judge), Question(BOTH, top_k=2))
    assert {one.chunk.section for one in end.passages} == {"F0", "Who"}
    assert len(end.judgement.supports) == 2
    assert end.grounded


def test_a_selection_of_which_a_part_is_answered_says_what_is_missing() -> None:
    given = ports(PartJudge({WHAT: "libraries"}))
    given = AskPorts(
        UntouchableLibrary(),
        UntouchableEmbedder(),
        UntouchableIndex(),
        given.calibrations,
        given.judge,
        given.support,
        given.generator,
        given.reader_url,
    )
    asked = Question(BOTH, Scope(selected_text="ROS 2 is a set of libraries. It runs."))
    end = collect_answer(given, asked)
    assert end.disclaimer == "The selected text does not say: “who invented it”."


def test_a_search_that_fails_for_a_part_is_an_error_and_not_a_missing_part() -> None:
    with pytest.raises(StoreFailed):
        events(ports(PartJudge({WHAT: "libraries"}), failure=StoreFailed("The index is gone.")))


def test_a_search_that_fails_only_for_the_second_part_is_an_error_too() -> None:
    given = ports(PartJudge({WHAT: "libraries"}))
    index: FakeIndex = FakeIndex([Hit(IS, 0.9, 0.0)])

    class Failing(PartJudge):
        async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
            index.failure = StoreFailed("The index is gone.")  # from the first part on
            return await super().judge(question, passages)

    failing = AskPorts(
        given.library,
        given.embedder,
        index,
        given.calibrations,
        Failing({WHAT: "libraries"}),
        given.support,
        given.generator,
        given.reader_url,
    )
    with pytest.raises(StoreFailed):
        events(failing)
