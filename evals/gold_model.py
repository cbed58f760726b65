"""A scripted model that answers from the gold passage if it is given one, and otherwise says that nothing answers."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.adapters.providers.model_stub import Answer, answer_text, read_sentences

from bythebook.evaluate.sets import EvalQuestion

_QUESTION = re.compile(r"<(\w{8}) question>\n(.*?)\n<\1 end>", re.DOTALL)


class GoldModel:
    """Knows the quote that answers each question; states it verbatim, or with words of its own."""

    def __init__(self, questions: Iterable[EvalQuestion], *, reworded: bool = False) -> None:
        self._golds = {one.question: one.golds for one in questions}
        self._reworded = reworded
        self.shown = False  # whether the last call contained the gold passage

    def __call__(self, request: dict[str, Any]) -> Answer:
        """Answer one request in the form that it asks for."""
        prompt = str(request["messages"][-1].get("content"))
        asked = _QUESTION.search(prompt)
        question = asked[2] if asked else ""
        form = request.get("response_format", {}).get("json_schema", {}).get("name")
        if form == "plan":
            return Answer(json.dumps({"question": question, "parts": []}))
        if form == "opinion":
            return Answer('{"answers": true}')
        sentences = {n: _collapse_spaces(text) for n, text in read_sentences(prompt).items()}
        for gold in map(_collapse_spaces, self._golds.get(question, ())):
            if numbers := _find_numbers(gold, sentences):
                self.shown = True
                return Answer(answer_text((self._phrase(gold), numbers)), piece=64)
        self.shown = False
        return Answer(answer_text())

    def _phrase(self, gold: str) -> str:
        return f"In short, {gold}" if self._reworded else gold


def _find_numbers(gold: str, sentences: Mapping[int, str]) -> list[int]:
    """Return the numbers of the sentences that a quote stands in; none if it does not."""
    at = " ".join(sentences.values()).find(gold)
    numbers, start = [], 0
    for number, text in sentences.items():
        if at >= 0 and start < at + len(gold) and at < start + len(text):
            numbers.append(number)
        start += len(text) + 1
    return numbers


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
