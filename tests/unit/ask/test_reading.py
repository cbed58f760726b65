"""A model's reading of a question is taken over only as far as question and conversation bear it out."""

import pytest

from bythebook.ask.plan.accept_rewrite import accept_rewrite, is_plain
from bythebook.ask.plan.make_plan import make_plan
from bythebook.domain.conversations import Turn
from bythebook.domain.questions import Question, Scope
from bythebook.domain.usage import Usage
from bythebook.ports.models import Rewrite

TURNS = (Turn("How do humanoid robots walk?", "They shift their weight from leg to leg."),)


@pytest.mark.parametrize(
    ("question", "turns", "plain"),
    [
        ("How do humanoid robots walk?", (), True),
        ("Why do they fall?", TURNS, False),
        ("And on stairs?", TURNS, False),
        ("How does a gyroscope measure rotation?", TURNS, True),
        ("How do robots walk? Any examples? Costs?", (), False),
    ],
)
def test_only_a_question_that_leans_or_asks_much_needs_a_second_reading(
    question: str, turns: tuple[Turn, ...], plain: bool
) -> None:
    assert is_plain(make_plan(Question(question)), turns) is plain


def test_a_selection_is_read_as_it_stands() -> None:
    plan = make_plan(Question("And why is it?", Scope(selected_text="Robots walk.")))
    assert is_plain(plan, TURNS)


def test_a_sound_reading_is_taken_over() -> None:
    plan = make_plan(Question("And why do they fall?"))
    read = accept_rewrite(plan, Rewrite("Why do humanoid robots\n fall?"), TURNS)
    assert read.question == "Why do humanoid robots fall?"
    assert read.parts == ()


@pytest.mark.parametrize(
    "question", ["", "Who won the national championship yesterday?", "robots " * 100]
)
def test_a_reading_that_nobody_asked_for_is_not(question: str) -> None:
    plan = make_plan(Question("And why do they fall?"))
    assert accept_rewrite(plan, Rewrite(question, ("a", "b")), TURNS) == plan


def test_parts_are_taken_over_if_there_are_few_and_all_are_sound() -> None:
    plan = make_plan(Question("Why do robots fall? And how do they walk? Any examples?"))
    parts = ("Why do robots fall?", "How do robots walk?")
    read = accept_rewrite(plan, Rewrite("Why do robots fall and how do they walk?", parts), ())
    assert [part.question for part in read.parts] == list(parts)
    for bad in (("Why do robots fall?",), (*parts, "Which football club won?"), (*parts, *parts)):
        assert accept_rewrite(plan, Rewrite("Why do robots fall?", bad), ()).parts == ()


def test_usage_adds_up_and_knows_a_price_only_where_one_was_told() -> None:
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6)
    assert (Usage(1, 2, 0.5) + Usage(3, 4)).usd == 0.5
    assert (Usage(1, 2, 0.5) + Usage(3, 4, 0.25)).usd == 0.75
    assert Usage(1, 2).tokens == 3
