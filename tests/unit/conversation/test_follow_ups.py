"""Follow-ups: searched with the turns before them, read as asked and together with the question before."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.unit.fakes import (
    MODEL,
    FakeCalibrations,
    FakeEmbedder,
    FakeIndex,
    FakeJudge,
    FakeLibrary,
    FakeSupport,
    make_chunk,
)

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.conversation.context import recall_context
from bythebook.ask.pipeline import collect
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.read.follow_up import READ_TWICE, judge_follow_up
from bythebook.ask.retrieve.fusion import STANDS_ALONE, fuse_in_context
from bythebook.bootstrap import Core
from bythebook.domain.answers import Answered, Evidence, Hit, Judgement, Passage
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Plan, Question, Scope
from bythebook.evaluate.run import holds_gold
from bythebook.ports import Lookup

DIALOGUES = Path(__file__).parents[3] / "evals" / "dialogues.jsonl"
TURNS = (Turn("What is a gait?", "A gait is a pattern of steps."),)
FOLLOW_UP = Question("How fast is it?", turns=TURNS)
SPEED = make_chunk("It walks at 2 m/s.", char_start=0, section="Speed")
COST = make_chunk("It costs 2 euros.", char_start=100, section="Cost")
SIZE = make_chunk("It is 2 m high.", char_start=200, section="Size")
NEAR, FAR = STANDS_ALONE + 0.1, STANDS_ALONE - 0.3


@dataclass
class ScriptedIndex(FakeIndex):
    """Finds different chunks for different questions."""

    by_question: dict[str, Sequence[Hit]] = field(default_factory=dict)

    async def search(self, wanted: Lookup) -> Sequence[Hit]:
        await super().search(wanted)
        return self.by_question.get(wanted.question, self.hits)


@dataclass
class WordJudge(FakeJudge):
    """Judges as given for each question, and keeps what it was asked."""

    sure: dict[str, float] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def judge(self, question: str, passages: Sequence[Passage]) -> Judgement:
        self.asked.append((question, len(passages)))
        given = await super().judge(question, passages)
        return replace(given, answerable=self.sure.get(question, self.answerable))


def ports(index: FakeIndex, judge: FakeJudge | None = None) -> AskPorts:
    return AskPorts(
        library=FakeLibrary(),
        embedder=FakeEmbedder(),
        index=index,
        calibrations=FakeCalibrations(),
        judge=judge or FakeJudge(),
        support=FakeSupport(),
        generator=ExtractiveGenerator(),
        reader_url="http://reader.test",
    )


def list_searches(question: Question, index: FakeIndex) -> list[str]:
    asyncio.run(collect(question, ports(index)))
    return [text for text, _, _ in index.searches]


def test_the_context_is_the_last_questions_and_the_beginning_of_the_last_answer() -> None:
    turns = [Turn(f"Question {n}?", f"Answer {n}. " + "x" * 900) for n in range(5)]
    context = recall_context([*turns, Turn("Refused?")])
    assert context.startswith("Question 3? Question 4? Refused? Answer 4. xxx")
    assert len(context) < 300
    assert recall_context(()) == ""


def test_a_follow_up_is_searched_by_itself_and_with_the_turns_before_it() -> None:
    index = FakeIndex([Hit(SPEED, FAR, 0.0)])
    joined = "What is a gait? A gait is a pattern of steps. How fast is it?"
    assert list_searches(FOLLOW_UP, index) == ["How fast is it?", joined]


@pytest.mark.parametrize(
    ("question", "cosine"),
    [
        (FOLLOW_UP, NEAR),  # it finds by itself what it is about
        (replace(FOLLOW_UP, turns=()), FAR),
    ],
)
def test_a_question_that_stands_alone_is_searched_once(question: Question, cosine: float) -> None:
    assert list_searches(question, FakeIndex([Hit(SPEED, cosine, 0.0)])) == [question.text]


def test_a_selection_has_no_context() -> None:
    assert make_plan(replace(FOLLOW_UP, scope=Scope(selected_text="It walks."))).turns == ()


def test_both_searches_count_and_the_one_with_the_turns_more() -> None:
    alone = [Hit(COST, 0.5, 0.0), Hit(SPEED, 0.4, 0.0)]
    in_context = [Hit(SPEED, 0.6, 0.0), Hit(SIZE, 0.3, 0.0)]
    first, *others = fuse_in_context(alone, in_context, MODEL)
    assert first.chunk == SPEED
    assert [one.chunk for one in others] == [COST, SIZE]
    assert first.signal == pytest.approx(0.4 / 3 + 0.6 * 2 / 3)
    assert first.in_context
    assert fuse_in_context((), (), MODEL) == ()


def test_the_judge_reads_a_follow_up_as_asked_and_the_best_passages_with_the_question_before() -> (
    None
):
    chunks = [make_chunk(f"Fact {n}.", char_start=100 * n, section=str(n)) for n in range(6)]
    passages = [Passage(chunk, 0.9, 0.5, 0.5, in_context=True) for chunk in chunks]
    judge = WordJudge()
    asyncio.run(judge_follow_up(judge, "How fast is it?", TURNS, passages))
    assert judge.asked == [("How fast is it?", 6), ("How fast is it? What is a gait?", READ_TWICE)]


def test_a_unit_that_both_readings_choose_comes_first() -> None:
    passages = [Passage(chunk, 0.9, 0.5, 0.5, in_context=True) for chunk in (SPEED, COST)]

    class TwoMinds:
        async def judge(self, question: str, read: Sequence[Passage]) -> Judgement:
            shares = (0.6, 0.4) if question == "How much?" else (0.1, 0.9)
            found = [Evidence(p, p.chunk.units[0], s) for p, s in zip(read, shares, strict=True)]
            return Judgement(0.5, shares, tuple(sorted(found, key=lambda one: -one.support)))

    judged = asyncio.run(judge_follow_up(TwoMinds(), "How much?", TURNS, passages))
    assert [one.passage.chunk for one in judged.evidence] == [COST, SPEED]
    assert sum(one.support for one in judged.evidence) == pytest.approx(1.0)
    assert judged.supports[1] > judged.supports[0]


def test_what_was_said_before_is_said_again_only_if_nothing_else_answers() -> None:
    passages = [Passage(chunk, 0.9, 0.5, 0.5, in_context=True) for chunk in (SPEED, COST)]
    turns = (Turn("How fast is the robot?", "Fast. It walks at 2 m/s."),)
    judged = asyncio.run(judge_follow_up(FakeJudge(), "And?", turns, passages))
    assert [one.passage.chunk for one in judged.evidence] == [COST, SPEED]


@pytest.mark.parametrize(("sure", "answers"), [(0.2, True), (0.02, False)])
def test_what_a_follow_up_leaves_out_is_allowed_for_but_not_everything(
    sure: float, answers: bool
) -> None:
    judge = WordJudge(answerable=sure)
    outcome = asyncio.run(collect(FOLLOW_UP, ports(FakeIndex([Hit(SPEED, FAR, 0.0)]), judge)))
    assert isinstance(outcome, Answered) is answers


def test_a_part_that_refers_to_an_earlier_part_is_searched_with_it() -> None:
    question = Question("What is a gait and how fast is it?", top_k=5)
    texts = list_searches(question, FakeIndex([Hit(SPEED, FAR, 0.0), Hit(COST, FAR, 0.0)]))
    assert texts[1:] == ["What is a gait?", "How fast is it?", "What is a gait? How fast is it?"]


def test_a_plan_of_a_rewritten_question_leans_on_nothing() -> None:
    plan = make_plan(FOLLOW_UP)
    assert isinstance(plan, Plan)
    assert (plan.question, plan.turns) == (FOLLOW_UP.text, TURNS)


def test_how_to_subscribe_is_answered_after_a_question_on_publishers(sample_core: Core) -> None:
    first, follow_up, *_ = json.loads(DIALOGUES.read_text("utf-8").partition("\n")[0])["turns"]
    assert follow_up["question"] == "and how do I subscribe to it?"
    answer = asyncio.run(collect(Question(first["question"]), sample_core.ask))
    assert isinstance(answer, Answered)
    said = " ".join(sentence.text for sentence in answer.sentences)
    again = Question(follow_up["question"], turns=(Turn(first["question"], said),))
    outcome = asyncio.run(collect(again, sample_core.ask))
    assert isinstance(outcome, Answered)
    assert any(holds_gold(one.text, [follow_up["gold"]["quote"]]) for one in outcome.sentences)
