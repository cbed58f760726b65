"""What authors see: who is let in, what they are shown, and tables that no spreadsheet runs."""

import asyncio
import csv
import io
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import httpx
import pytest
from tests.conftest import SAMPLE, free_port, serve_core
from tests.contracts.fakes import FakeKeys, call, fake_service

from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.bootstrap import Core
from bythebook.domain.records import KeyScope, KeyTerms, QueryEntry
from bythebook.http.authors.csv_export import csv_lines
from bythebook.http.authors.models.queries import Table
from bythebook.operate.access.gate import RequestLimits
from bythebook.settings import Settings

ANSWERED = "How do ROS 2 nodes communicate?"
FOREIGN = "How much does a Unitree G1 cost?"
SAME = "what does a Unitree G1 cost"
SELECTION = "The capital of Iceland is Reykjavik. Herons fish at the river in the morning."
SELECTED = "What is the capital of Norway?"
FORMULA = '=HYPERLINK("http://elsewhere.example","here") costs what?'
SCRIPT = "<script>alert(1)</script> costs what, please?"
ID = uuid.UUID("e9968bc8-5374-450f-a3fe-2b82aa535b91")
ROUTES = (
    "/admin/overview",
    "/admin/unanswered",
    "/admin/cited",
    "/admin/scores",
    "/admin/latency",
    "/admin/ingests",
    "/admin/questions",
    f"/admin/questions/{ID}/passages",
    "/admin/export/questions",
)
TABLES: tuple[str, ...] = get_args(Table)
FILES = ("/admin", "/admin.js", "/admin.css")


@dataclass
class Authored:
    """A service with some questions in its log, and its keys."""

    client: httpx.Client
    keys: dict[str, str]

    def get(self, path: str, key: str = "admin", **params: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        return self.client.get(path, params=params, headers=headers)

    def get_json(self, path: str, **params: Any) -> Any:
        reply = self.get(path, **params)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def table(self, name: str, **params: Any) -> list[dict[str, str]]:
        reply = self.get(f"/admin/export/{name}", **params)
        assert reply.status_code == 200, reply.text
        return list(csv.DictReader(io.StringIO(reply.text, newline="")))


async def make_keys(core: Core) -> dict[str, str]:
    scopes: dict[str, tuple[KeyScope, tuple[str, ...] | None]] = {
        "ask": ("ask", None),
        "admin": ("admin", None),
        "of another book": ("admin", ("tales",)),
    }
    async with core.database() as database:
        store = SqlKeyStore(database)
        return {
            name: (await store.create(KeyTerms(scope, books), datetime.now(UTC))).secret
            for name, (scope, books) in scopes.items()
        }


async def add_old(core: Core) -> None:
    """Add what only time would bring: a question of last week, one of a book that is gone."""
    usual: dict[str, Any] = {"contract": "query", "mode": "standard_rag", "status": "success"}
    now = datetime.now(UTC)
    entries = [
        QueryEntry(uuid.uuid4(), query_text=text, created_at=now - age, processing_time_ms=5, book_id=book, **usual)
        for text, age, book in (
            ("What was asked last week?", timedelta(days=9), SAMPLE),
            ("What did the other book say?", timedelta(days=3), "tales"),
        )
    ]  # fmt: skip
    async with core.database() as database:
        await SqlQueryLog(database).log(*entries)


@pytest.fixture(scope="module")
def author(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authored]:
    folder = tmp_path_factory.mktemp("authored") / "library"
    shutil.copytree(sample_core.settings.data_dir / "books", folder / "books")
    core = Core(Settings(data_dir=folder, port=free_port(), limit_key=0, limit_ip=0))
    keys = asyncio.run(make_keys(core))
    asyncio.run(add_old(core))
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=120) as client:
        asking = {"Authorization": f"Bearer {keys['ask']}"}
        for text in (ANSWERED, FOREIGN, FOREIGN, SAME, FORMULA, SCRIPT):
            reply = client.post("/api/query", json={"query": text, "book": SAMPLE}, headers=asking)
            assert reply.status_code == 200
        asked = {"query": SELECTED, "selected_text": SELECTION}
        client.post("/api/query", json=asked, headers=asking)
        word = {
            "request_id": reply.headers["X-Request-ID"],
            "helpful": False,
            "reason": "+1 for a price",
        }
        assert client.post("/feedback", json=word, headers=asking).status_code == 204
        yield Authored(client, keys)


# Who is let in


@pytest.mark.parametrize("path", ROUTES)
def test_only_a_key_of_scope_admin_opens_the_log(author: Authored, path: str) -> None:
    assert author.client.get(path).status_code == 401
    wrong = {"Authorization": "Bearer btb_wrong"}
    assert author.client.get(path, headers=wrong).status_code == 401
    refused = author.get(path, "ask")
    assert refused.status_code == 403
    assert refused.json() == {"error": "forbidden", "message": "This needs a key of scope admin."}
    assert author.get(path).status_code == (404 if "passages" in path else 200)


@pytest.mark.parametrize("path", ROUTES)
def test_a_key_in_the_address_opens_nothing(author: Authored, path: str) -> None:
    for name in ("key", "api_key", "token", "access_token"):
        reply = author.client.get(path, params={name: author.keys["admin"]})
        assert reply.status_code == 401


@pytest.mark.parametrize("path", [path for path in ROUTES if "ingests" not in path])
def test_what_the_records_hold_is_503_while_they_are_away(path: str) -> None:
    assert call(fake_service(), "GET", path).status_code == 503


def test_requests_are_counted_as_all_others() -> None:
    keys = FakeKeys()
    key = keys.add("admin")
    service = fake_service(keys=keys, limits=RequestLimits(key=1))
    assert call(service, "GET", "/admin/ingests", key=key).status_code == 200
    assert call(service, "GET", "/admin/ingests", key=key).status_code == 429


def test_no_key_is_in_any_page_or_script(author: Authored) -> None:
    for path in FILES:
        reply = author.client.get(path, headers={"Authorization": f"Bearer {author.keys['admin']}"})
        assert reply.status_code == 200
        assert "btb_" not in reply.text
        assert not any(
            key in reply.text or key in str(reply.headers) for key in author.keys.values()
        )


def test_the_page_holds_no_data_and_runs_its_own_script_only(author: Authored) -> None:
    reply = author.client.get("/admin")
    policy = reply.headers["Content-Security-Policy"]
    assert policy.startswith(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'"
    )
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert SAMPLE not in reply.text
    assert ANSWERED not in reply.text
    assert not re.search(r"<script(?![^>]* src=)|\son\w+=|style=", reply.text)
    assert set(re.findall(r'(?:src|href)="(/[\w.]+)', reply.text)) == {"/admin.js", "/admin.css"}


def test_what_is_told_is_kept_by_no_cache(author: Authored) -> None:
    logged = author.get_json("/admin/questions", book=SAMPLE, status="success")["questions"][0]
    for path in (*ROUTES, "/metrics"):
        reply = author.get(path.replace(str(ID), logged["query_id"]))
        assert (reply.status_code, reply.headers.get("Cache-Control")) == (200, "no-store"), path


# What authors see


def test_the_week_counts_what_became_of_each_question(author: Authored) -> None:
    told = author.get_json("/admin/overview", book=SAMPLE, days=30)
    week = told["this_week"]
    assert told["zone"] == "UTC"
    assert week["questions"] == week["answered"] + week["refused"] + week["failed"] == 6
    assert week["refused"] == sum(week["refusals"].values())
    assert (week["helpful"], week["not_helpful"]) == (0, 1)
    assert told["last_week"]["questions"] == 1
    assert len(told["days"]) == 30
    assert sum(day["questions"] for day in told["days"]) == told["sums"]["questions"] == 7
    assert told["books"] == [{"book_id": SAMPLE, "title": told["books"][0]["title"]}]


def test_each_number_is_how_many_rows_stand_behind_it(author: Authored) -> None:
    told = author.get_json("/admin/overview")
    for week in (told["this_week"], told["last_week"]):
        days = {"since": week["since"], "until": week["until"]}
        assert author.get_json("/admin/questions", **days)["total"] == week["questions"]
        kinds = {"success": "answered", "refused": "refused", "error": "failed"}
        for status, name in kinds.items():
            assert author.get_json("/admin/questions", status=status, **days)["total"] == week[name]
        for kind, times in week["refusals"].items():
            found = author.get_json("/admin/questions", refusal_type=kind, **days)
            assert found["total"] == times
        for word, name in {"yes": "helpful", "no": "not_helpful"}.items():
            assert author.get_json("/admin/questions", helpful=word, **days)["total"] == week[name]
    for group in author.get_json("/admin/unanswered")["groups"]:
        assert (
            author.get_json("/admin/questions", like=group["query_id"])["total"] == group["times"]
        )
    for chapter in author.get_json("/admin/cited")["chapters"]:
        found = author.get_json("/admin/questions", chapter=chapter["chapter"])
        assert found["total"] == chapter["answers"]
    for part in author.get_json("/admin/scores")["bins"]:
        within = {"score_from": part["score_from"], "mode": "standard_rag"}
        within |= {} if part["score_to"] == 1 else {"score_to": part["score_to"]}
        assert (
            author.get_json("/admin/questions", **within)["total"]
            == part["answered"] + part["refused"]
        )
    for day in author.get_json("/admin/latency")["days"]:
        found = author.get_json("/admin/questions", since=day["day"], until=day["day"])
        assert found["total"] == day["questions"]


def test_unanswered_questions_are_grouped_with_the_nearest_section(author: Authored) -> None:
    told = author.get_json("/admin/unanswered")
    first = told["groups"][0]
    assert (first["question"], first["times"]) == (FOREIGN, 3)
    assert first["wordings"] == [FOREIGN, SAME]
    assert first["nearest"]["url"].startswith("http")
    assert SELECTED not in {one["question"] for one in told["groups"]}  # no gap of the book
    assert told["questions"] == sum(group["times"] for group in told["groups"])
    assert told["group_count"] == len(told["groups"])
    assert len(author.get_json("/admin/unanswered", most=1)["groups"]) == 1


def test_a_question_is_looked_up_again_and_not_logged(author: Authored) -> None:
    before = author.get_json("/admin/questions")["total"]
    group = author.get_json("/admin/unanswered")["groups"][0]
    told = author.get_json(f"/admin/questions/{group['query_id']}/passages")
    assert told["question"]["question"] == FOREIGN
    assert told["answered"] is False
    assert told["passages"]
    scores = [one["score"] for one in told["passages"]]
    assert scores == sorted(scores, reverse=True)
    assert author.client.get(told["passages"][0]["url"].partition("#")[0]).status_code == 200
    answered = author.get_json("/admin/questions", status="success", book=SAMPLE)["questions"][0]
    again = author.get_json(f"/admin/questions/{answered['query_id']}/passages")
    assert (again["answered"], again["refusal_type"]) == (True, None)
    time.sleep(0.3)  # were it logged, it would be by now
    assert author.get_json("/admin/questions")["total"] == before


def test_a_question_of_a_book_that_is_gone_says_so(author: Authored) -> None:
    (gone,) = author.get_json("/admin/questions", book="tales")["questions"]
    reply = author.get(f"/admin/questions/{gone['query_id']}/passages")
    assert reply.status_code == 404
    assert "no longer exists" in reply.json()["message"]


def test_books_tell_how_much_of_them_is_in_the_index(author: Authored) -> None:
    (book,) = author.get_json("/admin/ingests")["books"]
    assert book["book_id"] == SAMPLE
    assert book["coverage"] > 0.99
    assert book["documents"] > 20
    assert book["added"] == book["chunks"]


def test_neither_selections_nor_who_asked_nor_answers_are_told(author: Authored) -> None:
    answer = author.client.post(
        "/api/query",
        json={"query": ANSWERED, "book": SAMPLE},
        headers={"Authorization": f"Bearer {author.keys['ask']}"},
    ).json()["answer"]["sentences"][0]
    for path in (
        *(path for path in ROUTES if "passages" not in path),
        *(f"/admin/export/{one}" for one in TABLES),
    ):
        text = author.get(path).text
        assert "Reykjavik" not in text
        assert "127.0.0.1" not in re.sub(r"https?://127\.0\.0\.1:\d+/read/", "", text)
        assert answer not in text
        assert "session_id" not in text


def test_a_key_for_one_book_shows_that_book_only(author: Authored) -> None:
    def get_json(path: str, **params: Any) -> Any:
        return author.get(path, "of another book", **params).json()

    assert get_json("/admin/overview")["sums"]["questions"] == 1
    assert get_json("/admin/overview")["books"] == []
    assert get_json("/admin/overview", book=SAMPLE)["sums"]["questions"] == 0
    assert [one["question"] for one in get_json("/admin/questions")["questions"]] == [
        "What did the other book say?"
    ]
    assert get_json("/admin/unanswered")["groups"] == []
    assert get_json("/admin/ingests")["books"] == []
    other = author.get_json("/admin/unanswered")["groups"][0]["query_id"]
    assert author.get(f"/admin/questions/{other}/passages", "of another book").status_code == 404
    assert get_json("/admin/questions", like=other)["total"] == 0


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/admin/overview", {"days": 0}),
        ("/admin/overview", {"days": 91}),
        ("/admin/overview", {"since": "2026-02-29"}),
        ("/admin/overview", {"since": "yesterday"}),
        ("/admin/overview", {"since": "2026-04-31"}),
        ("/admin/overview", {"book": " "}),
        ("/admin/overview", {"book": "a\0b"}),
        ("/admin/overview", {"bok": SAMPLE}),
        ("/admin/questions", {"status": "fine"}),
        ("/admin/questions", {"score_from": "nan"}),
        ("/admin/questions", {"most": 201}),
        ("/admin/questions", {"like": "x"}),
        ("/admin/questions", {"chapter": "a\0b"}),
        ("/admin/export/keys", {}),
        ("/admin/questions/x/passages", {}),
    ],
)
def test_what_is_not_valid_is_422(author: Authored, path: str, params: dict[str, Any]) -> None:
    reply = author.get(path, **params)
    assert reply.status_code == 422
    assert reply.json()["error"] == "validation_failed"


@pytest.mark.parametrize("day", ["2024-02-29", "2026-12-31", "2000-01-01", "2099-04-30"])
def test_every_day_that_there_is_can_be_asked_for(author: Authored, day: str) -> None:
    told = author.get_json("/admin/overview", since=day, until=day)
    assert told["period"] == {"since": day, "until": day}
    assert [one["day"] for one in told["days"]] == [day]


# Tables


@pytest.mark.parametrize("name", TABLES)
def test_every_table_can_be_exported(author: Authored, name: str) -> None:
    reply = author.get(f"/admin/export/{name}")
    assert reply.headers["Content-Type"] == "text/csv; charset=utf-8"
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    assert (
        reply.headers["Content-Disposition"]
        == f'attachment; filename="bythebook-{name}-{today}.csv"'
    )
    rows = list(csv.reader(io.StringIO(reply.text, newline=""), strict=True))
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    assert reply.text.endswith("\r\n")


@pytest.fixture(scope="module")
def unasked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a service that nobody has asked yet, with no book in it."""
    core = Core(Settings(data_dir=tmp_path_factory.mktemp("unasked"), port=free_port(), limit_ip=0))
    with serve_core(core) as server, httpx.Client(base_url=server.url, timeout=120) as client:
        yield client


@pytest.mark.parametrize("name", TABLES)
def test_a_table_without_rows_is_exported_as_its_headings(unasked: httpx.Client, name: str) -> None:
    reply = unasked.get(f"/admin/export/{name}")
    assert reply.status_code == 200, reply.text
    headings, *rows = csv.reader(io.StringIO(reply.text, newline=""), strict=True)
    assert len(headings) > 1
    assert all(len(row) == len(headings) for row in rows)
    counts = [cell for row in rows for cell in row[2:]]  # days and score bins are listed empty
    assert set(counts) <= {"0", ""}


def test_the_exported_questions_are_those_that_are_listed(author: Authored) -> None:
    for chosen in ({}, {"status": "refused"}, {"helpful": "no"}, {"book": SAMPLE, "days": 7}):
        listed = author.get_json("/admin/questions", most=200, **chosen)["questions"]
        exported = author.table("questions", **chosen)
        assert [row["took_ms"] for row in exported] == [str(one["took_ms"]) for one in listed]


def test_no_cell_of_an_export_is_a_formula(author: Authored) -> None:
    for name in TABLES:
        for row in author.table(name):
            for cell in row.values():
                assert not cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r"))
    asked = {row["question"] for row in author.table("questions")}
    assert f"'{FORMULA}" in asked
    assert SCRIPT in asked  # to a spreadsheet this is text
    (word,) = author.table("questions", helpful="no")
    assert word["reason"] == "'+1 for a price"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", '"\'\r=1"'),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ('say "hi", now', '"say ""hi"", now"'),
        ("two\r\nlines", '"two\r\nlines"'),
        ("a\0b", "ab"),
        ("plain", "plain"),
        (-3, "-3"),
        (0.5, "0.5"),
        (None, '""'),
    ],
)
def test_cells_are_written_as_rfc_4180_has_them_and_harmless(
    cell: str | float | None, written: str
) -> None:
    assert csv_lines([(cell,)]) == f"{written}\r\n"
