"""Fifty questions through every interface: one verdict, one text, the same quotes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.conftest import SAMPLE
from tests.contracts.test_openai_api import client_of, quotes_of, user, verdict

from bythebook.evaluate.sets import load_questions
from bythebook.http.openai_api.footnotes import remove_footnotes

FIFTY = [
    one.question
    for one in load_questions(Path(__file__).parents[2] / "evals" / "sample-book.jsonl")
][::6][:50]


@dataclass(frozen=True)
class Told:
    """What an interface said of a question: an answer with its quotes, or the type of a refusal."""

    refusal_type: str | None
    text: str = ""
    quotes: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


def by_contract_a(client: httpx.Client, question: str) -> Told:
    reply = client.post("/api/query", json={"query": question, "book": SAMPLE})
    return told_in_envelope(reply.json())


def told_in_envelope(envelope: dict[str, Any]) -> Told:
    answer, refusal = envelope["answer"], envelope["refusal"]
    if answer is None:
        near = tuple(one["url"] for one in refusal["nearest_sections"])
        return Told(refusal["refusal_type"], nearest=near)
    quotes = tuple(one["referenced_text"] for one in answer["citations"])
    return Told(None, answer["text"], quotes)


def by_openai(client: httpx.Client) -> Callable[[str], Told]:
    book = client_of(str(client.base_url).rstrip("/"))

    def ask(question: str) -> Told:
        reply = book.chat.completions.create(model=SAMPLE, messages=user(question))
        told = verdict(reply)
        if told["status"] == "refused":
            near = tuple(one["url"] for one in told["nearest_sections"])
            return Told(told["refusal_type"], nearest=near)
        text = remove_footnotes(reply.choices[0].message.content or "")
        return Told(None, text, tuple(quotes_of(reply)))

    return ask


def test_fifty_questions_are_told_alike_by_every_interface(client: httpx.Client) -> None:
    ways = {"openai": by_openai(client)}
    kinds = set()
    for question in FIFTY:
        expected = by_contract_a(client, question)
        kinds.add(expected.refusal_type is None)
        told = {name: ask(question) for name, ask in ways.items()}
        assert told == dict.fromkeys(ways, expected)
    assert len(FIFTY) == 50
    assert kinds == {True, False}
