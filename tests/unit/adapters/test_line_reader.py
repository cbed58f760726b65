"""A model's answer, read as it comes: lines that end in the numbers of the sentences they rest on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.adapters.providers.agents.replies.json_objects import (
    UnusableAnswer,
    find_first_object,
)
from bythebook.adapters.providers.agents.replies.line_reader import (
    MOST_CITED,
    MOST_LINES,
    LineReader,
    WrittenLine,
)

TEXT = "Robots walk. [3][5]\n\nThey fall, often. [4]"
READ = [WrittenLine("Robots walk.", (3, 5)), WrittenLine("They fall, often.", (4,))]


def read(text: str, size: int = 1) -> list[WrittenLine]:
    reader = LineReader()
    lines = [line for at in range(0, len(text), size) for line in reader.feed(text[at : at + size])]
    return [*lines, *reader.finish()]


@given(st.integers(1, 40))
def test_reads_the_same_however_the_answer_is_cut_into_pieces(size: int) -> None:
    assert read(TEXT, size) == READ


def test_gives_a_line_as_soon_as_it_is_whole() -> None:
    reader = LineReader()
    assert reader.feed("Robots walk. [3]") == []
    assert reader.feed("[5]\nThey") == READ[:1]
    assert reader.feed(" fall, often. [4]") == []
    assert reader.finish() == READ[1:]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("before", ["", "\n \n", "<think>Is it [1]?\nNo. [2]</think>\n", "```\n"])
def test_reasoning_and_blank_lines_before_the_answer_do_not_matter(before: str, size: int) -> None:
    assert read(before + TEXT, size) == READ


@pytest.mark.parametrize(
    "line",
    [
        "Robots walk. [3][5]",
        "Robots walk [3, 5].",
        "Robots walk [3] [5]!",
        "Robots walk. (3, 5)",
        "Robots walk. 3 5",
        "Robots walk. 3, 5.",
        "Robots walk. [sentences 3 and 5]",
        "- Robots walk. [3], [5]",
        "2. Robots walk. [3][5]",
        "[3][5] Robots walk.",
        "[1] Robots walk. [3][5]",
        "Robots [3] walk [5].",
    ],
)
def test_a_line_may_end_in_its_numbers_in_many_ways(line: str) -> None:
    ((text, numbers),) = [(one.text, one.numbers) for one in read(line)]
    assert (text.rstrip(".!"), numbers) == ("Robots walk", (3, 5))


@pytest.mark.parametrize(
    "line", ["[3-5]", "[3][4][5]", "3, 4, 5", "Sentences 3 to 5", "- [3], [4] and [5]"]
)
def test_numbers_alone_stand_for_their_sentences(line: str) -> None:
    assert read(line) == [WrittenLine("", (3, 4, 5))]


def test_sentences_on_one_line_have_their_own_numbers() -> None:
    assert read("Robots walk [3]. They fall. [4] And so on.") == [
        WrittenLine("Robots walk.", (3,)),
        WrittenLine("They fall.", (4,)),
        WrittenLine("And so on.", ()),
    ]


@pytest.mark.parametrize("line", ["It is part of ROS 2", "Robots walk.", "Here it is:", "{}"])
def test_what_cites_nothing_has_no_numbers(line: str) -> None:
    assert all(one.numbers == () for one in read(line))


def test_an_index_in_code_is_no_citation() -> None:
    assert read("Take a[0] first. [2]") == [WrittenLine("Take a[0] first.", (2,))]


@pytest.mark.parametrize("text", ["", "  \n\n", "NONE", "None.", "```\n```", "<think>[1]"])
def test_no_line_is_the_verdict_that_nothing_answers(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"[{n}]" for n in range(1, 400)),
        "It walks. [1]\n" * 400,
        "".join(f"It walks {n} times. [1]\n" for n in range(400)),
    ],
)
def test_a_model_that_does_not_end_is_bounded(text: str) -> None:
    reader = LineReader()
    fed = 0
    lines: list[WrittenLine] = []
    while not reader.is_runaway:
        lines += reader.feed(text[fed : fed + 5])
        fed += 5
    lines += reader.finish()
    assert fed < len(text) / 2
    assert 0 < len(lines) <= MOST_LINES
    assert all(len(line.numbers) <= MOST_CITED for line in lines)


@given(st.text(), st.integers(1, 5))
def test_any_text_can_be_read(text: str, size: int) -> None:
    for line in read(text, size):
        assert line.text or line.numbers


def test_a_long_answer_costs_no_more_than_its_length() -> None:
    assert len(read("word " * 20_000 + "\nRobots walk. [3]", 100)) == 2


def test_finds_the_first_object_in_prose() -> None:
    assert find_first_object('Yes [1]: ```{"answers": true}```') == {"answers": True}
    for text in ("yes", "[" * 10_000, '{"answers": '):
        with pytest.raises(UnusableAnswer):
            find_first_object(text)
