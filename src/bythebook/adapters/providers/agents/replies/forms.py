"""The forms of replies: sent as JSON schemas where a server supports them, read tolerantly anyway."""

from collections.abc import Callable, Mapping
from typing import Any

from agents import AgentOutputSchemaBase, ModelBehaviorError

from bythebook.adapters.providers.agents.replies.json_objects import (
    UnusableAnswer,
    find_first_object,
)


class Form(AgentOutputSchemaBase):
    """The JSON object of a role's reply, and how to read it."""

    def __init__(
        self, name: str, properties: Mapping[str, Any], read: Callable[[str], object]
    ) -> None:
        self._name = name
        self._properties = properties
        self._read = read

    def is_plain_text(self) -> bool:
        """Return False: it is JSON."""
        return False

    def name(self) -> str:
        """Return the name of the form."""
        return self._name

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of the form."""
        return _object(self._properties)

    def is_strict_json_schema(self) -> bool:
        """Return True: all fields are required, and no others are allowed."""
        return True

    def validate_json(self, json_str: str) -> object:
        """Read a reply; raise the SDK's error if it has another form."""
        try:
            return self._read(json_str)
        except UnusableAnswer as error:
            raise ModelBehaviorError(str(error)) from None


def read_plan(text: str) -> tuple[str, tuple[str, ...]]:
    """Read a question and its parts."""
    given = find_first_object(text)
    question, parts = given.get("question"), given.get("parts") or []
    if not isinstance(question, str) or not question.strip() or not isinstance(parts, list):
        raise UnusableAnswer('"question" must be a text and "parts" a list')
    return question.strip(), tuple(part.strip() for part in parts if isinstance(part, str))


def read_opinion(text: str) -> bool:
    """Read whether the passages answer."""
    answers = find_first_object(text).get("answers")
    if not isinstance(answers, bool):
        raise UnusableAnswer('"answers" must be true or false')
    return answers


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_TEXT = {"type": "string"}
PLAN = Form("plan", {"question": _TEXT, "parts": _list(_TEXT)}, read_plan)
OPINION = Form("opinion", {"answers": {"type": "boolean"}}, read_opinion)
