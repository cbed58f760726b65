import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.processor import processor_seconds

from bythebook.ask.conversation.standalone import standalone_question
from bythebook.domain.conversations import Turn

LIDAR = Turn("What is a LiDAR?", "A LiDAR measures distance with laser light.")
ROS = Turn("What is ROS 2?", "ROS 2 is a set of libraries and tools for robot applications.")
TOPICS = Turn("How do topics work in ROS 2?", "Topics carry messages between nodes.")
PAIR = Turn(
    "What is the difference between a topic and a service?",
    "A topic is a stream of messages, a service is a call with a reply.",
)
SENSORS = Turn("Which sensors does the robot use?", "The robot uses a camera, a LiDAR and an IMU.")
GLASS = Turn("Can a LiDAR see through glass?", "No, glass reflects the light.")
FIRST = Turn(
    "When was the first humanoid robot built?", "The first humanoid robot was built in 1973."
)
FILTER = Turn("Who invented the Kalman filter?", "Rudolf Kálmán published the filter in 1960.")
ACTUATORS = Turn("What are actuators?", "Actuators turn energy into motion.")
WALKING = Turn(
    "How does the bipedal walking controller keep balance?",
    "It moves the zero moment point inside the support polygon.",
)
WALL = Turn("When did the Berlin Wall fall?", "The Berlin Wall fell in November 1989.")
UNIVERSITY = Turn(
    "Where did Ada Lovelace study?", "Ada Lovelace took lessons at the University of London."
)
REFUSED = Turn("What is a flux capacitor?", "")

# What the rewriter may add of its own; the suffix of a possessive is a word here too.
CONNECTING = frozenset(
    """of about with in at on near the is are was were do does has have how why what which s t isn aren wasn
    weren don doesn didn can couldn won wouldn shouldn hasn haven mustn""".split()
)


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (LIDAR, "How fast is it?", "How fast is a LiDAR?"),
        (LIDAR, "what's it made of", "what's a LiDAR made of"),
        (LIDAR, "Is it the same as radar?", "Is a LiDAR the same as radar?"),
        (LIDAR, "Do robots need it to navigate?", "Do robots need a LiDAR to navigate?"),
        (LIDAR, "Explain it in simple words.", "Explain a LiDAR in simple words."),
        (LIDAR, "How accurate are they?", "How accurate is a LiDAR?"),
        (ROS, "Who made it?", "Who made ROS 2?"),
        (TOPICS, "How are they named?", "How are topics named?"),
        (TOPICS, "What are their limits?", "What are topics' limits?"),
        (ACTUATORS, "How are they controlled?", "How are actuators controlled?"),
        (ACTUATORS, "Which types of them exist?", "Which types of actuators exist?"),
        (FIRST, "Who built it?", "Who built the first humanoid robot?"),
        (FILTER, "How does it work?", "How does the Kalman filter work?"),
        (FILTER, "When did he die?", "When did Rudolf Kálmán die?"),
        (UNIVERSITY, "Who taught her?", "Who taught Ada Lovelace?"),
        (UNIVERSITY, "Who was her teacher?", "Who was Ada Lovelace's teacher?"),
        (
            UNIVERSITY,
            "How long did she stay there?",
            "How long did Ada Lovelace stay at the University of London?",
        ),
        (WALKING, "What does it need?", "What does the bipedal walking controller need?"),
        (REFUSED, "How fast is it?", "How fast is a flux capacitor?"),
    ],
)
def test_a_pronoun_becomes_what_it_stands_for(before: Turn, question: str, expected: str) -> None:
    assert standalone_question(question, [before]) == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (LIDAR, "Is that expensive?", "Is a LiDAR expensive?"),
        (LIDAR, "How does that compare to radar?", "How does a LiDAR compare to radar?"),
        (LIDAR, "In what chapter is this explained?", "In what chapter is a LiDAR explained?"),
        (LIDAR, "What are the limits of this approach?", "What are the limits of a LiDAR?"),
        (LIDAR, "How does this sensor work?", "How does a LiDAR sensor work?"),
        (LIDAR, "Is there a robot that uses this?", "Is there a robot that uses a LiDAR?"),
        (ACTUATORS, "Are those dangerous?", "Are actuators dangerous?"),
        (ACTUATORS, "How do these differ from sensors?", "How do actuators differ from sensors?"),
        (LIDAR, "How do I build one?", "How do I build a LiDAR?"),
        (ACTUATORS, "Are there cheaper ones?", "Are there cheaper actuators?"),
        (WALL, "Who built the wall?", "Who built the Berlin Wall?"),
    ],
)
def test_a_pointing_word_becomes_what_it_points_at(
    before: Turn, question: str, expected: str
) -> None:
    assert standalone_question(question, [before]) == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (PAIR, "When should I use the latter?", "When should I use a service?"),
        (PAIR, "How fast is the former?", "How fast is a topic?"),
        (PAIR, "Which one is faster?", "Which of a topic and a service is faster?"),
        (PAIR, "Which of them is faster?", "Which of a topic and a service is faster?"),
        (PAIR, "How do they differ in ROS 1?", "How do a topic and a service differ in ROS 1?"),
        (SENSORS, "How does the second one work?", "How does a LiDAR work?"),
        (SENSORS, "and the second one?", "and a LiDAR?"),
        (SENSORS, "What does the last one measure?", "What does an IMU measure?"),
    ],
)
def test_a_place_in_a_list_becomes_what_stands_there(
    before: Turn, question: str, expected: str
) -> None:
    assert standalone_question(question, [before]) == expected


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        (GLASS, "Why?", "Why can a LiDAR see through glass?"),
        (GLASS, "Why not?", "Why can't a LiDAR see through glass?"),
        (GLASS, "What about water?", "Can a LiDAR see through water?"),
        (FIRST, "Where?", "Where was the first humanoid robot built?"),
        (FIRST, "And why is that?", "Why was the first humanoid robot built?"),
        (FILTER, "When was that?", "When was that with the Kalman filter?"),
        (LIDAR, "How so?", "How so with a LiDAR?"),
        (LIDAR, "How fast?", "How fast is a LiDAR?"),
        (LIDAR, "What happens next?", "What happens next with a LiDAR?"),
        (LIDAR, "An example?", "An example of a LiDAR?"),
        (LIDAR, "Can you give me an example?", "Can you give me an example of a LiDAR?"),
        (LIDAR, "Can you give an example?", "Can you give an example of a LiDAR?"),
        (LIDAR, "Some examples, please?", "Some examples of a LiDAR?"),
        (LIDAR, "Tell me more", "Tell me more about a LiDAR"),
        (LIDAR, "What else?", "What else about a LiDAR?"),
        (LIDAR, "the disadvantages?", "the disadvantages of a LiDAR?"),
        (LIDAR, "Any limits?", "Any limits of a LiDAR?"),
        (LIDAR, "What about the cost?", "What about the cost of a LiDAR?"),
        (LIDAR, "What about its cost?", "What about a LiDAR's cost?"),
        (TOPICS, "And in ROS 1?", "How do topics work in ROS 1?"),
        (TOPICS, "What about services?", "How do services work in ROS 2?"),
        (ROS, "And in ROS 1?", "What is ROS 1?"),
        (
            WALKING,
            "And on stairs?",
            "How does the bipedal walking controller keep balance on stairs?",
        ),
    ],
)
def test_what_was_left_out_is_filled_in(before: Turn, question: str, expected: str) -> None:
    assert standalone_question(question, [before]) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What is a camera?",
        "What is a limit?",
        "What is an activation function?",
        "What are the main parts of a robot?",
        "What is the speed of light?",
        "How do I bake bread?",
        "What is an IMU and how does it work?",
        "Does a robot know its position?",
        "Do cameras lose their calibration?",
        "When a robot falls, how does it get up?",
        "What problems do cameras have and how are they solved?",
        "Why do robots that walk fall?",
        "Before it moves, what does a robot check?",
        "Is it true that robots fall?",
        "Which one of the cameras is best?",
        "What about cameras in the rain?",
        "Is it possible to use a camera instead?",
        "What does it mean to calibrate a camera?",
        "How long does it take to build a robot?",
        "What happens when it rains?",
        "Why is it that robots fall?",
        "Why do they call it a neural network?",
        "What time is it?",
        "Which robot is the first one of its kind?",
        "Who wrote this book?",
        "What is this book about?",
        "Summarise chapter 3",
        "Who was the former president of the society?",
        "What about cameras?",
        "Is that right?",
        "Is that all?",
        "What does that mean?",
        "How can I do that?",
        "Hello",
        "Thanks!",
        "Thanks, that helps",
        "That was not my question.",
        "ROS 2",
        "Worker node",
        "???",
        "¿Por qué?",
        "¿Qué es esto?",
        "Wie funktioniert es?",
        "Pourquoi est-il si cher?",
        "これは何ですか?",
        " What is a camera? ",
    ],
)
def test_a_question_that_stands_alone_is_left_as_it_is(question: str) -> None:
    assert standalone_question(question, [LIDAR]) == question


@pytest.mark.parametrize(
    "question", ["How fast is it?", "Why?", "the disadvantages?", "And in ROS 1?"]
)
def test_nothing_is_made_up_where_nothing_was_said(question: str) -> None:
    assert standalone_question(question, []) == question
    assert standalone_question(question, [Turn("", "")]) == question
    assert standalone_question(question, [Turn("Hello", "I am here to answer.")]) == question


def test_a_question_in_another_language_or_with_its_own_context_is_left_as_it_is() -> None:
    for question in ("Por qué he visto los robots?", "She said " + "one thing and another, " * 6):
        assert standalone_question(question, [UNIVERSITY]) == question


def test_a_letter_that_is_two_in_capitals_stays_one() -> None:
    assert standalone_question("It works?", [Turn("What is ﬁltering?")]) == "ﬁltering works?"


def test_a_new_topic_replaces_the_old_one() -> None:
    turns = [LIDAR, Turn("How fast is it?", "It turns ten times a second."), ACTUATORS]
    assert standalone_question("How are they driven?", turns) == "How are actuators driven?"
    turns = [LIDAR, Turn("What is a gripper?", "A gripper holds things.")]
    assert standalone_question("How fast is it?", turns) == "How fast is a gripper?"


def test_a_topic_is_carried_through_several_follow_ups() -> None:
    asked = ("How fast is it?", "What is its range?", "Is it expensive?")
    turns = [LIDAR, *(Turn(question, "") for question in asked)]
    assert standalone_question("Can it see glass?", turns) == "Can a LiDAR see glass?"


def test_only_the_last_five_turns_count() -> None:
    others = [Turn("Hello", "")] * 4
    assert standalone_question("How fast is it?", [LIDAR, *others]) == "How fast is a LiDAR?"
    assert standalone_question("How fast is it?", [LIDAR, *others, others[0]]) == "How fast is it?"


def test_whom_nobody_named_is_not_guessed() -> None:
    turns = [
        Turn("When did he leave?", "He left for Paris in 1920."),
        Turn("What did he do next?", "Marie Curie met him."),
    ]
    assert standalone_question("Where was he born?", turns) == "Where was he born?"


def test_a_refusal_is_no_source_of_topics() -> None:
    refused = Turn(
        "Why?", "I don't have sufficient information in the textbook to answer that question."
    )
    assert standalone_question("How fast is it?", [refused]) == "How fast is it?"
    refused = Turn("Hello", "This information is not available in the book.")
    assert standalone_question("How fast is it?", [refused]) == "How fast is it?"


@pytest.mark.parametrize("question", ["How fast is it?", "Why?", "When was that?", "What else?"])
@pytest.mark.parametrize("before", [LIDAR, ROS, TOPICS, PAIR, GLASS, FIRST, FILTER, WALKING])
def test_the_old_question_is_never_asked_again(before: Turn, question: str) -> None:
    assert standalone_question(question, [before]).lower() != before.question.lower()


def test_a_rewrite_that_would_be_too_long_is_dropped() -> None:
    name = "A" + "b" * 480
    question = "How fast is it in the morning?"
    assert standalone_question(question, [Turn(f"What is {name}?", "")]) == question


def test_a_long_conversation_takes_no_longer_than_its_last_words() -> None:
    def seconds(turns: int, sentences: int) -> float:
        spoken = [Turn("How fast is it? " * 30, "The robot arm moves. " * sentences)] * turns
        return processor_seconds(lambda: standalone_question("What is its range?", spoken))

    assert seconds(400, 40_000) < 10 * seconds(5, 500)


def _words(*texts: str) -> set[str]:
    return {word for text in texts for word in re.findall(r"[^\W_]+", text.lower())}


PIECES = st.sampled_from(
    """what is a the LiDAR robot it its they their he she her this that these one ones there then former latter
    second why not how about and or , . ? ! ' 's it's they're that's ROS 2 sensors Ada Lovelace in of to did does can
    first Kalman's which Why And example more İstanbul ß ﬁlter disadvantages""".split()
)
TEXTS = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=20).map(" ".join))
TURNS = st.lists(st.builds(Turn, TEXTS, TEXTS), max_size=7)


@given(TEXTS, TURNS)
def test_every_word_comes_from_what_was_said(question: str, turns: Sequence[Turn]) -> None:
    rewritten = standalone_question(question, turns)
    assert bool(rewritten.strip()) == bool(question.strip())
    assert len(rewritten) <= 500
    said = (text for turn in turns for text in (turn.question, turn.answer))
    assert _words(rewritten) <= _words(question, *said) | CONNECTING
    assert standalone_question(question, turns) == rewritten
