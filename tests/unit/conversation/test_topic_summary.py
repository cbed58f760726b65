import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.ask.conversation.topic_summary import MOST_CHARACTERS, topic_summary


def test_a_summary_lists_the_questions_latest_first_and_each_once() -> None:
    asked = ["What is ROS 2?", "What is\na\tnode?", "What is ROS 2?", "¿Qué es un nodo?"]
    assert topic_summary(asked) == "Qué es un nodo; What is ROS 2; What is a node"


@pytest.mark.parametrize("question", ["???", "Why"])
def test_a_question_of_marks_or_one_word_is_given_itself(question: str) -> None:
    assert topic_summary([question]) == question


def test_a_long_question_is_cut_at_a_word_and_says_so() -> None:
    summary = topic_summary(["Warum " + "laufen Roboter " * 40])
    assert summary.endswith("…")
    assert summary.removesuffix("…").split()[-1] in {"laufen", "Roboter"}
    assert topic_summary(["x" * 5000]).endswith("x…")


def test_nothing_asked_is_about_nothing() -> None:
    assert topic_summary([]) == topic_summary([" ", "\n"]) == ""


@given(st.lists(st.text(max_size=300), max_size=12))
def test_a_summary_is_short_and_never_empty_where_something_was_asked(questions: list[str]) -> None:
    summary = topic_summary(questions)
    assert len(summary) <= MOST_CHARACTERS
    assert bool(summary) == any(question.strip() for question in questions)
    assert "\n" not in summary
