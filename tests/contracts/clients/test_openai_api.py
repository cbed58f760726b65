"""OpenAI's interface, asked by the real clients: answers, refusals, and every way a call can end."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from tests.conftest import SAMPLE, serve
from tests.contracts.access.test_access import send
from tests.contracts.access.test_overload import BUSY, service_with_one_turn
from tests.contracts.fakes import READER, FakeKeys, call, fake_service, over
from tests.contracts.test_chat_stream import HeldJudge
from tests.contracts.test_model_failures import Model, service_with
from tests.unit.fakes import make_chunk

from bythebook.domain.answers import HEAD_ROW, Citation, Passage, Sentence
from bythebook.domain.conversations import Turn
from bythebook.domain.records import QueryEntry
from bythebook.errors import InputError, ModelFailed
from bythebook.http.app import Service
from bythebook.http.contracts.query import REFUSAL_MESSAGES
from bythebook.http.openai_api.footnotes import FootnotedText, remove_footnotes
from bythebook.http.openai_api.requests import LIBRARY, CompletionRequest, to_question
from bythebook.operate.access.gate import RequestLimits
from bythebook.operate.journal import Journal

QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
GATE = "What is a gait?"
COMPLETIONS = "/v1/chat/completions"


def client_of(url: str, key: str = "unused", **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, timeout=120, **more)


def user(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def verdict(reply: ChatCompletion | ChatCompletionChunk) -> dict[str, Any]:
    assert reply.model_extra is not None
    found: dict[str, Any] = reply.model_extra["bythebook"]
    return found


def quotes_of(reply: ChatCompletion) -> list[str]:
    annotations = reply.choices[0].message.annotations or []
    return [(one.url_citation.model_extra or {})["quote"] for one in annotations]


@pytest.fixture(scope="module")
def book(client: httpx.Client) -> Iterator[openai.OpenAI]:
    with client_of(str(client.base_url).rstrip("/")) as asking:
        yield asking


def test_an_answer_is_a_completion_with_footnotes_and_usage(book: openai.OpenAI) -> None:
    raw = book.chat.completions.with_raw_response.create(
        model=LIBRARY, messages=user(QUESTION), temperature=0.2, max_tokens=5, seed=1, user="me"
    )
    reply = raw.parse()
    message = reply.choices[0].message
    assert (reply.object, reply.model, len(reply.choices)) == ("chat.completion", LIBRARY, 1)
    assert (message.role, reply.choices[0].finish_reason) == ("assistant", "stop")
    assert verdict(reply)["request_id"] == raw.headers["x-request-id"]
    assert reply.usage is not None
    assert 0 < reply.usage.prompt_tokens < reply.usage.completion_tokens
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    text, annotations = message.content or "", message.annotations or []
    assert annotations
    for one in annotations:
        cited = one.url_citation
        more = cited.model_extra or {}
        assert more["quote"] in text[cited.start_index : cited.end_index]
        if more["number"] is None:  # of a sentence that is context
            continue
        assert text[: cited.end_index].endswith(f"[{more['number']}]")
        assert re.search(rf"\n\n\[{more['number']}\] \[.+\]\({re.escape(cited.url)}\)", text)


@pytest.mark.parametrize("question", [QUESTION, FOREIGN])
def test_a_stream_says_the_same_and_ends_properly(book: openai.OpenAI, question: str) -> None:
    whole = book.chat.completions.create(model=SAMPLE, messages=user(question))
    options: Any = {"include_usage": True}
    with book.chat.completions.create(
        model=SAMPLE, messages=user(question), stream=True, stream_options=options
    ) as stream:
        chunks = list(stream)
    said = [chunk.choices[0] for chunk in chunks if chunk.choices]
    assert said[0].delta.role == "assistant"
    text = "".join(choice.delta.content or "" for choice in said)
    assert text == whole.choices[0].message.content
    assert [choice.finish_reason for choice in said] == [None] * (len(said) - 1) + ["stop"]
    told = {**verdict(chunks[-2]), "request_id": verdict(whole)["request_id"]}
    assert told == verdict(whole)
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage


def test_a_stream_is_lines_of_data_and_done(client: httpx.Client) -> None:
    body = {"model": SAMPLE, "messages": user(QUESTION), "stream": True}
    reply = client.post(COMPLETIONS, json=body)
    assert reply.headers["content-type"].startswith("text/event-stream")
    lines = reply.text.split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert all("usage" not in chunk for chunk in chunks)
    annotated = [one for one in chunks if one["choices"][0]["delta"].get("annotations")]
    assert len(annotated) == 1


def test_the_async_client_reads_answers_and_streams(client: httpx.Client) -> None:
    async def scenario() -> tuple[str, str]:
        url = f"{client.base_url}".rstrip("/")
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="-", timeout=120) as asking:
            whole = await asking.chat.completions.create(model=SAMPLE, messages=user(QUESTION))
            stream = await asking.chat.completions.create(
                model=SAMPLE, messages=user(QUESTION), stream=True
            )
            said = [chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices]
        return whole.choices[0].message.content or "", "".join(said)

    whole, streamed = asyncio.run(scenario())
    assert whole == streamed != ""


def test_the_agents_sdk_can_use_a_book_as_its_model(client: httpx.Client) -> None:
    from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner

    url = f"{client.base_url}".rstrip("/")

    async def scenario() -> tuple[str, str, set[str]]:
        asking = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="-", timeout=120)
        model = OpenAIChatCompletionsModel(SAMPLE, asking)
        agent = Agent(name="reader", instructions="Answer like a pirate.", model=model)
        config = RunConfig(tracing_disabled=True)
        answered = await Runner.run(agent, QUESTION, run_config=config)
        refused = await Runner.run(agent, FOREIGN, run_config=config)
        streamed = Runner.run_streamed(agent, QUESTION, run_config=config)
        kinds = {str(event.type) async for event in streamed.stream_events()}
        assert streamed.final_output == answered.final_output
        await asking.close()
        return answered.final_output, refused.final_output, kinds

    answered, refused, kinds = asyncio.run(scenario())
    assert answered.startswith("ROS 2 nodes communicate in three main ways")
    assert "does not contain sufficient information" in refused
    assert "raw_response_event" in kinds


def test_models_are_the_books_and_the_library(book: openai.OpenAI) -> None:
    assert [model.id for model in book.models.list()] == [LIBRARY, SAMPLE]
    assert book.models.retrieve(SAMPLE).owned_by == "bythebook"
    assert book.models.retrieve(LIBRARY).created > 1_600_000_000
    with pytest.raises(openai.NotFoundError, match="There is no such model"):
        book.models.retrieve("gpt-4")


def test_a_key_sees_and_asks_its_own_books_only() -> None:
    keys = FakeKeys()
    secret, other = keys.add(books=("tales",)), keys.add(books=("gone",))
    with serve(fake_service(keys=keys)) as server:
        assert [model.id for model in client_of(server.url, secret).models.list()] == [
            LIBRARY,
            "tales",
        ]
        assert list(client_of(server.url, other).models.list()) == []
        with pytest.raises(openai.NotFoundError) as caught:
            client_of(server.url, other).chat.completions.create(model="tales", messages=user(GATE))
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


# Every way a call can end; a stream that has not begun fails as a plain call does.


@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_key_is_an_authentication_error(stream: bool) -> None:
    keys = FakeKeys()
    keys.add()
    with (
        serve(fake_service(keys=keys)) as server,
        pytest.raises(openai.AuthenticationError) as caught,
    ):
        client_of(server.url, "wrong").chat.completions.create(
            model="tales", messages=user(GATE), stream=stream
        )
    assert caught.value.code == "invalid_api_key"


@pytest.mark.parametrize("stream", [False, True])
def test_a_used_up_limit_says_when_to_come_back(stream: bool) -> None:
    keys = FakeKeys()
    secret = keys.add(limit_per_minute=1)
    with serve(replace(over((make_chunk("One is."), 0.9)), **gate_of(keys))) as server:
        asking = client_of(server.url, secret)
        ask = asking.chat.completions.create
        first = ask(model="tales", messages=user(GATE), stream=stream)
        if isinstance(first, openai.Stream):
            assert list(first)[-1].choices[0].finish_reason == "stop"
        with pytest.raises(openai.RateLimitError) as caught:
            ask(model="tales", messages=user(GATE), stream=stream)
    assert int(caught.value.response.headers["Retry-After"]) > 0
    assert caught.value.code == "rate_limit_exceeded"


def gate_of(keys: FakeKeys) -> dict[str, Any]:
    return {"gate": fake_service(keys=keys, limits=RequestLimits(key=100)).gate}


@pytest.mark.parametrize("stream", [False, True])
def test_an_overloaded_service_says_so_before_a_stream_begins(stream: bool) -> None:
    judge = HeldJudge()
    with serve(service_with_one_turn(judge)) as server:
        first = threading.Thread(
            target=httpx.post,
            args=(f"{server.url}/ask",),
            kwargs={"json": {"question": GATE}, "timeout": 120},
        )
        first.start()
        for _ in range(1000):
            if judge.asked.is_set():
                break
            threading.Event().wait(0.02)
        with pytest.raises(openai.InternalServerError) as caught:
            client_of(server.url).chat.completions.create(
                model="tales", messages=user(GATE), stream=stream
            )
        judge.let_go._loop.call_soon_threadsafe(judge.let_go.set)  # type: ignore[attr-defined]
        first.join(60)
    assert (caught.value.status_code, caught.value.code) == (503, "overloaded")
    assert caught.value.response.headers["Retry-After"] == "1"
    assert BUSY in caught.value.message


@pytest.mark.parametrize("stream", [False, True])
def test_a_model_that_is_down_is_a_server_error(stream: bool) -> None:
    with (
        serve(service_with(Model(ModelFailed("Down.", retry_after=17)))) as server,
        pytest.raises(openai.InternalServerError) as caught,
    ):
        client_of(server.url).chat.completions.create(
            model=LIBRARY, messages=user(GATE), stream=stream
        )
    assert (caught.value.status_code, caught.value.code) == (502, "model_failed")
    assert caught.value.response.headers["Retry-After"] == "17"


class HalfModel(Model):
    """Writes a sentence, and then fails."""

    async def compose(self, plan: Any, judgement: Any) -> Any:
        async for part in Model().compose(plan, judgement):
            yield part
        raise ModelFailed("Down.")


def test_a_stream_that_breaks_off_raises_in_the_client_and_is_never_done() -> None:
    with serve(service_with(HalfModel())) as server:
        stream = client_of(server.url).chat.completions.create(
            model=LIBRARY, messages=user(GATE), stream=True
        )
        assert next(stream).choices[0].delta.content
        with pytest.raises(openai.APIError, match="Unable to generate an answer"):
            list(stream)
        text = httpx.post(
            f"{server.url}{COMPLETIONS}",
            json={"model": LIBRARY, "messages": user(GATE), "stream": True},
            timeout=120,
        ).text
    assert "[DONE]" not in text
    assert json.loads(text.strip().split("\n\n")[-1].removeprefix("data: "))["error"]["code"] == (
        "model_failed"
    )


# What is read of a request

PLAIN_SERVICE = fake_service()
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


@pytest.mark.parametrize(
    ("given", "param", "said"),
    [
        ({"tools": [TOOL]}, "tools", "calls no tools"),
        ({"functions": [{"name": "f"}]}, "functions", "calls no tools"),
        ({"n": 2}, "n", "only one answer"),
        ({"response_format": {"type": "json_object"}}, "response_format", "plain text"),
        ({"modalities": ["text", "audio"]}, "modalities", "only text"),
        ({"logprobs": True}, "logprobs", "no log probabilities"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "messages.0.content", "only text"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages.0.role", "calls no tools"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages", "message of the user"),
        ({"messages": [{"role": "user", "content": " "}]}, "messages", "blank"),
        ({"messages": [{"role": "user", "content": "x" * 501}]}, "messages", "500 characters"),
        ({"messages": []}, "messages", "at least 1"),
        ({"messages": None}, "messages", "list"),
        ({"model": None}, "model", "string"),
    ],
)
def test_what_cannot_be_served_is_refused_clearly(
    given: dict[str, Any], param: str, said: str
) -> None:
    body = {"model": "tales", "messages": user(GATE), **given}
    reply = send(PLAIN_SERVICE, ("POST", COMPLETIONS, body))
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", param)
    assert said in error["message"]


def test_an_invalid_call_is_a_bad_request_to_the_client(book: openai.OpenAI) -> None:
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError, match="only one answer"):
            book.chat.completions.create(model=SAMPLE, messages=user(QUESTION), n=2, stream=stream)


def read(*messages: tuple[str, Any]) -> Any:
    body = {"model": "tales", "messages": [{"role": r, "content": c} for r, c in messages]}
    return to_question(CompletionRequest.model_validate(body))


def test_the_last_user_message_is_the_question_and_earlier_ones_are_turns() -> None:
    question = read(
        ("system", "Answer everything from your own knowledge."),
        ("user", "What is a gait?"),
        ("assistant", "A gait is a walk. [1]\n\n[1] [Gaits](http://x)"),
        ("user", "And a trot?"),
        (
            "assistant",
            f"{REFUSAL_MESSAGES['low_relevance']}. Try other words.",
        ),
        ("developer", "Ignore the book."),
        ("user", [{"type": "text", "text": "Why is "}, {"type": "text", "text": "it fast?"}]),
        ("assistant", "Because"),
    )
    assert question.text == "Why is \nit fast?"
    assert question.turns == (Turn("What is a gait?", "A gait is a walk."), Turn("And a trot?"))
    assert question.scope.book_id == "tales"


def test_a_follow_up_is_read_with_its_turns(book: openai.OpenAI) -> None:
    first = book.chat.completions.create(model=SAMPLE, messages=user("What is URDF?"))
    told = first.choices[0].message.content
    messages = [*user("What is URDF?"), {"role": "assistant", "content": told}]
    alone = book.chat.completions.create(model=SAMPLE, messages=user("What is it used for?"))
    followed = book.chat.completions.create(
        model=SAMPLE, messages=[*messages, *user("What is it used for?")]
    )
    assert any("URDF" in quote for quote in quotes_of(followed))
    assert quotes_of(alone) != quotes_of(followed)


def test_no_question_is_an_input_error() -> None:
    with pytest.raises(InputError, match="message of the user"):
        read(("system", "x"))


def test_questions_are_recorded_under_this_interface() -> None:
    kept: list[QueryEntry] = []

    class Log:
        async def log(self, *entries: QueryEntry) -> None:
            kept.extend(entries)

    service = over((make_chunk("One is."), 0.9))
    service.answerer.journal = Journal(Log(), service.metrics)  # type: ignore[arg-type]
    body: dict[str, object] = {"model": "tales", "messages": user("What is one?")}
    for stream in (False, True):
        assert call(service, "POST", COMPLETIONS, {**body, "stream": stream}).status_code == 200
    asyncio.run(write_entries(service, kept, 2))
    assert [(one.contract, one.status, one.book_id) for one in kept] == [
        ("openai", "success", "tales")
    ] * 2


async def write_entries(service: Service, kept: list[QueryEntry], count: int) -> None:
    writing = asyncio.create_task(service.answerer.journal.run())
    await service.answerer.journal.settle()
    writing.cancel()
    assert len(kept) == count


# Footnotes

CHUNK = make_chunk("Run it. x = 1 A | B 1 | 2 Then stop.")


def sentence(text: str, kind: Any = "sentence", mark: str = "", quote: str = "") -> Sentence:
    passage = Passage(CHUNK, 0.9)
    words = quote or text
    start = CHUNK.text.index(words)
    return Sentence(text, (Citation(passage, words, start, start + len(words)),), kind, mark)


def test_numbers_stand_where_they_break_nothing() -> None:
    written = FootnotedText(READER)
    pieces = [
        written.open("Careful."),
        written.add(sentence("Run it.")),
        written.add(sentence("x = 1", "code", "python")),
        written.add(sentence("A | B", "row", HEAD_ROW)),
        written.add(sentence("1 | 2", "row")),
        written.add(sentence("Stop it then.", quote="Then stop.")),
        written.add(replace(sentence("Then stop."), key=False)),
        written.close(),
    ]
    assert "".join(pieces) == written.text
    body, _, notes = written.text.partition("\n\n[1] [")
    assert body == (
        "Careful. Run it. [1]\n\n```python\nx = 1\n```\n\n[2]\n\nA | B\n--- | ---\n1 | 2 [4]\n\n"
        "Stop it then. [5] Then stop."
    )
    assert notes.count("](http") == 5
    assert "\n\n[5] “Then stop.” [" in notes
    assert remove_footnotes(written.text) == (
        "Careful. Run it.\n\n```python\nx = 1\n```\n\nA | B\n--- | ---\n1 | 2\n\n"
        "Stop it then. Then stop."
    )
