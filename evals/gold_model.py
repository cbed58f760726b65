"""A scripted model that answers from the gold passage if it is given one, and otherwise says that nothing answers."""

import json
import re
from collections.abc import Iterable
from typing import Any

from tests.adapters.model_stub import Answer, answer_text

from bythebook.evaluate.sets import EvalQuestion

_FENCED = re.compile(r"\[(\w{16}) (passage (\d+)|question)\]\n(.*?)\n\[\1 end\]", re.DOTALL)


class GoldModel:
    """Knows the quote that answers each question; states it verbatim, or with words of its own."""

    def __init__(self, questions: Iterable[EvalQuestion], *, reworded: bool = False) -> None:
        self._golds = {one.question: one.golds for one in questions}
        self._reworded = reworded
        self.shown = False  # whether the last call contained the gold passage

    def __call__(self, request: dict[str, Any]) -> Answer:
        """Answer one request in the form that it asks for."""
        prompt = str(request["messages"][-1].get("content"))
        fenced = [(found[3], found[4]) for found in _FENCED.finditer(prompt)]
        question = next((text for number, text in fenced if number is None), "")
        form = request.get("response_format", {}).get("json_schema", {}).get("name")
        if form == "plan":
            return Answer(json.dumps({"question": question, "parts": []}))
        if form == "opinion":
            return Answer('{"answers": true}')
        passages = [(int(number), text) for number, text in fenced if number is not None]
        for gold in self._golds.get(question, ()):
            for number, text in passages:
                if _collapse_spaces(gold) in _collapse_spaces(text):
                    self.shown = True
                    return Answer(answer_text((self._phrase(gold), [(number, gold)])), piece=64)
        self.shown = False
        return Answer(answer_text())

    def _phrase(self, gold: str) -> str:
        return f"In short, {gold}" if self._reworded else gold


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
