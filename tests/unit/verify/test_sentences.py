import pytest
from hypothesis import given
from hypothesis import strategies as st

from bythebook.domain.books import Block
from bythebook.domain.text.sentences import split_sentences
from bythebook.domain.text.units import block_units, selection_units


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A robot walks. It falls! Why? Nobody knows.", 4),
        ("See Fig. 3 and Eq. 4 for the gait.", 1),
        ("Use a fast language, e.g. Python, or i.e. C.", 1),
        ("J. Smith and Dr. Lee wrote it.", 1),
        ("Pi is 3.14 and version 1.2.3 is out.", 1),
        ("Wires, motors, etc. are sold apart.", 1),
        ("It has wires, motors, etc. The rest is sold apart.", 2),
        ("It was built in the U.S. The motors came later.", 2),
        ("Yahoo! is a company.", 1),
        ("“Stop!” he said.", 1),
        ("Wait... and then go.", 1),
        ("Wait… and then go.", 1),
        ("Wait... Then go.", 2),
        ("He said “Go.” Then he went.", 2),
        ("This is plan B. The next one is better.", 2),
        ("Multiply it by x. It grows.", 2),
        ("Install ROS 2. Build the workspace.", 2),
        ("1. Build it. 2. Run it.", 2),
        ("机器人会走路。它也会跑！", 2),
        ("See Fig. A and No. 5, max. The other is min. It is a limit.", 3),
        ("It costs 5 kg (see Sec. 2). That is little.", 2),
    ],
)
def test_counts_sentences_as_a_reader_does(text: str, expected: int) -> None:
    assert len(sentences(text)) == expected, sentences(text)


def test_a_line_end_ends_a_sentence() -> None:
    assert sentences("first line\nsecond line") == ["first line", "second line"]


def test_closing_quotes_and_brackets_belong_to_their_sentence() -> None:
    assert sentences("(It fell.) He said “go.” Then.") == ["(It fell.)", "He said “go.”", "Then."]


def test_blank_text_has_no_sentence() -> None:
    assert sentences(" \n\t ") == []


@given(st.text(alphabet="ab AB.!?…,1\n\t\u00a0。(“”)x", max_size=80))
def test_every_character_but_white_space_is_in_exactly_one_sentence(text: str) -> None:
    spans = list(split_sentences(text))
    covered = [place for start, end in spans for place in range(start, end)]
    assert len(covered) == len(set(covered))
    assert {i for i, c in enumerate(text) if not c.isspace()} <= set(covered)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


def test_a_list_is_quoted_by_item_and_a_table_by_row() -> None:
    text = "One. Two.\nThree"
    items = list(block_units(text, Block("list", 0, len(text))))
    rows = list(block_units(text, Block("table", 0, len(text))))
    assert [(u.kind, text[u.start : u.end]) for u in items] == [
        ("item", "One. Two."),
        ("item", "Three"),
    ]
    assert {unit.kind for unit in rows} == {"row"}


def test_code_and_formulas_are_quoted_whole() -> None:
    text = "intro\n\nx = 1.\ny = 2."
    for kind in ("code", "formula"):
        (unit,) = block_units(text, Block(kind, 7, len(text)))
        assert (unit.kind, text[unit.start : unit.end]) == (kind, "x = 1.\ny = 2.")


def test_a_selection_is_cut_into_sentences() -> None:
    text = "  A robot walks. It falls. "
    assert [text[u.start : u.end] for u in selection_units(text)] == ["A robot walks.", "It falls."]
