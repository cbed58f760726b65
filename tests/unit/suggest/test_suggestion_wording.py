import pytest

from bythebook.suggest.wording import (
    BookVocabulary,
    ask_about_heading,
    ask_about_sentence,
    say_same,
)

BOOK = """We choose a gearbox by load. A gearbox is heavy. To plan a path, run the planner. The planner is slow.
Data stewards help. Some data stewards run the archive. The digital twin is useful. The digital twin is a model.
Steps of the loop are fixed. Open data helps. We like open data. Some topics and some services.
You may save the model. Stop and save it."""


@pytest.fixture(scope="module")
def vocabulary() -> BookVocabulary:
    return BookVocabulary([BOOK])


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("How to save a model", "How do I save a model?"),
        ("How to clean data?", "How do I clean data?"),
        ("Choosing a gearbox", "How do I choose a gearbox?"),
        ("3.2 Running the Planner", "How do I run the planner?"),
        ("Saving your model", "How do I save my model?"),
        ("Why do robots fall?", "Why do robots fall?"),
        ("Data Stewards", "What are data stewards?"),
        ("Digital Twin", "What is the digital twin?"),
        ("Open Data", "What is open data?"),
        ("Steps of the Loop", "What are the steps of the loop?"),
        ("Topics versus services", "How do topics and services differ?"),
    ],
)
def test_a_heading_becomes_a_question(
    vocabulary: BookVocabulary, title: str, question: str
) -> None:
    made = ask_about_heading(title, vocabulary)
    assert made is not None
    assert made.text == question


@pytest.mark.parametrize(
    "title",
    [
        "Introduction",
        "Exercises",
        "How nodes talk",
        "Starting and stopping it",
        "Being right is not enough",
        "Something that is never named again",
        "Speed, power and torque",
        "The norm $\\ell_1$",
        "",
    ],
)
def test_a_heading_that_makes_no_plain_question_is_left_alone(
    vocabulary: BookVocabulary, title: str
) -> None:
    assert ask_about_heading(title, vocabulary) is None


@pytest.mark.parametrize(
    ("sentence", "question"),
    [
        ("A gearbox is a machine that trades speed for force in a joint.", "What is a gearbox?"),
        (
            "Long corridors are difficult for the planner because every place looks like the next.",
            "Why are long corridors difficult for the planner?",
        ),
        ("It is difficult for the planner because every place looks like the next one.", None),
        ("These corridors are difficult because every place looks like the next one.", None),
        ("The worst is a robot that falls on the person who stands in front of it.", None),
        ("See chapter 3.", None),
    ],
)
def test_a_sentence_becomes_a_question_that_stands_alone(
    vocabulary: BookVocabulary, sentence: str, question: str | None
) -> None:
    made = ask_about_sentence(sentence, vocabulary)
    assert (made and made.text) == question


def test_questions_with_the_same_words_are_one() -> None:
    assert say_same("What is a gearbox?", ["What are gearboxs?", "What is the gearbox?"])
    assert not say_same("What is a gearbox?", ["How do I choose a gearbox?"])
