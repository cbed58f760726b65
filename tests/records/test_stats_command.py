"""`bythebook stats` on both databases."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.records.conftest import Place
from tests.records.samples import query
from typer.testing import CliRunner

from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.cli import app
from bythebook.domain.answers import NearestSection
from bythebook.domain.records import OPEN, CitedSection, Feedback
from bythebook.errors import InputError

NOW = datetime.now(UTC)
NEAREST = NearestSection("robots", "nodes", "Nodes", "Topics", "https://example.org/nodes")
CITED = (CitedSection("robots", "Simulation", "Gazebo"),)
HOSTILE = "What is [red]this[/red]\x1b[31m\nthing?"


@pytest.fixture
def shop(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("BYTHEBOOK_DATABASE_URL", place.url)
    monkeypatch.setenv("BYTHEBOOK_DATA_DIR", str(place.folder))
    return place


def run(*words: str) -> str:
    done = CliRunner().invoke(app, ["stats", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def fill(place: Place, *entries: Any, reason: str = "Too short.") -> None:
    async def keep() -> None:
        async with place.database() as database:
            for entry in entries:
                await SqlQueryLog(database).log(entry)
            word = Feedback(entries[0].request_id, False, NOW, reason)
            await SqlFeedbackStore(database).give(OPEN, word)

    asyncio.run(keep())


def test_the_sums_of_a_period_are_shown(shop: Place) -> None:
    refused = {"status": "refused", "refusal_type": "low_relevance", "nearest_section": NEAREST}
    day = timedelta(days=1)
    fill(
        shop,
        *(query(created_at=NOW - 2 * day, cited_sections=CITED) for _ in range(3)),
        query(created_at=NOW, query_text=HOSTILE, borderline=True, **refused),
        query(created_at=NOW - 40 * day, query_text="Long ago?"),
    )
    output = run()
    days = re.findall(r"^(\d{4}-\d\d-\d\d) +(\d+) *(█*)", output, re.MULTILINE)
    assert days == [
        ((NOW - 2 * day).date().isoformat(), "3", "█" * 30),
        ((NOW - day).date().isoformat(), "0", ""),
        (NOW.date().isoformat(), "1", "█" * 10),
    ]
    for line in (
        r"Questions +4 +100\.0%",
        r"Answered +3 +75\.0%",
        r"Refused +1 +25\.0%",
        r"low_relevance +1 +25\.0%",
        r"Borderline +1 +25\.0%",
        r"3 +What is a node\?",
        r"1 +What is \[red\]this\[/red\] \[31m thing\? +Nodes › Topics",
        r"3 +Simulation +robots",
        r"Feedback: 0 helpful, 1 not",
        r"not +Too short\.",
    ):
        assert re.search(line, output), (line, output)
    assert "\x1b" not in output
    assert "Long ago?" not in output
    assert "Long ago?" in run("--days", "60")


def test_json_holds_all_of_it(shop: Place) -> None:
    fill(shop, query(created_at=NOW), query(created_at=NOW, book_id="other", status="error"))
    output = json.loads(run("--json"))
    today = NOW.date()
    assert output.pop("since") == (today - timedelta(days=29)).isoformat()
    assert output.pop("until") == today.isoformat()
    (reason,) = output.pop("latest_reasons")
    assert reason["reason"] == "Too short."
    assert output == {
        "questions": 2,
        "per_day": [{"day": today.isoformat(), "questions": 2}],
        "by_status": {"success": 1, "error": 1},
        "refusals": {},
        "refusal_rates": {},
        "borderline": 0,
        "most_asked": [{"text": "What is a node?", "times": 2, "nearest_section": None}],
        "most_refused": [],
        "most_cited": [],
        "helpful": 0,
        "not_helpful": 1,
        "models": [],
    }
    assert json.loads(run("--json", "--book", "other"))["questions"] == 1


def test_language_models_are_shown_with_what_was_dropped_and_what_it_cost(shop: Place) -> None:
    asked = {"created_at": NOW, "model": "openai/gpt-4", "prompt_tokens": 900}
    fill(
        shop,
        query(created_at=NOW),
        query(**asked, sentences_shown=7, sentences_dropped=1, usd=0.25),
        query(**asked, sentences_shown=2, completion_tokens=100),
        query(created_at=NOW, model="small"),
    )
    output = " ".join(run().split())
    assert "openai/gpt-4 1 of 10 sentences dropped 10.0% 1,900 tokens $0.2500" in output
    assert "small 0 of 0 sentences dropped 0.0% 0 tokens" in output
    first, second = json.loads(run("--json"))["models"]
    assert first == {
        "model": "openai/gpt-4",
        "questions": 2,
        "sentences": 10,
        "dropped": 1,
        "tokens": 1900,
        "usd": 0.25,
        "dropped_share": 0.1,
    }
    assert (second["model"], second["usd"]) == ("small", None)


@pytest.mark.parametrize("words", [("--until", "2020-01-31"), ("--book", "nowhere"), ()])
def test_a_period_without_questions_says_so(shop: Place, words: tuple[str, ...]) -> None:
    if words:
        fill(shop, query(created_at=NOW))
    assert "No question was recorded in this period." in run(*words)
    assert json.loads(run("--json", *words))["questions"] == 0


def test_a_period_has_its_first_and_its_last_day(shop: Place) -> None:
    fill(
        shop,
        *(
            query(created_at=datetime(2026, 3, day, hour, tzinfo=UTC))
            for day, hour in ((1, 23), (2, 0), (3, 23), (4, 0))
        ),
    )
    output = json.loads(run("--json", "--since", "2026-03-02", "--until", "2026-03-03"))
    assert output["questions"] == 2
    assert json.loads(run("--json", "--until", "2026-03-04", "--days", "1"))["questions"] == 1


@pytest.mark.parametrize("kind", ["sqlite"])
@pytest.mark.parametrize(
    "words", [("--since", "2026-02-02", "--until", "2026-02-01"), ("--days", "99999999")]
)
def test_a_period_that_is_none_is_refused(shop: Place, words: tuple[str, ...], kind: str) -> None:
    with pytest.raises(InputError):
        run(*words)


@pytest.mark.parametrize("kind", ["sqlite"])
@pytest.mark.parametrize("words", [("--since", "yesterday"), ("--days", "0"), ("--most", "0")])
def test_a_value_that_is_none_is_refused(shop: Place, words: tuple[str, ...], kind: str) -> None:
    done = CliRunner().invoke(app, ["stats", *words])
    assert done.exit_code == 2
