"""The widget in the page: failures, keys, focus, screen readers, languages, layout."""

import re
from typing import TYPE_CHECKING

import pytest
from tests.browser.browser import ROOT, Watched, axe_violations
from tests.browser.widget_pages import (
    ANSWERED,
    PARTIAL,
    REFUSED,
    ask,
    ask_and_wait,
    chat,
    focused_tag,
    host_page,
    list_announcements,
    open_host,
    open_widget,
    opening_kind,
    script,
)
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Page


# Failures


@pytest.mark.parametrize(
    ("status", "headers", "says"),
    [
        (401, {}, "does not accept this page's key"),
        (403, {}, "may not be used on this site"),
        (429, {"Retry-After": "17"}, "Try again in 17 s"),
        (500, {}, "went wrong at the service"),
        (502, {}, "cannot be searched"),
        (503, {"Retry-After": "5"}, "Try again in 5 s"),
        (404, {}, "no service at this page's address"),
    ],
)
def test_a_failure_says_what_to_do_and_keeps_the_question(
    page: "Page", service: str, status: int, headers: dict[str, str], says: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route(
        "**/chat/stream",
        lambda route: route.fulfill(status=status, headers=headers, body="<html>proxy</html>"),
    )
    turn = ask(page, ANSWERED)
    card = turn.locator(".card.failed")
    card.wait_for()
    assert card.locator(".kind").inner_text() == "Could not look it up"
    assert says in card.inner_text()
    assert "does not answer" not in turn.inner_text()
    page.unroute("**/chat/stream")
    card.get_by_role("button", name="Try again").click()
    again = page.locator("bythebook-ask .turn").nth(1)
    again.locator(".card.answer .confidence").wait_for()
    assert again.locator(".question").inner_text() == ANSWERED


@pytest.mark.parametrize(
    ("headers", "says"),
    [({}, "cannot be searched until it is repaired"), ({"Retry-After": "5"}, "Try again in 5 s")],
)
def test_readers_are_not_sent_to_try_again_where_that_does_not_help(
    page: "Page", service: str, headers: dict[str, str], says: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    told = {"error": "store_unavailable", "message": "The book 'physical-ai' is damaged."}
    page.route(
        "**/chat/stream", lambda route: route.fulfill(status=503, headers=headers, json=told)
    )
    card = ask(page, ANSWERED).locator(".card.failed")
    card.wait_for()
    assert says in card.inner_text()
    assert ("Try again in" in card.inner_text()) == bool(headers)


def test_offline_and_unreachable_are_told_apart(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: route.abort("connectionrefused"))
    turn = ask(page, ANSWERED)
    assert "cannot be reached" in turn.locator(".card.failed").inner_text()
    page.context.set_offline(True)
    turn = ask(page, ANSWERED)
    assert "You are offline" in turn.locator(".card.failed").inner_text()


def test_a_failure_within_the_stream_is_a_failure(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    sent = 'event: error\ndata: {"error": "store_unavailable", "message": "gone"}\n\n'
    page.route(
        "**/chat/stream", lambda route: route.fulfill(body=sent, content_type="text/event-stream")
    )
    turn = ask(page, ANSWERED)
    assert "cannot be searched" in turn.locator(".card.failed").inner_text()


def test_a_history_that_cannot_be_read_is_said_and_can_be_tried_again(
    page: "Page", service: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, ANSWERED)
    page.route("**/history", lambda route: route.fulfill(status=503, body="{}"))
    page.reload()
    notice = page.locator("bythebook-ask .notice")
    notice.wait_for()
    page.unroute("**/history")
    notice.get_by_role("button", name="Try again").click()
    page.locator("bythebook-ask .turn .numeral").first.wait_for()


def test_stopping_before_the_first_sentence_keeps_the_question_to_ask_again(
    page: "Page", service: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: None)
    turn = ask(page, ANSWERED)
    page.get_by_role("button", name="Stop").click()
    assert turn.locator(".card.stopped .kind").inner_text() == "Stopped."
    page.unroute("**/chat/stream")
    turn.get_by_role("button", name="Ask again").click()
    page.locator("bythebook-ask .turn").nth(1).locator(".card.answer").wait_for()


# Keys, focus, screen readers


@pytest.mark.parametrize("keys", ["/", "Control+k", "Meta+k"])
def test_a_shortcut_opens_and_escape_closes_and_focus_returns(
    page: "Page", service: str, keys: str
) -> None:
    open_host(
        page, service, script(book=SAMPLE), body='<h1>Page</h1><a id="here" href="#x">here</a>'
    )
    page.locator("#here").focus()
    page.keyboard.press(keys)
    page.get_by_role("dialog", name="Ask the book").wait_for()
    assert focused_tag(page) == "TEXTAREA"
    assert page.locator("bythebook-ask textarea").input_value() == ""
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0
    assert page.evaluate("document.activeElement.id") == "here"


@pytest.mark.parametrize("keys", ["/", "Control+k"])
def test_a_shortcut_does_nothing_while_someone_types(page: "Page", service: str, keys: str) -> None:
    open_host(page, service, script(book=SAMPLE))
    page.locator("#field").focus()
    page.keyboard.press(keys)
    assert page.get_by_role("dialog").count() == 0
    assert page.locator("#field").input_value() == ("/" if keys == "/" else "")


def test_everything_can_be_done_by_keyboard(page: "Page", service: str, watched: Watched) -> None:
    open_host(page, service, script(book=SAMPLE), body="<h1>Page</h1>")
    page.keyboard.press("Tab")
    assert focused_tag(page) == "BUTTON.launcher"
    page.keyboard.press("Enter")
    page.keyboard.type(ANSWERED)
    page.keyboard.press("Enter")
    turn = page.locator("bythebook-ask .turn").first
    turn.locator(".confidence").wait_for()
    reached = []
    for _ in range(16):
        page.keyboard.press("Shift+Tab")
        reached.append(focused_tag(page))
    for stop in ("A.numeral", "A.read", "BUTTON.more", "BUTTON.icon-button", "SUMMARY"):
        assert stop in reached
    page.keyboard.press("Escape")
    assert focused_tag(page) == "BUTTON.launcher"
    watched.clean()


def test_each_sentence_is_announced_once_and_the_confidence_last(
    page: "Page", service: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, PARTIAL)
    expected = chat(service, PARTIAL)
    told = list_announcements(page)
    assert told[0] == "Looking in the book …"
    assert told[1:3] == [opening_kind(expected["disclaimer"]), expected["disclaimer"]]
    assert told[3:-1] == expected["sentences"]
    assert "passage" in told[-1]
    ask_and_wait(page, REFUSED)
    assert list_announcements(page)[1].startswith("The book does not answer this. ")


def test_on_a_phone_the_focus_stays_in_the_sheet(page: "Page", service: str) -> None:
    page.set_viewport_size({"width": 375, "height": 740})
    open_widget(page, service, book=SAMPLE)
    for _ in range(9):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.localName") == "bythebook-ask"


# Where it stands


def test_the_page_does_not_move_when_the_widget_comes_opens_and_answers(
    page: "Page", service: str
) -> None:
    page.add_init_script(
        "window.shifts = 0; new PerformanceObserver(list => list.getEntries().forEach(one => "
        "{ window.shifts += one.value; })).observe({type: 'layout-shift', buffered: true});"
    )
    open_host(page, service, script(book=SAMPLE))
    before = page.evaluate(
        "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
    )
    box = page.locator("#second").bounding_box()
    page.keyboard.press("/")
    ask_and_wait(page, ANSWERED)
    assert page.locator("#second").bounding_box() == box
    assert before == page.evaluate(
        "[document.documentElement.scrollHeight, document.documentElement.scrollWidth]"
    )
    main = page.evaluate("window.shifts")
    assert main < 0.1


def test_inline_it_stands_in_its_place_and_needs_no_button(
    page: "Page", service: str, watched: Watched
) -> None:
    tags = f'<bythebook-ask book="{SAMPLE}" mode="inline"></bythebook-ask>{script()}'
    open_host(page, service, tags)
    assert page.locator("bythebook-ask").count() == 1
    assert page.locator("bythebook-ask .launcher").count() == 0
    page.get_by_role("region", name="Ask the book").wait_for()
    page.keyboard.press("/")
    assert focused_tag(page) == "TEXTAREA"
    ask_and_wait(page, ANSWERED)
    watched.clean()


def test_sources_stand_beside_the_answer_on_wide_screens_and_above_it_on_a_phone(
    page: "Page", service: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, ANSWERED)
    note, text = turn.locator(".note").first, turn.locator(".prose").first
    beside, prose = note.bounding_box(), text.bounding_box()
    assert beside
    assert prose
    assert beside["x"] >= prose["x"] + prose["width"]
    page.set_viewport_size({"width": 375, "height": 740})
    above, prose = note.bounding_box(), text.bounding_box()
    assert above
    assert prose
    assert above["y"] + above["height"] <= prose["y"]


def test_the_button_for_the_width_says_what_it_will_do(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    page.get_by_role("button", name="Narrower").click()
    page.get_by_role("button", name="Wider").click()
    page.get_by_role("button", name="Narrower").click()
    page.reload()
    page.get_by_role("button", name="Narrower").wait_for()
    page.set_viewport_size({"width": 900, "height": 700})  # where it is narrow unless asked
    page.get_by_role("button", name="Wider").wait_for()


def test_it_speaks_german_where_the_page_does_and_takes_other_words(
    page: "Page", service: str
) -> None:
    open_host(page, service, script(book=SAMPLE), lang="de-AT")
    page.get_by_role("button", name="Das Buch fragen").click()
    turn = ask_and_wait(page, REFUSED)
    assert turn.locator(".kind").inner_text() == "Das Buch beantwortet das nicht"
    page.evaluate(
        """document.querySelector('bythebook-ask').setAttribute('strings', '{"title": "Frag <b>uns</b>"}')"""
    )
    page.get_by_role("dialog", name="Frag <b>uns</b>").wait_for()


def test_every_language_has_every_sentence_with_the_same_gaps() -> None:
    source = (ROOT / "widget" / "src" / "widget" / "strings.ts").read_text("utf-8")
    tables = re.findall(r"const (ENGLISH|GERMAN)\b[^{]*\{\n(.*?)\n\};", source, re.DOTALL)
    named = {
        language: dict(re.findall(r'^  (\w+): "(.*)",$', table, re.MULTILINE))
        for language, table in tables
    }
    assert named["ENGLISH"].keys() == named["GERMAN"].keys()
    assert len(named["ENGLISH"]) > 50
    for name, english in named["ENGLISH"].items():
        gaps = re.findall(r"\{\w+\}", english)
        assert sorted(gaps) == sorted(re.findall(r"\{\w+\}", named["GERMAN"][name])), name


def test_right_to_left_it_stands_on_the_left(page: "Page", service: str) -> None:
    open_host(page, service, script(book=SAMPLE), lang="ar", direction="rtl")
    page.keyboard.press("/")
    panel = page.locator("bythebook-ask .panel").bounding_box()
    assert panel
    assert panel["x"] == 0
    ask_and_wait(page, ANSWERED)
    rule = page.locator("bythebook-ask .card").evaluate(
        "node => getComputedStyle(node).borderRightWidth"
    )
    assert rule == "3px"
    assert (
        page.locator("bythebook-ask .prose").first.evaluate(
            "node => getComputedStyle(node).direction"
        )
        == "ltr"
    )


DARK = """<style>html{background:#fff}html[data-theme=dark]{background:#111}
.night body{background:#101820;color:#ddd}</style>"""
SAYS_DARK = "document.documentElement.setAttribute('data-theme', 'dark')"
PAINTS_DARK = "document.documentElement.classList.add('night')"
META = "<meta name='color-scheme' content='light dark'>"
LUMINANCE = """node => { const [r, g, b] = getComputedStyle(node).backgroundColor.match(/\\d+/g).map(Number);
  return r + g + b < 384 ? 'dark' : 'light'; }"""


@pytest.mark.parametrize(
    ("system", "head", "change", "shown"),
    [
        ("light", DARK, "", "light"),
        ("dark", DARK, "", "light"),
        ("light", DARK, SAYS_DARK, "dark"),
        ("light", DARK, PAINTS_DARK, "dark"),
        ("dark", "", "", "light"),  # a bare page is white
        ("dark", META, "", "dark"),
        ("light", META, "", "light"),
    ],
)
def test_the_theme_is_that_of_the_page_whatever_the_system_has(
    page: "Page", service: str, system: str, head: str, change: str, shown: str
) -> None:
    page.emulate_media(color_scheme="dark" if system == "dark" else "light")
    styled = host_page("<h1>Page</h1>").replace("</head>", f"{head}</head>")
    shown_page = styled.replace("</body>", f"{script(book=SAMPLE)}</body>")
    address = f"{service}/a-page-of-the-test"
    page.route(address, lambda route: route.fulfill(body=shown_page, content_type="text/html"))
    page.goto(address)
    page.locator("bythebook-ask .launcher").click()
    panel = page.locator("bythebook-ask .panel")
    page.evaluate(change or "0")
    page.wait_for_function(
        f"""() => ({LUMINANCE})(document.querySelector('bythebook-ask')
        .shadowRoot.querySelector('.panel')) === '{shown}'"""
    )
    other = "light" if shown == "dark" else "dark"
    page.evaluate(f"document.querySelector('bythebook-ask').setAttribute('theme', '{other}')")
    assert panel.evaluate(LUMINANCE) == other


@pytest.mark.parametrize("accent", ["#14532d", "gold", "oklch(0.6 0.2 250)", "#fff", "#000"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_one_attribute_sets_an_accent_that_can_be_read(
    page: "Page", service: str, accent: str, theme: str
) -> None:
    open_widget(page, service, book=SAMPLE, accent=accent, theme=theme)
    button = page.locator("bythebook-ask .send")
    paint = "node => getComputedStyle(node).backgroundColor"
    assert button.evaluate(paint) not in {"rgb(138, 59, 18)", "rgb(240, 168, 120)"}
    page.wait_for_timeout(200)  # until the panel has come
    assert axe_violations(page) == []
    page.evaluate("document.querySelector('bythebook-ask').setAttribute('accent', 'url(x)')")
    assert button.evaluate(paint) in {"rgb(138, 59, 18)", "rgb(240, 168, 120)"}


def test_nothing_moves_for_who_asked_for_less_motion(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    animation = "node => getComputedStyle(node).animationName"
    assert page.locator("bythebook-ask .panel").evaluate(animation) == "come"
    page.emulate_media(reduced_motion="reduce")
    assert page.locator("bythebook-ask .panel").evaluate(animation) == "none"
