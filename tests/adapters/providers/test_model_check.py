"""Whether a model works is seen by one short call, and not by one for everybody who looks."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.providers.model_stub import KEY, Answer, ModelStub, serve_model
from tests.adapters.providers.test_agents_generator import calls_to
from typer.testing import CliRunner

from bythebook.adapters.providers.agents.roles.model_check import FAILED_SECONDS, ModelCheck
from bythebook.cli import app
from bythebook.errors import PartFailed


@pytest.fixture(scope="module")
def stub() -> Iterator[ModelStub]:
    with serve_model() as stub:
        yield stub
    assert not stub.faults


def test_one_short_call_is_made_and_none_while_it_is_known_to_work(stub: ModelStub) -> None:
    stub.will(Answer("yes, " * 5000))
    check = ModelCheck(calls_to(stub))

    async def look() -> None:
        await asyncio.gather(*(check.require() for _ in range(5)))
        await check.require()

    asyncio.run(look())
    assert len(stub.requests) == 1
    assert len(str(stub.requests[0]["messages"])) < 200


def test_what_is_wrong_is_said_in_a_line_and_not_asked_again_at_once(stub: ModelStub) -> None:
    stub.will(Answer(status=401, body={"error": {"message": "no"}}))
    now = [0.0]
    check = ModelCheck(calls_to(stub), lambda: now[0])

    async def look() -> str:
        try:
            await check.require()
        except PartFailed as error:
            return f"{error.what} {error.help_message}"
        return "well"

    async def looks() -> list[str]:
        replies = [await look(), await look()]
        now[0] += FAILED_SECONDS
        stub.answers = [Answer("yes")]
        return [*replies, await look(), await look()]

    replies = asyncio.run(looks())
    assert replies[0] == replies[1]
    assert "does not know the key" in replies[0]
    assert "BYTHEBOOK_LLM_API_KEY" in replies[0]
    assert replies[2:] == ["well", "well"]
    assert len(stub.requests) == 2


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (Answer("yes"), "ok   model"),
        (Answer(status=401, body={"error": {"message": KEY}}), "does not know the key"),
        (Answer(status=402, body={"error": {"message": KEY}}), "has no credit left"),
        (Answer(status=404, body={"error": {"message": KEY}}), "does not know the model"),
    ],
)
def test_the_doctor_says_in_a_line_what_is_wrong(
    stub: ModelStub, answer: Answer, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.will(answer)
    given = {"DATA_DIR": str(tmp_path), "LLM_BASE_URL": stub.url, "LLM_API_KEY": KEY}
    for name, value in given.items():
        monkeypatch.setenv(f"BYTHEBOOK_{name}", value)
    replies = CliRunner().invoke(app, ["doctor"]).output
    (model,) = [one for one in replies.splitlines() if one[5:].startswith("model ")]
    assert line in model
    assert KEY not in replies
    assert len(stub.requests) == 1
