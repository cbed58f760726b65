import time

import pytest

from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.plan.parts import split_parts
from bythebook.domain.questions import Question


def questions(text: str) -> list[str]:
    return [part.question for part in split_parts(text)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What is ROS 2 and who invented it?", ["What is ROS 2?", "Who invented it?"]),
        (
            "How do I install ROS 2? And which ports does it need?",
            ["How do I install ROS 2?", "Which ports does it need?"],
        ),
        (
            "What is a URDF, how is it written, and who maintains it?",
            ["What is a URDF?", "How is it written?", "Who maintains it?"],
        ),
        (
            "Who won the 1998 world cup and what is a humanoid robot?",
            ["Who won the 1998 world cup?", "What is a humanoid robot?"],
        ),
    ],
)
def test_a_question_of_several_parts_is_split(asked: str, expected: list[str]) -> None:
    assert questions(asked) == expected


def test_a_part_that_refers_to_the_first_brings_it_along() -> None:
    parts = split_parts("What is a URDF, how is it written, and what is a gait?")
    assert [part.before for part in parts] == ["", "What is a URDF?", ""]


def test_a_part_keeps_the_readers_words() -> None:
    assert [part.words for part in split_parts("What is ROS 2 and who  invented it?")] == [
        "What is ROS 2",
        "who invented it",
    ]


@pytest.mark.parametrize(
    "asked",
    [
        "What is ROS 2?",
        "What is the difference between ROS 1 and ROS 2?",
        "How does a gait differ from a step, and what is a stride?",
        "What are actuators and sensors?",
        "When and where was Tesla born?",
        "Is it hot? Or cold?",
        "I have a robot. What is it? How does it work?",
        "How do I calibrate a camera and how long does it take?",
        "What happens when the robot falls and what should I do?",
        "Which sensors know where they are, and which must be driven to a known spot first?",
        "What is the name of the head coach, who was hired after John Fox?",
        "Who was so tall and who rode on such a gigantic horse?",
        "What did the ECDC and WHO regional office ask the countries?",
        "What did he do and who helped them?",
        "What is a topic? What is a service? What is an action? What is a node?",
        "",
        "???",
    ],
)
def test_a_question_that_is_not_surely_several_stays_whole(asked: str) -> None:
    assert split_parts(asked) == ()


def test_a_question_stays_whole_where_fewer_passages_are_asked_for_than_it_has_parts() -> None:
    text = "What is ROS 2 and who invented it?"
    assert len(make_plan(Question(text, top_k=2)).parts) == 2
    assert make_plan(Question(text, top_k=1)).parts == ()


@pytest.mark.parametrize(
    "asked",
    [
        "and what is " * 160,
        "what is a " * 50,
        "what is a, how is " * 27,
        "?" * 2000,
        "what is a" + " " * 1900 + "b and who made it",
        "which " * 80,
    ],
)
def test_splitting_takes_little_time_whatever_is_asked(asked: str) -> None:
    before = time.process_time()
    split_parts(asked)
    assert time.process_time() - before < 10  # trying every way to split takes for ever
