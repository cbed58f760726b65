"""The author's page in Chromium: the key, the first screen, numbers and the rows behind them."""

import asyncio
import csv
import io
import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.browser import WIDTHS, Watched, axe_violations, screenshot, watch
from tests.conftest import SAMPLE, free_port, serve_core

from bythebook.adapters.sql.feedback import SqlFeedbackStore
from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.adapters.sql.questions.query_log import SqlQueryLog
from bythebook.bootstrap import Core
from bythebook.domain.answers import NearestSection
from bythebook.domain.records import OPEN, CitedSection, Feedback, KeyScope, KeyTerms, QueryEntry
from bythebook.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

ASKED = "How much does a Unitree G1 cost?"
PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<svg onload=alert(3)><a href='javascript:alert(4)'>x</a></svg>",
    '"><iframe srcdoc="<script>alert(5)</script>">',
    "![x](http://elsewhere.example/x.png) [y](javascript:alert(6))",
    "\u202egnp.exe {{7*7}} ${alert(8)}",
    '=HYPERLINK("http://elsewhere.example")',
)
HEIGHTS = {375: 812, 768: 1024, 1440: 900}


@dataclass(frozen=True)
class Authored:
    """A service with a log, and its keys."""

    url: str
    admin: str
    ask: str
    empty_url: str  # of an open service without a question


def entries() -> Iterator[QueryEntry]:
    """Questions of three weeks: answered, refused in several wordings, failed, and hostile ones."""
    now = datetime.now(UTC)
    near = NearestSection(
        SAMPLE, "intro", "Hardware", "Prices", "https://book.example/hardware#prices"
    )
    hostile = NearestSection(SAMPLE, "x", PAYLOADS[1], PAYLOADS[0], "javascript:alert(9)")
    usual: dict[str, Any] = {"contract": "query", "mode": "standard_rag", "book_id": SAMPLE}

    def entry(text: str, days: float, **given: Any) -> QueryEntry:
        at = now - timedelta(days=days)
        return QueryEntry(uuid.uuid4(), query_text=text, created_at=at, **usual | given)

    refused = {
        "status": "refused",
        "refusal_type": "insufficient_grounding",
        "top_chunk_score": 0.62,
    }
    for number in range(60):
        section = CitedSection(SAMPLE, f"Chapter {number % 4}", f"Section {number % 7}")
        yield entry(
            f"What is part {number}?", number / 3, status="success", top_chunk_score=0.9,
            processing_time_ms=80 + number, cited_sections=(section,),
        )  # fmt: skip
    for number, text in enumerate((ASKED, ASKED, "what does the Unitree G1 cost", ASKED)):
        yield entry(text, number, processing_time_ms=90, nearest_section=near, **refused)
    for number, text in enumerate(PAYLOADS):
        yield entry(text, number + 0.1, processing_time_ms=30, nearest_section=hostile, **refused)
    low = refused | {"refusal_type": "low_relevance", "top_chunk_score": 0.2}
    for number in range(9):
        yield entry(f"Is planet {number}{number} round?", number, processing_time_ms=20, **low)
    yield entry("Does it fail?", 1, status="error", processing_time_ms=3000)


async def fill_records(core: Core) -> tuple[str, str]:
    async with core.database() as database:
        kept = list(entries())
        await SqlQueryLog(database).log(*kept)
        words = SqlFeedbackStore(database)
        now = datetime.now(UTC)
        await words.give(OPEN, Feedback(kept[0].request_id, True, now, PAYLOADS[0]))
        await words.give(OPEN, Feedback(kept[61].request_id, False, now, PAYLOADS[1]))
        store = SqlKeyStore(database)
        scopes: tuple[KeyScope, KeyScope] = ("admin", "ask")
        admin, ask = [(await store.create(KeyTerms(scope), now)).secret for scope in scopes]
        return admin, ask


@pytest.fixture(scope="module", autouse=True)
def authored(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authored]:
    folder = tmp_path_factory.mktemp("authored") / "library"
    shutil.copytree(sample_core.settings.data_dir / "books", folder / "books")
    core = Core(Settings(data_dir=folder, port=free_port(), limit_key=0, limit_ip=0))
    admin, ask = asyncio.run(fill_records(core))
    empty = tmp_path_factory.mktemp("unasked") / "library"
    shutil.copytree(sample_core.settings.data_dir / "books", empty / "books")
    unasked = Core(Settings(data_dir=empty, port=free_port(), limit_ip=0))
    with serve_core(core) as server, serve_core(unasked) as other:
        yield Authored(server.url, admin, ask, other.url)


@pytest.fixture
def seen(page: "Page", authored: Authored) -> Watched:
    return watch(page, authored.url, authored.empty_url)


def open_with(page: "Page", authored: Authored, key: str, place: str = "") -> None:
    page.goto(f"{authored.url}/admin{place}")
    page.fill("#key", key)
    page.click("text=Open")


def wait_for_overview(page: "Page") -> None:
    page.wait_for_selector("#unanswered .gaps")
    page.wait_for_selector("#days svg")
    page.wait_for_selector("#ingests .books")


@pytest.fixture
def opened(page: "Page", authored: Authored, seen: Watched) -> "Page":
    """The page, opened with the right key."""
    open_with(page, authored, authored.admin)
    wait_for_overview(page)
    return page


# The key


def test_without_a_key_the_page_asks_for_one_and_says_how_to_make_it(
    page: "Page", authored: Authored, seen: Watched
) -> None:
    page.goto(f"{authored.url}/admin")
    page.wait_for_selector("#key")
    assert "bythebook keys create --scope admin" in page.inner_text("#admin")
    assert page.evaluate("document.activeElement.id") == "key"
    assert page.locator("[role=alert]").count() == 0
    screenshot(page, "admin-key")
    assert axe_violations(page) == []
    seen.clean()


@pytest.mark.parametrize("wrong", ["btb_no-such-key", "ask"])
def test_a_key_that_does_not_open_is_told_so_and_not_kept(
    page: "Page", authored: Authored, seen: Watched, wrong: str
) -> None:
    open_with(page, authored, authored.ask if wrong == "ask" else wrong)
    said = page.wait_for_selector("[role=alert]")
    assert said is not None
    expected = (
        "This needs a key of scope admin" if wrong == "ask" else "unknown, revoked or expired"
    )
    assert expected in said.inner_text()
    assert (
        page.evaluate("Object.keys(sessionStorage).length + Object.keys(localStorage).length") == 0
    )
    screenshot(page, f"admin-key-{wrong}")
    assert axe_violations(page) == []
    seen.clean()


def test_the_key_stays_in_its_tab_and_goes_into_no_address(
    opened: "Page", authored: Authored, seen: Watched
) -> None:
    opened.reload()
    wait_for_overview(opened)
    assert all(authored.admin not in url for url in seen.requests)
    assert authored.admin not in opened.content()
    assert opened.evaluate("document.cookie + JSON.stringify(localStorage)") == "{}"
    other = opened.context.new_page()
    other.goto(f"{authored.url}/admin")
    other.wait_for_selector("#key")
    opened.click("text=Forget the key")
    opened.wait_for_selector("#key")
    assert opened.evaluate("sessionStorage.length") == 0
    seen.clean()


def test_an_open_service_needs_no_key_and_an_empty_log_says_what_to_do(
    page: "Page", authored: Authored, seen: Watched
) -> None:
    page.goto(f"{authored.empty_url}/admin")
    page.wait_for_selector("#days .empty")
    page.wait_for_selector("#unanswered .empty")
    page.wait_for_selector("#ingests .books")
    shown = page.inner_text("main")
    assert "Nobody asked anything" in shown
    assert "Put the widget into your pages" in shown
    assert "No question went unanswered" in shown
    screenshot(page, "admin-empty")
    assert axe_violations(page) == []
    seen.clean()


# The first screen, and how it looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_screen_holds_what_matters_and_every_view_is_sound(
    browser: "Browser", authored: Authored, width: int, scheme: Any
) -> None:
    height = HEIGHTS[width]
    size: Any = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme, locale="en-GB")
    page = context.new_page()
    seen = watch(page, authored.url)
    open_with(page, authored, authored.admin)
    wait_for_overview(page)
    for part in ("#weeks .sums", "#days svg", "#unanswered h2", "#unanswered .gaps li"):
        box = page.locator(part).first.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height, part
    for view, mark in {
        "overview": "#latency svg",
        "tables": "#days table",
        "rows": ".rows",
        "passages": ".passages",
    }.items():
        go_to(page, authored, view)
        page.wait_for_selector(mark)
        screenshot(page, f"admin-{view}-{width}-{scheme}")
        assert axe_violations(page) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        assert page.locator("[style]").count() == 0
    seen.clean()
    context.close()


def go_to(page: "Page", authored: Authored, view: str) -> None:
    if view == "tables":
        for button in page.locator("[aria-pressed]").all():
            button.click()
    elif view == "rows":
        page.goto(f"{authored.url}/admin#/questions?status=refused")
    elif view == "passages":
        page.locator(".rows .asked", has_text="Unitree").first.click()


# Numbers, and the rows behind them


def rows_told(page: "Page") -> int:
    page.wait_for_selector("#questions [role=status]")
    said = page.inner_text("#questions [role=status]")
    match = re.search(r"of ([\d,]+) question", said)
    return int(match.group(1).replace(",", "")) if match else 0


def test_every_number_of_the_week_leads_to_as_many_rows_and_back(
    opened: "Page", seen: Watched
) -> None:
    number = int(opened.inner_text("#weeks .sum:first-child .big"))
    opened.click("#weeks .sum:first-child .big a")
    assert rows_told(opened) == number
    assert "since=" in opened.url
    assert opened.evaluate("document.activeElement.id") == "main"
    opened.go_back()
    wait_for_overview(opened)
    links = opened.locator("#days .keys a").all()
    assert len(links) >= 4
    for place in range(len(links)):
        link = opened.locator("#days .keys a").nth(place)
        counted = re.search(r"(\d+) questions?$", link.get_attribute("aria-label") or "")
        assert counted
        link.click()
        assert rows_told(opened) == int(counted.group(1))
        opened.go_back()
        wait_for_overview(opened)
    seen.clean()


def answer_with(page: "Page", path: str, change: Callable[[Any], None]) -> None:
    """Have what the service tells changed before the page sees it."""

    def handle(route: "Route") -> None:
        reply = route.fetch()
        told = reply.json()
        if reply.ok:  # which it is not before the key is given
            change(told)
        route.fulfill(response=reply, json=told)

    page.route(re.compile(rf"/admin/{path}(\?|$)"), handle)


@pytest.mark.parametrize(
    ("answered", "refused", "failed", "shown"),
    [(127, 73, 0, (64, 36)), (1, 1, 1, (34, 33)), (1, 2, 0, (33, 67)), (999, 1, 0, (100, 0))],
)
def test_shares_add_up_to_the_whole(
    page: "Page",
    authored: Authored,
    answered: int,
    refused: int,
    failed: int,
    shown: tuple[int, int],
) -> None:
    kinds = {"low_relevance": refused}

    def change(told: Any) -> None:
        sums = {"questions": answered + refused + failed, "answered": answered, "failed": failed}
        sums["refused"] = refused
        for part in (told["this_week"], told["sums"]):
            part |= sums
            part["refusals"] = dict.fromkeys(part["refusals"], 0) | kinds

    answer_with(page, "overview", change)
    open_with(page, authored, authored.admin)
    wait_for_overview(page)
    tiles = page.locator("#weeks .sum .big").all_inner_texts()[1:3]
    assert tiles == [f"{share}%" for share in shown]
    parts = page.locator("#days .keys a").all_inner_texts()
    assert sum(int(part.rstrip("%")) for part in parts) == 100


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_of_an_axis_is_cut(page: "Page", authored: Authored, width: int) -> None:
    def slow(told: Any) -> None:
        for one in told["days"]:
            one |= {"p50": 444, "p90": 666, "p99": 888}

    def many(told: Any) -> None:
        told["days"][0] |= {"answered": 987_654}

    answer_with(page, "latency", slow)
    answer_with(page, "overview", many)
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    open_with(page, authored, authored.admin)
    wait_for_overview(page)
    page.wait_for_selector("#latency svg")
    labels = page.locator("#latency .tick.end").all_text_contents()
    assert labels == ["0 ms", "500 ms", "1.0 s"]
    cut = page.evaluate(
        """() => [...document.querySelectorAll("svg .tick.end")].filter(
          (tick) => tick.getBoundingClientRect().left < tick.ownerSVGElement.getBoundingClientRect().left
        ).map((tick) => tick.textContent)"""
    )
    assert cut == []


def test_a_shared_address_shows_the_same_rows(
    opened: "Page", authored: Authored, seen: Watched
) -> None:
    opened.click("#unanswered .gaps .count >> nth=0")
    assert rows_told(opened) == 4
    address = opened.url
    other = opened.context.new_page()
    other.goto(address)
    other.fill("#key", authored.admin)
    other.click("text=Open")
    assert rows_told(other) == 4
    assert other.locator(".rows tbody tr").count() == 4
    other.click("[aria-label='Take away: one group of unanswered questions']")
    other.locator(".rows tbody tr").nth(49).wait_for()
    other.click("text=Older →")
    other.locator("[role=status]", has_text="51–").wait_for()
    seen.clean()


def test_one_click_shows_the_passages_of_an_unanswered_question(
    opened: "Page", seen: Watched
) -> None:
    first = opened.locator("#unanswered .gaps .asked").first
    assert first.inner_text() == ASKED
    first.click()
    opened.wait_for_selector(".passages li")
    assert opened.inner_text("blockquote") == ASKED
    link = opened.locator(".passages a").first.get_attribute("href")
    assert link
    assert "/read/" in link
    assert opened.evaluate("document.title") == "A question · What readers ask"
    seen.clean()


def test_tables_hold_what_the_plots_show(opened: "Page", seen: Watched) -> None:
    for part in ("days", "unanswered", "cited", "scores", "latency", "ingests"):
        button = opened.locator(f"#{part} [aria-pressed]")
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        assert opened.locator(f"#{part} table tbody tr").count() > 0
        button.click()
        assert opened.locator(f"#{part} table").count() == 0
    opened.locator("#days [aria-pressed]").click()
    cells = opened.locator("#days tbody tr td:nth-child(2)").all_inner_texts()
    assert sum(map(int, cells)) == 60 + 4 + len(PAYLOADS) + 9 + 1
    seen.clean()


def test_a_table_is_downloaded_with_the_key_in_a_header(
    opened: "Page", authored: Authored, seen: Watched, tmp_path: Path
) -> None:
    with opened.expect_download() as started:
        opened.click("#unanswered >> text=CSV")
    assert started.value.suggested_filename.startswith("bythebook-unanswered-")
    target = tmp_path / "table.csv"
    started.value.save_as(target)
    rows = list(csv.DictReader(io.StringIO(target.read_text("utf-8"), newline="")))
    assert (rows[0]["question"], rows[0]["times"]) == (ASKED, "4")
    assert any(row["question"].startswith("'=HYPERLINK") for row in rows)
    assert all(authored.admin not in url for url in seen.requests)
    seen.clean()


def test_a_plot_is_one_stop_of_the_keyboard_and_its_bars_are_reached_by_arrows(
    opened: "Page", seen: Watched
) -> None:
    assert opened.locator("#days svg a[tabindex='0']").count() == 1
    opened.locator("#days svg a[tabindex='0']").focus()
    last = opened.evaluate("document.activeElement.getAttribute('aria-label')")
    opened.keyboard.press("ArrowLeft")
    before = opened.evaluate("document.activeElement.getAttribute('aria-label')")
    assert before != last
    opened.keyboard.press("Enter")
    told = re.search(r": (\d+) question", before)
    assert told
    assert rows_told(opened) == int(told.group(1))
    seen.clean()


# What goes wrong


def test_what_readers_wrote_is_shown_and_never_run(
    opened: "Page", authored: Authored, seen: Watched
) -> None:
    opened.locator("#unanswered [aria-pressed]").click()
    listed = opened.locator("#unanswered tbody th").all_inner_texts()
    assert {payload for payload in PAYLOADS if "\u202e" not in payload} <= set(listed)
    opened.goto(
        f"{authored.url}/admin#/questions?status=refused&chapter=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    )
    opened.wait_for_selector("#questions .empty")
    assert "quotes <img src=x onerror=alert(1)>" in opened.inner_text(".chips")
    opened.goto(f"{authored.url}/admin#/questions?helpful=no")
    opened.wait_for_selector(".rows")
    assert f"did not help: {PAYLOADS[1]}" in opened.inner_text(".rows")
    opened.goto(f"{authored.url}/admin#/questions?status=refused")
    opened.locator(".rows tbody tr").nth(4).wait_for()
    links = opened.eval_on_selector_all("a", "all => all.map(one => one.getAttribute('href'))")
    assert all(link.startswith(("#/", "/", "https://", "http://127.0.0.1")) for link in links)
    assert opened.locator("main img, main iframe, main script").count() == 0
    opened.goto(f"{authored.url}/admin#/question/%3Cimg%20src=x%20onerror=alert(1)%3E")
    opened.wait_for_selector("#passages .problem")
    opened.wait_for_timeout(300)
    seen.clean()


def test_a_failing_part_says_what_to_do_and_the_others_stay(
    opened: "Page", authored: Authored, seen: Watched
) -> None:
    failing = {
        "status": 503,
        "json": {"error": "database_unavailable", "message": "The records cannot be reached."},
    }
    opened.route("**/admin/cited**", lambda route: route.fulfill(**failing))
    opened.route("**/admin/scores**", lambda route: route.abort())
    opened.click("text=90 days")
    said = opened.wait_for_selector("#cited .problem")
    assert said is not None
    assert "The records cannot be reached. Look at /health" in said.inner_text()
    assert "The service could not be reached." in opened.inner_text("#scores")
    opened.wait_for_selector("#unanswered .gaps")
    screenshot(opened, "admin-failing")
    assert axe_violations(opened) == []
    opened.unroute("**/admin/cited**")
    opened.click("#cited .problem button")
    opened.wait_for_selector("#cited .chapters")
    seen.dialogs.clear()
    assert seen.foreign == []


def test_a_key_that_is_revoked_meanwhile_leads_to_the_form(opened: "Page", seen: Watched) -> None:
    gone = {
        "status": 401,
        "json": {"error": "unauthorized", "message": "The key is unknown, revoked or expired."},
    }
    opened.route("**/admin/**", lambda route: route.fulfill(**gone))
    opened.click("text=7 days")
    opened.wait_for_selector("#key")
    assert "revoked" in opened.inner_text("[role=alert]")
    assert seen.errors == []
