"""Every state of the widget by axe-core, light and dark, with a screenshot of each to look at."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.browser.browser import WIDTHS, axe_violations, screenshot
from tests.browser.widget_pages import (
    ANSWERED,
    CODE,
    PARTIAL,
    REFUSED,
    ask,
    ask_and_wait,
    chat,
    open_host,
    open_widget,
    script,
)
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WARNED = "The book may cover this only in part; please check the quoted passage."


def show_closed(page: "Page", service: str) -> None:
    open_host(page, service, script(book=SAMPLE))


def empty(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)


def show_progress(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: None)
    ask(page, ANSWERED).locator(".nearest a").first.wait_for()


def answer(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, ANSWERED)
    for folded in turn.locator("summary").all():
        folded.click()
    turn.locator(".more").first.click()
    turn.locator(".whole").first.wait_for()
    turn.get_by_role("button", name="Not helpful").click()
    turn.get_by_text("Thank you").wait_for()


def partial(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, PARTIAL).locator(".numeral").nth(1).focus()


def caution(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    told = chat(service, ANSWERED)
    cautious = {"disclaimer": WARNED, "response": f"{WARNED} {told['response']}"}
    page.route(
        "**/chat/stream",
        lambda route: route.fulfill(json=told | cautious | {"confidence_level": "low"}),
    )
    ask_and_wait(page, ANSWERED).locator(".card.caution").wait_for()


def code(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, CODE).locator("pre").first.wait_for()


def history(page: "Page", service: str) -> None:
    show_refusal(page, service)
    ask_and_wait(page, ANSWERED)
    page.reload()
    page.locator("bythebook-ask .turn").nth(1).wait_for()


def show_refusal(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, REFUSED)


def show_failure(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: route.fulfill(status=503, body="{}"))
    ask_and_wait(page, ANSWERED)


def show_stopped(page: "Page", service: str) -> None:
    show_progress(page, service)
    page.get_by_role("button", name="Stop").click()


def show_offer(page: "Page", service: str) -> None:
    show_closed(page, service)
    page.locator("#second").select_text()
    page.locator("bythebook-ask button.about").wait_for()


def selection(page: "Page", service: str) -> None:
    show_offer(page, service)
    page.locator("bythebook-ask button.about").click()
    ask_and_wait(page, "What is a gripper?")


def inline(page: "Page", service: str) -> None:
    open_host(
        page, service, f'<bythebook-ask mode="inline" book="{SAMPLE}"></bythebook-ask>{script()}'
    )
    ask_and_wait(page, ANSWERED)


STATES = (
    show_closed, empty, show_progress, answer, partial, caution, code, show_refusal, show_failure,
    show_stopped, show_offer, selection, history, inline,
)  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES, ids=lambda one: one.__name__)
def test_no_state_has_a_barrier(
    browser: "Browser", service: str, state: Callable[["Page", str], None], theme: str
) -> None:
    scheme = "dark" if theme == "dark" else "light"
    context = browser.new_context(viewport={"width": 1440, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(120_000)
    page = context.new_page()
    state(page, service)
    for width in WIDTHS[::-1]:
        page.set_viewport_size({"width": width, "height": 900 if width > 400 else 740})
        page.wait_for_timeout(200)  # until what comes has come
        screenshot(page, f"widget-{state.__name__}-{theme}-{width}")
        if width != WIDTHS[1]:
            assert axe_violations(page) == [], width
    context.close()


def test_a_barrier_within_the_widget_would_be_found(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    page.evaluate(
        """() => { const root = document.querySelector('bythebook-ask').shadowRoot;
        root.querySelector('.head button').removeAttribute('aria-label');
        root.querySelector('.head button').removeAttribute('title');
        root.querySelector('#title').style.setProperty('color', '#ccc'); }"""
    )
    found = " ".join(axe_violations(page))
    assert "button-name" in found
    assert "color-contrast" in found


@pytest.mark.parametrize(
    ("name", "value"), [("color", "#999"), ("background-image", "linear-gradient(#fff, #fff)")]
)
def test_a_contrast_that_axe_leaves_undecided_is_computed(
    page: "Page", service: str, name: str, value: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    page.wait_for_timeout(200)
    assert axe_violations(page) == []
    page.locator("bythebook-ask .hint").evaluate(
        "(node, [name, value]) => node.style.setProperty(name, value)", [name, value]
    )
    (found,) = axe_violations(page)
    assert found.startswith("undecided color-contrast: bythebook-ask,.hint")
