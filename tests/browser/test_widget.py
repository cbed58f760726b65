"""The widget in real Chromium against the real service: what a reader does with it."""

import re
from typing import TYPE_CHECKING

import httpx
from tests.browser.browser import Watched
from tests.browser.widget_pages import (
    ANSWERED,
    PARTIAL,
    REFUSED,
    answered,
    ask,
    chat,
    focused,
    open_host,
    open_widget,
    questions_of,
    script,
    shown_text,
)
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route


# Answers


def test_a_question_is_answered_with_numerals_that_open_quotes_that_open_the_book(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = answered(page, ANSWERED)
    expected = chat(service, ANSWERED)
    sentences, citations = expected["sentences"], expected["citations"]
    assert isinstance(sentences, list)
    assert isinstance(citations, list)
    assert turn.locator(".card.answer .kind").inner_text() == "Answer"
    assert shown_text(turn) == " ".join(sentences)
    numerals = turn.locator("button.numeral")
    assert numerals.all_text_contents() == [str(n + 1) for n in range(len(citations))]
    numerals.first.click()
    assert numerals.first.get_attribute("aria-expanded") == "true"
    note = turn.locator(f"#{numerals.first.get_attribute('aria-controls')}")
    assert note.locator("q").inner_text() == citations[0]["referenced_text"]
    assert citations[0]["section"] in (note.locator(".place").text_content() or "")
    assert turn.locator(".confidence").inner_text() == "Clear match · 1 passage"
    note.get_by_role("link", name="Read it in the book").click()
    page.wait_for_url("**/read/**")
    assert page.locator("mark#quote").inner_text() == citations[0]["referenced_text"]
    watched.clean()


def test_nearest_sections_come_before_the_answer_and_lead_into_the_book(
    page: "Page", service: str, watched: Watched
) -> None:
    held: list[Route] = []
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: held.append(route))
    turn = ask(page, ANSWERED)
    links = turn.locator(".nearest a")
    links.first.wait_for()
    assert turn.locator(".card.looking").inner_text() == "Looking in the book …"
    assert turn.locator(".nearest .line").count() == links.count() > 1
    assert all(url and url.startswith(f"{service}/read/") for url in hrefs(links))
    held[0].continue_()
    turn.locator(".card.answer .confidence").wait_for()
    assert turn.locator(".nearest details").count() == 1  # folded away: the answer counts now
    watched.clean()


def hrefs(links: "Locator") -> list[str | None]:
    return [link.get_attribute("href") for link in links.all()]


def test_without_a_search_route_the_streams_own_names_are_shown(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route("**/search?*", lambda route: route.fulfill(status=404, body="{}"))
    found = (
        'event: retrieval\ndata: {"num_chunks": 1, "average_score": 1, "sections": ["Topics"]}\n\n'
    )
    page.route(
        "**/chat/stream", lambda route: route.fulfill(body=found, content_type="text/event-stream")
    )
    turn = ask(page, ANSWERED)
    turn.locator(".card.failed").wait_for()
    assert turn.locator(".nearest li").all_inner_texts() == ["Topics"]
    assert turn.locator(".nearest a").count() == 0


def test_a_refusal_is_no_answer_and_names_the_nearest_sections(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = answered(page, REFUSED)
    nearest = chat(service, REFUSED)["nearest_sections"]
    assert isinstance(nearest, list)
    assert turn.locator(".card.refused .kind").inner_text() == "The book does not answer this"
    assert turn.locator(".numeral, q, .note").count() == 0
    assert "“" not in turn.locator(".card").inner_text()
    assert turn.locator(".nearest a").all_inner_texts() == [one["section"] for one in nearest]
    assert hrefs(turn.locator(".nearest a")) == [one["url"] for one in nearest]
    watched.clean()


def test_a_part_that_the_book_does_not_cover_is_said_before_the_answer(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = answered(page, PARTIAL)
    expected = chat(service, PARTIAL)
    assert expected["disclaimer"]
    assert turn.locator(".card.caution .kind").inner_text() == "Answer, in part"
    assert turn.locator(".opening p").inner_text() == expected["disclaimer"]
    assert shown_text(turn) == " ".join(" ".join(map(str, expected["sentences"])).split())
    assert turn.locator("ul.item li").count() > 3
    turn.get_by_role("button", name=re.compile("Nearest sections for")).click()
    page.locator("bythebook-ask .turn").nth(1).locator(".card.refused").wait_for()
    watched.clean()


def test_a_follow_up_is_answered_in_the_light_of_the_conversation(
    page: "Page", service: str
) -> None:
    bodies = questions_of(page)
    open_widget(page, service, book=SAMPLE)
    answered(page, ANSWERED)
    answered(page, "And what is a topic?")
    assert len({body["session_id"] for body in bodies}) == 1
    assert len(bodies) == 2


# The conversation


def test_the_conversation_is_there_after_a_reload_with_its_quotes(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    before = [answered(page, question) for question in (ANSWERED, PARTIAL, REFUSED)]
    texts = [shown_text(turn) for turn in before]
    numerals = [turn.locator(".numeral").count() for turn in before]
    quotes = before[1].locator("q").all_text_contents()
    page.reload()
    turns = page.locator("bythebook-ask .turn")  # the panel was open, and still is
    turns.nth(2).wait_for()
    assert turns.locator(".question").all_inner_texts() == [ANSWERED, PARTIAL, REFUSED]
    assert [shown_text(turn) for turn in turns.all()] == texts
    assert [turn.locator(".numeral").count() for turn in turns.all()] == numerals
    assert turns.nth(1).locator("q").all_text_contents() == quotes
    assert [turn.locator(".card").get_attribute("class") for turn in turns.all()] == [
        "card answer",
        "card caution",
        "card refused",
    ]
    watched.clean()


def test_a_new_conversation_deletes_the_old_one(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    answered(page, ANSWERED)
    session = page.evaluate("Object.values(localStorage)[0]")
    assert httpx.get(f"{service}/session/{session}/history").status_code == 200
    page.get_by_role("button", name="New conversation").click()
    page.locator("bythebook-ask .hint").wait_for()
    assert httpx.get(f"{service}/session/{session}/history").status_code == 404
    assert page.evaluate("localStorage.length") == 0
    assert focused(page) == "TEXTAREA"
    watched.clean()


def test_only_an_id_is_kept_in_the_browser(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    answered(page, ANSWERED)
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert re.search(r'"bythebook:[^"]*":"[0-9a-f-]{36}"', kept)
    assert "ROS" not in kept
    assert page.context.cookies() == []


def test_a_page_whose_reader_asks_nothing_loads_nothing_but_the_script(
    page: "Page", service: str, watched: Watched
) -> None:
    open_host(page, service, script(book=SAMPLE))
    page.wait_for_timeout(300)
    assert [url.removeprefix(service) for url in watched.requests] == [
        "/a-page-of-the-test",
        "/widget.js",
    ]


# What an answer can be used for


def test_copying_gives_the_answer_with_numbered_quotes_and_links(
    page: "Page", service: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = answered(page, ANSWERED)
    turn.get_by_role("button", name="Copy with citations").click()
    turn.get_by_text("Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    citation = chat(service, ANSWERED)["citations"][0]
    assert copied.startswith(f"{ANSWERED}\n\n")
    assert copied.count("[1]") == 2
    assert f"“{citation['referenced_text']}”" in copied
    assert f"{citation['chapter']} · {citation['section']}" in copied
    assert citation["link"] in copied


def test_a_thumb_reaches_the_service_for_just_this_answer(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    with page.expect_response("**/chat/stream") as asked:
        turn = answered(page, ANSWERED)
    with page.expect_response("**/feedback") as given:
        turn.get_by_role("button", name="Not helpful").click()
    assert given.value.status == 204
    assert given.value.request.post_data_json == {
        "request_id": asked.value.headers["x-request-id"],
        "helpful": False,
    }
    turn.get_by_text("Thank you").wait_for()
    pressed = [one.get_attribute("aria-pressed") for one in turn.locator("[aria-pressed]").all()]
    assert pressed == ["false", "true"]
