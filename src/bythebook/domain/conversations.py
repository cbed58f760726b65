"""What was said before a question."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and the answer it got; empty where it was refused."""

    question: str
    answer: str = ""
