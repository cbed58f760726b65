"""The reader page in real Chromium: quotes marked and seen, pages turned in place, search, contents."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from evals.marks import QUESTIONS, ask, begin, follow, measure
from tests.browser.browser import WIDTHS, Watched, axe_violations, screenshot
from tests.conftest import SAMPLE

from bythebook.bootstrap import Core
from bythebook.evaluate.sets import load_questions

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TOPICS = f"/read/{SAMPLE}/ros2-fundamentals/nodes-and-topics"
LAST = f"/read/{SAMPLE}/glossary"
ASKED = "How do ROS 2 nodes communicate?"
DOZEN = [one for one in load_questions(QUESTIONS) if one.kind == "answered"][3::15]
PAGES = {
    "front": "/",
    "title": f"/read/{SAMPLE}",
    "text": TOPICS,
    "results": f"/read/{SAMPLE}?q={quote(ASKED)}",
    "reply": f"/?q={quote(ASKED)}",
    "missing": f"/read/{SAMPLE}/nothing",
    "contracts": "/docs",
}
STAYS = "() => { window.stays = true; }"
STAYED = "() => window.stays === true"


@pytest.fixture(autouse=True)
def _patience(page: "Page") -> None:
    """Wait longer than elsewhere: a question takes as long as the machine is busy."""
    page.set_default_timeout(120_000)


@pytest.fixture
def plain(browser: "Browser") -> Iterator["Page"]:
    """A page of a browser that runs no scripts."""
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1440, "height": 900}
    )
    yield context.new_page()
    context.close()


# Citations


def test_clicking_any_citation_of_an_answer_shows_exactly_its_quote(
    page: "Page", service: str, watched: Watched
) -> None:
    tally = measure(page, service, DOZEN)
    assert tally.wrong == []
    assert tally.answered >= 9
    watched.clean()


def test_a_wrong_mark_would_be_noticed(page: "Page", service: str) -> None:
    begin(page, service, 1)
    link = ask(page, ASKED).first
    page.route(
        "**/read/**mark=**",
        lambda route: route.fulfill(
            body=route.fetch().text().replace('<mark id="quote">', '<mark id="quote">More of '),
            content_type="text/html",
        ),
    )
    assert "marked" in follow(page, service, link)


def test_a_citation_turns_the_page_in_place_and_the_conversation_stays(
    page: "Page", service: str, watched: Watched
) -> None:
    page.goto(service + LAST)
    page.evaluate(STAYS)
    assert follow(page, service, ask(page, ASKED).first) == ""
    assert page.evaluate(STAYED)
    assert TOPICS in page.url
    assert page.title().startswith("Nodes and Topics")
    assert (
        page.locator("nav[aria-label=Contents] [aria-current]").inner_text() == "Nodes and Topics"
    )
    assert page.locator("bythebook-ask .turn").count() == 1
    assert page.evaluate("document.activeElement.id") == "quote"
    page.go_back()
    page.wait_for_function("() => document.title.startsWith('Glossary')")
    assert page.evaluate(STAYED)
    assert page.locator("mark").count() == 0
    page.go_forward()
    page.locator("mark#quote").wait_for()
    watched.clean()


def test_quotes_of_the_page_being_read_are_marked_one_after_the_other(
    page: "Page", service: str
) -> None:
    page.goto(service + TOPICS)
    page.evaluate(STAYS)
    marks = []
    for question in (ASKED, "What are topics?", ASKED):
        assert follow(page, service, ask(page, question).first) == ""
        assert TOPICS in page.url
        marks.append(page.locator("mark#quote").inner_text())
    assert marks[0] == marks[2] != marks[1]
    assert page.evaluate(STAYED)


def test_without_scripts_a_link_to_a_quote_shows_it(
    plain: "Page", service: str, sample_core: Core
) -> None:
    search = f"{service}/read/{SAMPLE}?q={quote('inspecting a running graph')}"
    plain.goto(search)
    plain.locator(".results a").first.click()
    mark = plain.locator("mark#quote")
    mark.wait_for()
    box = mark.bounding_box()
    assert box is not None
    assert 0 < box["y"] < 800
    assert plain.locator("form.ask").is_visible()


def test_a_quote_that_has_changed_is_said_gently(page: "Page", service: str) -> None:
    page.goto(f"{service}{TOPICS}?mark=5-20-00000000#quote")
    assert page.get_by_role("note").inner_text().startswith("The quoted passage has changed")
    assert page.locator("mark").count() == 0


# Reading


def test_the_next_page_is_turned_in_place_and_begins_at_its_top(
    page: "Page", service: str, watched: Watched
) -> None:
    page.goto(service + TOPICS)
    page.evaluate(STAYS)
    page.locator("a[rel=next]").click()
    page.wait_for_function("() => document.title.startsWith('Services, Actions')")
    assert page.evaluate(STAYED)
    assert page.evaluate("scrollY") == 0
    assert page.locator("h1").inner_text() == "Services, Actions and Parameters"
    watched.clean()


def test_a_page_that_cannot_be_loaded_in_place_is_gone_to(page: "Page", service: str) -> None:
    page.goto(service + TOPICS)
    page.route("**/services-and-actions", lambda route: route.abort(), times=1)
    page.locator("a[rel=next]").click()
    page.wait_for_function("() => document.title.startsWith('Services, Actions')")


def test_the_contents_follow_the_reader(page: "Page", service: str) -> None:
    page.goto(service + TOPICS)
    page.get_by_role("link", name="Quality of Service", exact=True).click()
    page.wait_for_function(
        "() => document.querySelector('.sections .seen')?.textContent === 'Quality of Service'"
    )
    box = page.locator("#quality-of-service").bounding_box()
    assert box is not None
    assert 40 < box["y"] < 200  # below the bar


@pytest.mark.parametrize("width", WIDTHS)
def test_a_line_holds_as_many_characters_as_an_eye_likes(
    page: "Page", service: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(service + TOPICS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    measured = page.evaluate(
        """() => [...document.querySelectorAll('article > p')].filter((p) => p.textContent.length > 300).map((p) => {
          const range = document.createRange();
          range.selectNodeContents(p);
          const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
          return p.textContent.length / lines.size;
        })"""
    )
    assert len(measured) > 3
    fullest = max(measured)  # the others end in shorter lines
    assert (60 <= fullest <= 72) if width > 600 else (30 <= fullest <= 72)


@pytest.mark.parametrize(
    ("width", "shown"), [(375, False), (768, False), (1000, False), (1440, True)]
)
def test_the_contents_are_folded_where_room_is_short(
    page: "Page", plain: "Page", service: str, width: int, shown: bool
) -> None:
    for one in (page, plain):
        one.set_viewport_size({"width": width, "height": 800})
        one.goto(service + TOPICS)
        contents = one.get_by_role("navigation", name="Contents")
        assert contents.is_visible() is shown
        if not shown:
            one.locator(".contents-fold > summary").click()
            assert contents.is_visible()


def test_text_of_another_direction_is_set_in_it(page: "Page", service: str) -> None:
    page.route(
        f"**{TOPICS}",
        lambda route: route.fulfill(
            body=route.fetch().text().replace("A node is a participant", "שלום עולם"),
            headers={"Content-Type": "text/html"},
        ),
    )
    page.goto(service + TOPICS)
    turned = page.locator("article p", has_text="שלום עולם")
    assert turned.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    assert page.locator("h1").evaluate("(one) => getComputedStyle(one).direction") == "ltr"


# Search in this book


def test_sections_are_found_while_typing_and_opened_at_their_sentence(
    page: "Page", service: str, watched: Watched
) -> None:
    page.goto(service + LAST)
    page.evaluate(STAYS)
    box = page.get_by_role("searchbox", name="Search in this book")
    box.press_sequentially("how do nodes communicate", delay=5)
    first = page.locator(".found a").first
    first.wait_for()
    assert page.get_by_role("status").filter(has_text=re.compile(r"\d sections")).count() == 1
    box.press("ArrowDown")
    assert first.evaluate("(one) => one === document.activeElement")
    line = str(first.locator("span").text_content())
    page.keyboard.press("Enter")
    page.locator("mark#quote").wait_for()
    assert page.evaluate(STAYED)
    marks = "".join(page.locator("mark").all_text_contents())
    assert line.startswith(marks[:100])
    assert page.locator(".found").is_hidden()
    watched.clean()


def test_the_found_list_closes_by_escape_and_by_leaving(page: "Page", service: str) -> None:
    page.goto(service + TOPICS)
    box = page.get_by_role("searchbox", name="Search in this book")
    for leave in ("Escape", "Shift+Tab"):
        box.fill("")
        box.press_sequentially("walking")
        page.locator(".found a").first.wait_for()
        box.press(leave)
        page.locator(".found").wait_for(state="hidden")


def test_a_search_that_is_refused_says_why(page: "Page", service: str) -> None:
    page.goto(service + TOPICS)
    page.route("**/search?*", lambda route: route.fulfill(status=429, json={"detail": "Wait."}))
    page.get_by_role("searchbox", name="Search in this book").press_sequentially("walking")
    page.locator(".found p", has_text="Wait.").wait_for()


def test_without_scripts_the_box_leads_to_a_page_of_results(plain: "Page", service: str) -> None:
    plain.goto(service + TOPICS)
    plain.get_by_role("searchbox", name="Search in this book").fill("walking")
    plain.get_by_role("button", name="Search").click()
    assert plain.locator(".results li").count() == 10


def test_without_scripts_the_form_in_the_widgets_place_answers(plain: "Page", service: str) -> None:
    plain.goto(service + TOPICS)
    plain.get_by_label("Your question").fill(ASKED)
    plain.get_by_role("button", name="Ask").click()
    assert plain.locator(".reply .excerpt .key").count() >= 1


# Looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_has_a_fault_that_axe_knows(
    page: "Page", service: str, name: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(service + PAGES[name])
        page.wait_for_load_state("networkidle")
        screenshot(page, f"reader-{name}-{width}-{scheme}")
        if width != 768:
            assert axe_violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_marked_page_and_a_found_list_have_no_fault_that_axe_knows(
    page: "Page", service: str, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    begin(page, service, 1)
    assert follow(page, service, ask(page, ASKED).first) == ""
    page.get_by_role("searchbox", name="Search in this book").press_sequentially("walking")
    page.locator(".found a").first.wait_for()
    screenshot(page, f"reader-marked-1440-{scheme}")
    assert axe_violations(page) == []


def test_nothing_moves_while_a_page_loads(page: "Page", service: str) -> None:
    page.goto(service + TOPICS)
    page.wait_for_load_state("networkidle")
    shift = page.evaluate(
        """() => new Promise((tell) => new PerformanceObserver((list) => tell(
          list.getEntries().reduce((sum, entry) => sum + entry.value, 0)
        )).observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => tell(0), 300))"""
    )
    assert shift < 0.05
