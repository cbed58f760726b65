"""The turns before a question -> a text to search with, as a follow-up leaves out what it leans on."""

from collections.abc import Sequence

from bythebook.domain.conversations import Turn

MOST_TURNS = 5  # that are kept with a question
# What is searched with: chosen on CANARD's tuning half and the dev dialogues, see docs/decisions/0021.
_QUESTIONS = 3
_LONGEST_QUESTION = 500  # characters
_LONGEST_ANSWER = 200  # characters: the beginning of an answer names what it is about


def recall_context(turns: Sequence[Turn]) -> str:
    """Join the last questions and the beginning of the last answer; empty without turns."""
    questions = [turn.question[:_LONGEST_QUESTION] for turn in turns[-_QUESTIONS:]]
    answers = [turn.answer[:_LONGEST_ANSWER] for turn in turns if turn.answer]
    return " ".join(" ".join((*questions, *answers[-1:])).split())
