"""Fifty questions through every interface: one verdict, one text, the same quotes."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from anyio.from_thread import start_blocking_portal
from tests.conftest import SAMPLE
from tests.contracts.clients.test_mcp import connect
from tests.contracts.clients.test_openai_api import client_of, quotes_of, user, verdict

from bythebook import AsyncBook
from bythebook.bootstrap import Core
from bythebook.evaluate.sets import load_questions
from bythebook.http.openai_api.footnotes import remove_footnotes

FIFTY = [
    one.question
    for one in load_questions(Path(__file__).parents[2] / "evals" / "sample-book.jsonl")
][::6][:50]


@dataclass(frozen=True)
class InterfaceAnswer:
    """What an interface said of a question: an answer with its quotes, or the type of a refusal."""

    refusal_type: str | None
    text: str = ""
    quotes: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()


def by_contract_a(client: httpx.Client, question: str) -> InterfaceAnswer:
    reply = client.post("/api/query", json={"query": question, "book": SAMPLE})
    return answer_of_envelope(reply.json())


def answer_of_envelope(envelope: dict[str, Any]) -> InterfaceAnswer:
    answer, refusal = envelope["answer"], envelope["refusal"]
    if answer is None:
        near = tuple(one["url"] for one in refusal["nearest_sections"])
        return InterfaceAnswer(refusal["refusal_type"], nearest=near)
    quotes = tuple(one["referenced_text"] for one in answer["citations"])
    return InterfaceAnswer(None, answer["text"], quotes)


def by_openai(client: httpx.Client) -> Callable[[str], InterfaceAnswer]:
    book = client_of(str(client.base_url).rstrip("/"))

    def ask(question: str) -> InterfaceAnswer:
        reply = book.chat.completions.create(model=SAMPLE, messages=user(question))
        told = verdict(reply)
        if told["status"] == "refused":
            near = tuple(one["url"] for one in told["nearest_sections"])
            return InterfaceAnswer(told["refusal_type"], nearest=near)
        text = remove_footnotes(reply.choices[0].message.content or "")
        return InterfaceAnswer(None, text, tuple(quotes_of(reply)))

    return ask


class Assistant:
    """An MCP client that stays connected, in a loop of its own."""

    def __init__(self, client: httpx.Client) -> None:
        self._url = str(client.base_url).rstrip("/")

    def __enter__(self) -> Callable[[str], InterfaceAnswer]:
        self._portal = start_blocking_portal()
        portal = self._portal.__enter__()
        self._connection = portal.wrap_async_context_manager(connect(self._url))
        assistant = self._connection.__enter__()

        def ask(question: str) -> InterfaceAnswer:
            given = {"question": question, "book": SAMPLE}
            result: Any = portal.call(assistant.call_tool, "ask_book", given)
            return answer_of_tool(result.structured_content)

        return ask

    def __exit__(self, *_: object) -> None:
        self._connection.__exit__(None, None, None)
        self._portal.__exit__(None, None, None)


def answer_of_tool(result: dict[str, Any]) -> InterfaceAnswer:
    if result["status"] == "refused":
        near = tuple(one["link"] for one in result["nearest_sections"])
        return InterfaceAnswer(result["refusal_type"], nearest=near)
    quotes = tuple(one["quote"] for one in result["citations"])
    return InterfaceAnswer(None, remove_footnotes(result["answer"]), quotes)


def by_python(core: Core) -> Callable[[str], InterfaceAnswer]:
    book = AsyncBook(core, SAMPLE)

    def ask(question: str) -> InterfaceAnswer:
        answer = asyncio.run(book.ask(question))
        near = tuple(one.link for one in answer.nearest_sections)
        quotes = tuple(one.quote for one in answer.citations)
        return InterfaceAnswer(answer.refusal_type, answer.text if answer else "", quotes, near)

    return ask


def test_fifty_questions_are_told_alike_by_every_interface(
    client: httpx.Client, sample_core: Core
) -> None:
    kinds = set()
    with Assistant(client) as by_mcp:
        ways = {"openai": by_openai(client), "mcp": by_mcp, "python": by_python(sample_core)}
        for question in FIFTY:
            expected = by_contract_a(client, question)
            kinds.add(expected.refusal_type is None)
            told = {name: ask(question) for name, ask in ways.items()}
            assert told == dict.fromkeys(ways, expected)
    assert len(FIFTY) == 50
    assert kinds == {True, False}
