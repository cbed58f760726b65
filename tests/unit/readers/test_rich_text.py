"""Text with marks: every edit moves the marks along."""

import re

import pytest

from bythebook.adapters.readers.rich_text import RichBuilder, RichText, join_rich, mark_lines
from bythebook.domain.marks import Cell, CodeLines, Mark, Picture, Style


def marked_texts(rich: RichText) -> list[str]:
    return [rich.text[mark.start : mark.end] for mark in rich.marks]


def make(text: str, *words: str) -> RichText:
    starts = ((text.index(word), word) for word in words)
    return RichText(text, tuple(Style(at, at + len(word), "strong") for at, word in starts))


@pytest.mark.parametrize(
    ("rich", "text", "words"),
    [
        (
            make("  a  bold   frog ", "bold   frog", "a").collapse(),
            "a bold frog",
            ["bold frog", "a"],
        ),
        (make("  bold ", "  bold ").strip(), "bold", ["bold"]),
        (make("one two three", "one", "two", "three").cut(2, 10), "e two th", ["e", "two", "th"]),
        (make("a--b", "a", "b").edit(re.compile("-+"), "..."), "a...b", ["a", "b"]),
        (make("[x] done", "done").edit(re.compile(r"\[x\]"), "☑"), "☑ done", ["done"]),
        (make("gone", "gone").edit(re.compile("gone"), ""), "", []),
        (
            join_rich(" | ", [make("a", "a"), RichText("b"), make("c", "c")]),
            "a | b | c",
            ["a", "c"],
        ),
    ],
)
def test_marks_stay_on_their_words(rich: RichText, text: str, words: list[str]) -> None:
    assert rich.text == text
    assert marked_texts(rich) == words


def test_a_mark_over_nothing_is_dropped_unless_it_may_be_empty() -> None:
    rich = RichText("   x", (Style(0, 2, "strong"), Picture(1, 1, "f.png"), Cell(0, 0))).strip()
    assert rich.marks == (Picture(0, 0, "f.png"), Cell(0, 0))


def test_a_builder_nests_marks_and_survives_one_that_was_never_opened() -> None:
    builder = RichBuilder()
    builder.close(Style(0, 0, "strong"))
    builder.open()
    builder.add("a ")
    builder.add("b", Style(0, 0, "code"))
    builder.close(Style(0, 0, "emphasis"))
    expected: tuple[Mark, ...] = (Style(2, 3, "code"), Style(0, 3, "emphasis"))
    assert builder.finish() == RichText("a b", expected)


def test_lines_of_code_are_marked_by_their_numbers() -> None:
    code = mark_lines("\na\nb\n\nc\nd\n", "1,3-4,9-99999999")
    assert code == RichText("a\nb\n\nc\nd", (CodeLines(0, 1), CodeLines(5, 6)))
