"""The Model Context Protocol, spoken by its own client: over HTTP, over stdio, and when things go wrong."""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import jsonschema_rs
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.conftest import SAMPLE, serve
from tests.contracts.access.test_access import send
from tests.contracts.access.test_overload import BUSY, service_with_one_turn
from tests.contracts.fakes import FakeKeys, fake_service, over
from tests.contracts.test_chat_stream import HeldJudge
from tests.contracts.test_model_failures import Model, service_with
from tests.unit.fakes import make_chunk
from typer.testing import CliRunner

from bythebook.bootstrap import Core
from bythebook.cli import app, assisting
from bythebook.domain.records import KeyTerms, QueryEntry
from bythebook.errors import ModelFailed
from bythebook.http.mcp_api.server import make_server
from bythebook.operate.access.gate import RequestLimits
from bythebook.operate.journal import Journal

pytestmark = pytest.mark.anyio
QUESTION = "How do ROS 2 nodes communicate?"
FOREIGN = "Who won the football world cup in 1998?"
TOOLS = ["ask_book", "search_book", "read_section", "list_books"]
both_eras = pytest.mark.parametrize("mode", ["auto", "legacy"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def connect(url: str, key: str = "", mode: str = "auto") -> AsyncIterator[Client]:
    """Connect as an assistant would, with a key if there is one."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=120) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def url_of(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


def text_of(result: Any) -> str:
    return str(result.content[0].text)


async def use_everything(client: Client) -> None:
    """List, ask, search, read, and err, as an assistant may."""
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS
    assert all(tool.description and tool.annotations for tool in tools)
    assert client.instructions
    outputs = {tool.name: tool.output_schema for tool in tools}

    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, text_of(result)
        found: dict[str, Any] = result.structured_content
        schema = outputs[name]
        assert schema
        assert list(jsonschema_rs.validator_for(schema).iter_errors(found)) == []
        assert text_of(result)
        return found

    books = await call("list_books")
    assert [book["book"] for book in books["books"]] == [SAMPLE]
    answered = await call("ask_book", question=QUESTION, book=SAMPLE)
    assert answered["status"] == "success"
    refused = await call("ask_book", question=FOREIGN)
    assert (refused["status"], refused["refusal_type"]) == ("refused", "low_relevance")
    assert refused["answer"] is None
    assert refused["nearest_sections"]
    cited = answered["citations"][0]
    place = {name: cited[name] for name in ("book", "document_id", "char_start")}
    section = await call("read_section", **place)
    within = slice(
        cited["char_start"] - section["char_start"], cited["char_end"] - section["char_start"]
    )
    assert section["text"][within] == cited["quote"]
    found = (await call("search_book", query="URDF links and joints", limit=3))["sections"]
    assert len(found) == 3
    await read_resources(client, section)
    await err(client)


async def read_resources(client: Client, section: dict[str, Any]) -> None:
    listed = (await client.list_resources()).resources
    assert listed[0].uri == f"book://{SAMPLE}"
    page = f"book://{SAMPLE}/{section['document_id']}"
    assert page in {one.uri for one in listed}
    contents = (await client.read_resource(f"book://{SAMPLE}")).contents[0]
    assert page in getattr(contents, "text", "")
    text = getattr((await client.read_resource(page)).contents[0], "text", "")
    assert text[section["char_start"] : section["char_end"]] == section["text"]
    assert len((await client.list_resource_templates()).resource_templates) == 2
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["study_topic", "quiz_me", "explain_passage"]
    for prompt in prompts:
        names = [argument.name for argument in prompt.arguments or [] if argument.required]
        told = await client.get_prompt(prompt.name, dict.fromkeys(names, "the gripper"))
        assert "the gripper" in getattr(told.messages[0].content, "text", "")


async def err(client: Client) -> None:
    """Bad arguments are results that a model can read; what does not exist is an error."""
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("ask_book", {}, "question"),
        ("ask_book", {"question": "x" * 501}, "question"),
        ("ask_book", {"question": "x", "colour": "red"}, "colour"),
        ("ask_book", {"question": "x", "book": "none"}, "book"),
        ("search_book", {"query": "x", "limit": 21}, "limit"),
        ("read_section", {"book": SAMPLE, "document_id": "none"}, "document_id"),
        ("read_section", {"book": SAMPLE, "document_id": "index", "char_start": 10**9}, "char_s"),
    ]
    for name, arguments, field in bad:
        result = await client.call_tool(name, arguments)
        assert result.is_error
        assert text_of(result).startswith(field)
        assert result.structured_content["error"] == "validation_failed"
    with pytest.raises(MCPError, match="no such tool"):
        await client.call_tool("burn_book", {})
    for uri in ("book://none", f"book://{SAMPLE}/none", "file:///etc/passwd", "book://../../etc"):
        with pytest.raises(MCPError):
            await client.read_resource(uri)
    with pytest.raises(MCPError, match="topic"):
        await client.get_prompt("quiz_me", {})


@both_eras
async def test_an_assistant_uses_everything_over_http(client: httpx.Client, mode: str) -> None:
    async with connect(url_of(client), mode=mode) as assistant:
        await use_everything(assistant)


def on_stdio(core: Core) -> StdioServerParameters:
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH", ""), *sys.path[:1])))
    environment = {
        "BYTHEBOOK_DATA_DIR": str(core.settings.data_dir),
        "BYTHEBOOK_PORT": str(core.settings.port),
        "PYTHONPATH": path,
    }
    return StdioServerParameters(
        command=sys.executable, args=["-m", "bythebook", "mcp"], env=environment
    )


async def test_an_assistant_uses_everything_over_stdio_and_may_leave_a_call(
    sample_core: Core,
) -> None:
    async with Client(on_stdio(sample_core)) as assistant:
        await use_everything(assistant)
        with anyio.move_on_after(0.001) as left:
            await assistant.call_tool("ask_book", {"question": "What is a gait?"})
        assert left.cancelled_caught
        calls = [
            assistant.call_tool("ask_book", {"question": QUESTION, "book": SAMPLE})
            for _ in range(10)
        ]
        told = await asyncio.gather(*calls)
        assert {one.structured_content["status"] for one in told} == {"success"}


def test_standard_output_holds_the_protocol_and_nothing_else(
    sample_core: Core, tmp_path: Path
) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    }
    asked = {"name": "ask_book", "arguments": {"question": QUESTION}}
    calls = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked},
    ]
    server = on_stdio(sample_core)
    with subprocess.Popen(
        [server.command, *server.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | (server.env or {}) | {"BYTHEBOOK_LOG_LEVEL": "debug"},
        cwd=tmp_path,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("".join(json.dumps(call) + "\n" for call in calls))
        process.stdin.flush()
        told = [json.loads(process.stdout.readline()) for _ in range(2)]
        rest, logged = process.communicate(timeout=120)
    assert [one["id"] for one in told] == [1, 2]
    assert told[1]["result"]["structuredContent"]["status"] == "success"
    assert rest == ""
    assert '"contract": "mcp"' in logged
    assert process.returncode == 0


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(assisting, "is_installed", lambda: False)
    done = CliRunner().invoke(app, ["mcp"])
    assert "bythebook[mcp]" in str(getattr(done.exception, "help_message", ""))


# When things go wrong


async def refusal(url: str, key: str, mode: str) -> MCPError:
    """Give what connecting raises, out of the groups that it comes in."""
    try:
        async with connect(url, key, mode):
            pytest.fail("a wrong key was let in")
    except (MCPError, BaseExceptionGroup) as raised:
        error: BaseException = raised
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, MCPError)
    return error


@both_eras
async def test_a_wrong_key_opens_nothing(mode: str) -> None:
    keys = FakeKeys()
    secret = await new_key(keys)
    with serve(fake_service(keys=keys)) as server:
        for wrong in ("", "wrong"):
            error = await refusal(server.url, wrong, mode)
            assert error.data["error"] == "unauthorized"
        async with connect(server.url, secret, mode) as assistant:
            assert (await assistant.call_tool("list_books", {})).structured_content["books"]


async def new_key(keys: FakeKeys, **terms: Any) -> str:
    return (await keys.create(KeyTerms("ask", **terms), datetime.now(UTC))).secret


def test_http_failures_have_the_shape_of_json_rpc() -> None:
    keys = FakeKeys()
    keys.add()
    service = fake_service(keys=keys)
    reply = send(service, ("POST", "/mcp", {}))
    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"] == "Bearer"
    error = reply.json()["error"]
    assert (error["code"], error["data"]["error"]) == (-32000, "unauthorized")
    assert send(service, ("GET", "/mcp", None)).status_code == 405
    elsewhere = send(fake_service(), ("POST", "/mcp", {}), {"Origin": "https://evil.example"})
    assert elsewhere.status_code == 403


async def test_a_key_reads_its_own_books_only() -> None:
    keys = FakeKeys()
    secret = await new_key(keys, books=("other",))
    with serve(fake_service(keys=keys)) as server:
        async with connect(server.url, secret) as assistant:
            assert (await assistant.call_tool("list_books", {})).structured_content == {"books": []}
            assert (await assistant.list_resources()).resources == []
            for name, given in (
                ("ask_book", {"question": "x", "book": "tales"}),
                ("read_section", {"book": "tales", "document_id": "one"}),
            ):
                assert (await assistant.call_tool(name, given)).is_error
            with pytest.raises(MCPError):
                await assistant.read_resource("book://tales")


def end_of(told: Any) -> str:
    if isinstance(told, MCPError):
        assert told.data["retry_after"] > 0
        return str(told.data["error"])
    return str(told.structured_content["status"])


@both_eras
async def test_of_100_calls_at_once_each_has_a_result_or_the_limit_error(mode: str) -> None:
    service = over((make_chunk("One is."), 0.9))
    limited = fake_service(limits=RequestLimits(ip=60))
    with serve(replace(service, gate=limited.gate)) as server:
        async with connect(server.url, mode=mode) as assistant:
            await assistant.list_tools()  # else each call looks its tool up before
            ask = [
                assistant.call_tool("ask_book", {"question": "What is one?"}) for _ in range(100)
            ]
            ends = Counter(map(end_of, await asyncio.gather(*ask, return_exceptions=True)))
    assert set(ends) == {"success", "rate_limited"}
    assert ends.total() == 100
    assert 50 <= ends["success"] <= 60  # some of the limit went into connecting


async def until(event: asyncio.Event) -> None:
    """Wait for an event of another thread's loop."""
    with anyio.fail_after(60):
        while not event.is_set():  # noqa: ASYNC110 - set by another loop
            await anyio.sleep(0.02)


@both_eras
async def test_a_call_that_is_left_stops_the_work_and_frees_its_turn(mode: str) -> None:
    judge = HeldJudge()
    with serve(service_with_one_turn(judge)) as server:
        async with connect(server.url, mode=mode) as assistant:
            asking = asyncio.create_task(
                assistant.call_tool("ask_book", {"question": "What is one?"})
            )
            await until(judge.asked)
            busy = await assistant.call_tool("ask_book", {"question": "What is one?"})
            assert busy.is_error
            assert text_of(busy) == f"{BUSY} Try again in 1 seconds."
            assert busy.structured_content["error"] == "overloaded"
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            if mode == "auto":  # clients of before 2026 keep the connection until they leave
                await until(judge.called_off)
        await until(judge.called_off)


async def test_a_cancelled_call_stops_the_work_on_a_stream() -> None:
    judge = HeldJudge()
    server = make_server(service_with_one_turn(judge).answerer, "0")
    async with Client(server, mode="legacy") as assistant:
        asking = asyncio.create_task(assistant.call_tool("ask_book", {"question": "What is one?"}))
        await until(judge.asked)
        asking.cancel()
        await until(judge.called_off)
        assert (await assistant.call_tool("list_books", {})).structured_content["books"]


async def test_a_model_that_is_down_is_told_to_the_assistant() -> None:
    service = service_with(Model(ModelFailed("Down with sk-secret.", retry_after=17)))
    async with Client(make_server(service.answerer, "0")) as assistant:
        told = await assistant.call_tool("ask_book", {"question": "What is a gait?"})
    assert told.is_error
    assert "sk-secret" not in text_of(told)
    assert told.structured_content["error"] == "model_failed"
    assert told.structured_content["retry_after"] == 17


async def test_questions_are_recorded_under_this_interface() -> None:
    kept: list[QueryEntry] = []

    class Log:
        async def log(self, *entries: QueryEntry) -> None:
            kept.extend(entries)

    service = over((make_chunk("One is."), 0.9))
    journal = service.answerer.journal = Journal(Log(), service.metrics)  # type: ignore[arg-type]
    async with Client(make_server(service.answerer, "0")) as assistant:
        await assistant.call_tool("ask_book", {"question": "What is one?"})
    writing = asyncio.create_task(journal.run())
    await journal.settle()
    writing.cancel()
    assert [(one.contract, one.status) for one in kept] == [("mcp", "success")]
