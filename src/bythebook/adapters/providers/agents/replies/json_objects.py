"""Finds the JSON object of a reply, whatever text is around it."""

import json
import re
from collections.abc import Iterator
from typing import Any

_THINKING = re.compile(r"\s*<think>")
_LOOSE = json.JSONDecoder(strict=False)  # allows line breaks in strings


class UnusableAnswer(Exception):
    """The model's reply does not have the requested form."""


class NothingAsked(UnusableAnswer):
    """No model was called: the question consists of instructions only."""


def find_first_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text with other text around it."""
    answer = text.rpartition("</think>")[2] if _THINKING.match(text) else text
    for value in _find_values(answer):
        if isinstance(value, dict):
            return value
    raise UnusableAnswer("there is no JSON object in the answer")


def _find_values(text: str, most: int = 50) -> Iterator[Any]:
    """Yield the JSON values in a text, from left to right."""
    at = 0
    for _ in range(most):
        starts = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
        if not starts:
            return
        try:
            value, at = _LOOSE.raw_decode(text, min(starts))
        except (ValueError, RecursionError):
            at = min(starts) + 1
        else:
            yield value
