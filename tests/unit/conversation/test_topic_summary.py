import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.ask.conversation.topic_summary import MOST_CHARACTERS, topic_summary

ROS = (
    "What is ROS 2?",
    "How do ROS 2 nodes communicate?",
    "What is the difference between topics and services?",
    "What is a topic?",
    "What is URDF?",
    "How do I describe a joint in URDF?",
)


def test_a_summary_names_what_was_asked_about() -> None:
    assert topic_summary(ROS) == "URDF; joint; topics and services; ROS 2 nodes"


def test_what_is_asked_often_comes_before_what_is_asked_once() -> None:
    questions = ["How is a gait planned?", "What is a gait?", "How heavy is the battery?"]
    assert topic_summary(questions).split("; ") == ["gait", "battery"]


def test_of_what_is_asked_once_the_latest_comes_first() -> None:
    questions = ["How heavy is the battery?", "How fast is the motor?", "How loud is the gearbox?"]
    assert topic_summary(questions).split("; ") == ["gearbox", "motor", "battery"]


def test_singular_and_plural_are_one_topic() -> None:
    assert topic_summary(["What is a node?", "How do nodes start?"]) == "nodes"


def test_a_part_of_a_topic_is_not_named_beside_it() -> None:
    assert topic_summary(["What is ROS 2?", "What is a ROS 2 node?"]) == "ROS 2 node"


def test_what_of_joins_is_one_topic() -> None:
    asked = ["How many degrees of freedom does a hand have?"]
    assert topic_summary(asked) == "degrees of freedom; hand"


@pytest.mark.parametrize("name", ["C++", "C#", "rclpy.spin", "colcon"])
def test_names_keep_their_own_spelling(name: str) -> None:
    assert name in topic_summary([f"Why is {name} used?"])


@pytest.mark.parametrize(
    ("question", "summary"),
    [
        ("Was ist ein Roboter?", "Was ist ein Roboter"),
        ("¿Qué es un nodo?", "Qué es un nodo"),
        ("Что такое робот?", "Что такое робот"),
        ("ロボットとは何ですか？", "ロボットとは何ですか"),
        ("ما هو الروبوت؟", "ما هو الروبوت"),
    ],
)
def test_a_question_in_another_language_speaks_for_itself(question: str, summary: str) -> None:
    assert topic_summary([question]) == summary


@pytest.mark.parametrize("question", ["Why?", "Is it safe?", "What is this chapter?", "???"])
def test_a_question_that_names_nothing_is_given_itself(question: str) -> None:
    assert topic_summary([question]) == question


def test_a_long_topic_is_cut_at_a_word_and_says_so() -> None:
    summary = topic_summary(["Warum " + "laufen Roboter " * 40])
    assert summary.endswith("…")
    assert summary.removesuffix("…").split()[-1] in {"laufen", "Roboter"}


def test_one_endless_word_is_cut_and_says_so() -> None:
    assert topic_summary(["x" * 5000]).endswith("x…")


def test_many_topics_are_named_as_far_as_they_fit() -> None:
    names = [f"hydraulic actuator number {n} of the left leg" for n in range(20)]
    summary = topic_summary([f"How strong is the {name}?" for name in names])
    assert 100 < len(summary) <= MOST_CHARACTERS
    assert "…" not in summary


LONG = {
    "many topics": [
        ", ".join(f"the {chr(97 + n % 26)}{chr(97 + at % 26)}{n % 7}{at}" for n in range(140))
        for at in range(25)
    ],
    "joined": ["the a of " * 111] * 25,
    "articles": ["the " * 250] * 25,
    "one word": ["x" * 1000] * 25,
    "marks": ["- ! ' " * 166] * 25,
}


@pytest.mark.parametrize("name", LONG)
def test_the_longest_conversation_is_summed_up_in_little_time(name: str) -> None:
    questions = [question[:1000] for question in LONG[name]]
    assert sum(map(len, questions)) > 24_000 - 1000
    begun = time.process_time()
    topic_summary(questions)
    assert time.process_time() - begun < 5  # ten milliseconds, unless every topic meets every other


def test_of_long_questions_the_latest_count() -> None:
    old = [f"How does the pump number {n} work? " + "It is so. " * 100 for n in range(20)]
    assert topic_summary([*old, "What is a gait?"]).startswith("gait; pump number 19")


def test_nothing_asked_is_about_nothing() -> None:
    assert topic_summary([]) == topic_summary([" ", "\n"]) == ""


def test_a_summary_is_one_line() -> None:
    assert topic_summary(["What is\na\tgait?\n"]) == "gait"


@given(st.lists(st.text(max_size=300), max_size=12))
def test_a_summary_is_short_and_never_empty_where_something_was_asked(questions: list[str]) -> None:
    summary = topic_summary(questions)
    assert len(summary) <= MOST_CHARACTERS
    assert bool(summary) == any(question.strip() for question in questions)
    assert summary == topic_summary(list(questions))
    assert "\n" not in summary


@given(
    st.lists(st.sampled_from(["the", "robot's", "gait", "of", "and", "Why", "it", "Ä", "3", "?"]))
)
def test_every_word_of_a_summary_was_asked(words: list[str]) -> None:
    asked = " ".join(words)
    for topic in topic_summary([asked]).removesuffix("…").split("; "):
        assert topic in asked
