"""Question sets as JSON lines."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from bythebook.errors import BadQuestions

Kind = Literal["answered", "look_alike", "foreign"]


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question, and what is known about its answer."""

    question_id: str
    split: str
    kind: Kind
    question: str
    golds: tuple[str, ...] = ()  # quotes or answers; any one is enough
    document_id: str = ""
    paragraph: tuple[int, int] | None = None  # the gold's paragraph, where the set names it
    section: str = ""
    reworded: bool = False


def load_questions(path: Path) -> list[EvalQuestion]:
    """Read a set of JSON lines: {id, split, kind, question, quote, section, reworded}."""
    questions = []
    for number, line in enumerate(read_set(path).splitlines(), 1):
        if line.strip():
            try:
                questions.append(_make_question(json.loads(line)))
            except (ValueError, KeyError, TypeError) as error:
                raise BadQuestions(
                    f"Line {number} of {path.name} is not a question ({error}).",
                    "Each line is a JSON object with id, kind and question; answered ones have a quote.",
                ) from error
    if not questions:
        raise BadQuestions(f"{path.name} holds no question.", "Give a file of JSON lines.")
    return questions


def _make_question(value: dict[str, Any]) -> EvalQuestion:
    if value["kind"] not in get_args(Kind):
        raise ValueError(f"kind must be one of {', '.join(get_args(Kind))}")
    if not isinstance(value["question"], str):
        raise TypeError("question must be text")
    return EvalQuestion(
        question_id=str(value["id"]),
        split=str(value.get("split", "all")),
        kind=value["kind"],
        question=value["question"],
        golds=(value["quote"],) if value["kind"] == "answered" else (),
        section=value.get("section", ""),
        reworded=bool(value.get("reworded", False)),
    )


def read_set(path: Path) -> str:
    """Read the text of a question set, or raise BadQuestions."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestions(f"{path} cannot be read as text.", "Check the path.") from error
