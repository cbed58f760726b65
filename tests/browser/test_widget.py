"""The widget in real Chromium against the real service: what a reader does with it."""

import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.browser.browser import Watched
from tests.browser.widget_pages import (
    ANSWERED,
    CODE,
    FORMULA,
    LOOK_ALIKE,
    PARTIAL,
    REFUSED,
    STEPS,
    answer_text,
    ask,
    ask_and_wait,
    chat,
    focused_tag,
    key_links,
    open_host,
    open_widget,
    opening_kind,
    questions_of,
    request_body,
    script,
    settled,
)
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route


# Answers


def test_key_sentences_end_in_numerals_that_open_the_book_at_them(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, ANSWERED)
    expected = chat(service, ANSWERED)
    sentences, citations, keys = (
        expected["sentences"],
        expected["citations"],
        expected["key_sentences"],
    )
    passages = list(dict.fromkeys(one["chunk_id"] for one in citations))
    assert turn.locator(".card.answer .kind").inner_text() == "Answer"
    assert answer_text(turn) == " ".join(sentences)
    assert 0 < len(keys) < len(sentences)
    key_quotes = [one["referenced_text"] for one in citations if one["key"]]
    assert sentence_words(turn.locator(".key")) == key_quotes
    numerals = turn.locator("a.numeral")
    assert numerals.all_text_contents() == [str(n + 1) for n in range(len(keys))]
    assert hrefs(numerals) == key_links(expected)
    assert turn.locator(".note").count() == turn.locator(".excerpt").count() == len(passages) > 1
    assert turn.locator("q").count() == 0  # what is shown are the quotes
    note = turn.locator(".note").first
    assert citations[0]["section"] in (note.locator(".place").text_content() or "")
    assert turn.locator(".confidence").inner_text() == f"Clear match · {len(passages)} passages"
    note.get_by_role("link", name="Read it in the book").click()
    page.wait_for_url("**/read/**")
    assert page.locator("mark#quote").inner_text() == key_quotes[0]
    watched.clean()


def sentence_words(parts: "Locator") -> list[str]:
    """The words of sentences, without their numerals."""
    words: list[str] = parts.evaluate_all(
        """nodes => nodes.map(node => { const copy = node.cloneNode(true);
        copy.querySelectorAll('.numeral, .mark').forEach(one => one.remove());
        return copy.textContent; })"""
    )
    return words


def test_own_words_are_shown_with_the_quotes_they_rest_on(
    page: "Page", service: str, watched: Watched
) -> None:
    told = chat(service, ANSWERED)
    quoted = [one | {"key": True} for one in told["citations"][:3]]
    sentences = ["Nodes talk by topics.", "They also offer services."]
    cited = [one | {"sentence": at} for at, one in zip((0, 1, 1), quoted, strict=True)]
    own = {"response": " ".join(sentences), "sentences": sentences, "citations": cited}
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: route.fulfill(json=told | own))
    turn = ask_and_wait(page, ANSWERED)
    assert turn.locator(".prose").count() == 1
    assert turn.locator(".prose .numeral").all_text_contents() == ["1", "2", "3"]
    assert turn.locator("q").all_text_contents() == [one["referenced_text"] for one in cited]
    watched.clean()


def test_messages_that_do_not_say_what_is_key_are_key(page: "Page", service: str) -> None:
    told = chat(service, ANSWERED)
    for citation in told["citations"]:
        del citation["key"]
    open_widget(page, service, book=SAMPLE)
    page.route("**/chat/stream", lambda route: route.fulfill(json=told))
    turn = ask_and_wait(page, ANSWERED)
    assert turn.locator(".context").count() == 0
    assert turn.locator(".numeral").count() == len(told["sentences"])


def test_a_numeral_never_stands_alone_on_a_line(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, STEPS)
    assert turn.locator(".numeral").count() > 3
    for width in range(320, 420, 7):
        page.set_viewport_size({"width": width, "height": 740})
        alone = turn.locator(".kept:has(.numeral)").evaluate_all(
            """nodes => nodes.filter(node => { const range = document.createRange();
            range.selectNodeContents(node.firstChild); const words = range.getBoundingClientRect();
            const numeral = node.querySelector('.numeral').getBoundingClientRect();
            return numeral.top > words.bottom || numeral.bottom < words.top; }).length"""
        )
        assert alone == 0, width


def test_code_is_a_panel_that_names_its_language_and_is_copied_whole(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, CODE)
    figure = turn.locator("figure.code").first
    shown = figure.locator("code").text_content() or ""
    told = next(one for one in chat(service, CODE)["sentences"] if shown in one)
    assert told.removesuffix("\n…") == shown
    assert figure.locator(".language").inner_text() in {"cpp", "python"}
    figure.get_by_role("button", name="Copy code").click()
    page.get_by_role("status").get_by_text("Copied").wait_for(state="attached")
    assert page.evaluate("navigator.clipboard.readText()") == shown
    watched.clean()


def test_more_of_the_section_is_shown_in_place(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, ANSWERED)
    first = chat(service, ANSWERED)["citations"][0]
    page.route("**/*.html?*section_at*", lambda route: route.abort())
    turn.get_by_role("button", name="Show more").first.click()
    turn.get_by_role("button", name="could not be loaded").wait_for()
    page.unroute("**/*.html?*section_at*")
    turn.get_by_role("button", name="could not be loaded").click()
    whole = turn.locator(".whole").first
    whole.wait_for()
    marked = "".join(whole.locator("mark").all_text_contents())
    assert "".join(first["referenced_text"].split()) in "".join(marked.split())
    assert not turn.locator(".prose").first.is_visible()
    shown = whole.text_content() or ""
    document = httpx.get(f"{service}/read/{SAMPLE}/{first['document_id']}.txt").text
    assert len(first["referenced_text"]) < len(shown) < len(document)
    assert "".join(shown.split()) in "".join(document.split())
    turn.get_by_role("button", name="Show less").click()
    assert turn.locator(".prose").first.is_visible()


def test_words_are_set_as_their_author_did_once_they_have_come(
    page: "Page", service: str, watched: Watched
) -> None:
    held: list[Route] = []
    open_widget(page, service, book=SAMPLE)
    page.route("**/*.html?*", lambda route: held.append(route))
    with page.expect_request("**/*.html?*"):
        turn = ask_and_wait(page, FORMULA)
    plain, numerals = answer_text(turn), turn.locator(".numeral").count()
    assert "\\sqrt{" in plain
    assert turn.locator("math").count() == 0
    page.unroute("**/*.html?*")
    for route in held:
        route.continue_()
    turn.locator("math").first.wait_for()
    assert answer_text(turn) == plain
    assert turn.locator(".numeral").count() == numerals > 0
    assert turn.locator(".key math").count() > 0
    turn.get_by_role("button", name="Copy with citations").click()
    page.get_by_role("status").get_by_text("Copied").wait_for(state="attached")
    assert "\\sqrt{" in page.evaluate("navigator.clipboard.readText()")
    watched.clean()


@pytest.mark.parametrize(
    "given",
    [
        {"status": 404},
        {"body": '<div data-range="0-1"><span>Other words.</span></div>'},
        {"body": "no fragment"},
    ],
)
def test_words_stay_plain_where_their_setting_cannot_be_had(
    page: "Page", service: str, given: dict[str, Any]
) -> None:
    open_widget(page, service, book=SAMPLE)
    page.route("**/*.html?*", lambda route: route.fulfill(content_type="text/html", **given))
    with page.expect_response("**/*.html?*"):
        turn = ask_and_wait(page, FORMULA)
    turn.get_by_role("button", name="Show more").first.click()
    turn.get_by_role("button", name="could not be loaded").wait_for()
    assert "\\sqrt{" in answer_text(turn)


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
    turn = ask_and_wait(page, REFUSED)
    nearest = chat(service, REFUSED)["nearest_sections"]
    assert isinstance(nearest, list)
    assert turn.locator(".card.refused .kind").inner_text() == "The book does not answer this"
    assert turn.locator(".numeral, q, .note").count() == 0
    assert "“" not in turn.locator(".card").inner_text()
    assert turn.locator(".nearest a").all_inner_texts() == [one["section"] for one in nearest]
    assert hrefs(turn.locator(".nearest a")) == [one["url"] for one in nearest]
    watched.clean()


@pytest.mark.parametrize(
    ("question", "refusal_type", "says"),
    [
        (REFUSED, "low_relevance", "No passage comes near your question"),
        (LOOK_ALIKE, "insufficient_grounding", "The nearest passages were read, and none"),
    ],
)
def test_a_refusal_says_of_which_kind_it_is(
    page: "Page", service: str, question: str, refusal_type: str, says: str
) -> None:
    reply = httpx.post(f"{service}/api/query", json={"query": question}).json()
    assert reply["refusal"]["refusal_type"] == refusal_type
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, question)
    assert turn.locator(".card.refused .opening").inner_text().startswith(says)


def test_a_refusal_of_a_section_is_none_of_the_book(page: "Page", service: str) -> None:
    page.goto(f"{service}/read/{SAMPLE}")
    page.locator(".contents a").nth(2).click()
    page.locator("article p").first.select_text()
    page.locator("bythebook-ask button.about").click()
    page.get_by_role("button", name="This section").click()
    turn = ask_and_wait(page, REFUSED)
    assert turn.locator(".kind").inner_text() == (
        "The section of your selection does not answer this"
    )
    assert "The whole book may say more" in turn.locator(".opening").inner_text()
    with page.expect_request("**/chat/stream") as asked:
        turn.get_by_role("button", name="Whole book").click()
    assert request_body(asked.value)["scope"] == "book"


def test_nothing_found_is_said_to_be_nothing(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    metrics = {"num_chunks": 0, "max_similarity": 0}
    told = chat(service, REFUSED) | {"nearest_sections": [], "confidence_metrics": metrics}
    page.route("**/search?*", lambda route: route.fulfill(json={"sections": []}))
    page.route("**/chat/stream", lambda route: route.fulfill(json=told))
    turn = ask_and_wait(page, REFUSED)
    assert turn.locator(".opening").inner_text().startswith("Nothing was found to read")
    assert not turn.locator(".nearest").is_visible()


def test_a_part_that_the_book_does_not_cover_is_said_before_the_answer(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, PARTIAL)
    expected = chat(service, PARTIAL)
    assert expected["disclaimer"]
    kind = opening_kind(expected["disclaimer"])
    assert turn.locator(".card.caution .kind").inner_text() == kind
    assert turn.locator(".opening p").inner_text() == expected["disclaimer"]
    assert answer_text(turn) == " ".join(" ".join(map(str, expected["sentences"])).split())
    assert turn.locator("ol.item li").count() > 3
    turn.get_by_role("button", name=re.compile("Nearest sections for")).click()
    page.locator("bythebook-ask .turn").nth(1).locator(".card.refused").wait_for()
    watched.clean()


def test_a_follow_up_is_answered_in_the_light_of_the_conversation(
    page: "Page", service: str
) -> None:
    bodies = questions_of(page)
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, ANSWERED)
    ask_and_wait(page, "And what is a topic?")
    assert len({body["session_id"] for body in bodies}) == 1
    assert len(bodies) == 2


# The conversation


LOOK = """turn => { const copy = turn.cloneNode(true);
  copy.querySelectorAll('.status').forEach(one => one.replaceChildren());
  return copy.outerHTML.replace(/\\b(question|note)-\\d+/g, '$1'); }"""


def looks(page: "Page") -> list[str]:
    """Every exchange as it is shown, but for the ids of its nodes and words that pass."""
    page.locator("bythebook-ask .looking").wait_for(state="detached")
    for turn in page.locator("bythebook-ask .turn").all():
        settled(turn)
    return [turn.evaluate(LOOK) for turn in page.locator("bythebook-ask .turn").all()]


def test_after_a_reload_every_exchange_looks_as_it_did(
    page: "Page", service: str, watched: Watched
) -> None:
    open_host(page, service, script(book=SAMPLE))
    page.locator("#first").select_text()
    page.locator("bythebook-ask button.about").click()
    ask_and_wait(page, "How do nodes exchange messages?")
    ask_and_wait(page, "Who won the world cup?")
    page.get_by_role("button", name="Let go of the selection").click()
    for question in (ANSWERED, PARTIAL, REFUSED):
        ask_and_wait(page, question)
    turns = page.locator("bythebook-ask .turn")
    turns.nth(2).get_by_role("button", name="Not helpful").click()
    turns.nth(2).get_by_text("Thank you").wait_for()
    assert turns.nth(0).locator(".numeral").count() > 0
    assert turns.nth(1).locator(".actions button").count() == 2
    before = looks(page)
    page.reload()  # the panel was open, and still is
    turns.nth(4).wait_for()
    assert looks(page) == before
    assert [turn.locator(".card").get_attribute("class") for turn in turns.all()] == [
        "card answer",
        "card refused",
        "card answer",
        "card caution",
        "card refused",
    ]
    turns.nth(3).get_by_role("button", name="Helpful", exact=True).click()
    turns.nth(3).get_by_text("Thank you").wait_for()
    watched.clean()


def test_a_question_that_a_reload_broke_off_is_there_to_be_asked_again(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, REFUSED)
    page.route("**/chat/stream", lambda route: None)
    ask(page, ANSWERED)
    page.reload()
    page.unroute("**/chat/stream")
    turns = page.locator("bythebook-ask .turn")
    turns.nth(1).wait_for()
    assert turns.locator(".question").all_inner_texts() == [REFUSED, ANSWERED]
    turns.nth(1).get_by_role("button", name="Ask again").click()
    turns.nth(2).locator(".card.answer .confidence").wait_for()
    page.reload()
    turns.nth(1).locator(".card.answer").wait_for()
    assert turns.locator(".question").all_inner_texts() == [REFUSED, ANSWERED]
    watched.clean()


def test_what_the_service_alone_knows_is_shown_where_the_browser_kept_nothing(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    before = [ask_and_wait(page, question) for question in (PARTIAL, REFUSED)]
    body = settled(before[0])
    text = answer_text(before[0])
    passages = before[0].locator(".excerpt").count()
    page.evaluate(
        "Object.keys(localStorage).filter(one => one.endsWith(':replies'))"
        ".forEach(one => localStorage.removeItem(one))"
    )
    page.reload()
    turns = page.locator("bythebook-ask .turn")
    turns.nth(1).wait_for()
    assert settled(turns.nth(0)) == body
    assert answer_text(turns.nth(0)) == text
    assert turns.nth(0).locator(".confidence").inner_text().startswith(f"{passages} passage")
    turns.nth(1).locator(".card.refused").get_by_role("button", name="Ask again").click()
    turns.nth(2).locator(".nearest a").first.wait_for()
    watched.clean()


def test_a_new_conversation_deletes_the_old_one(
    page: "Page", service: str, watched: Watched
) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, ANSWERED)
    session = page.evaluate(
        "Object.values(localStorage).find(kept => /^[0-9a-f-]{36}$/.test(kept))"
    )
    assert httpx.get(f"{service}/session/{session}/history").status_code == 200
    page.get_by_role("button", name="New conversation").click()
    page.locator("bythebook-ask .hint").wait_for()
    assert httpx.get(f"{service}/session/{session}/history").status_code == 404
    assert page.evaluate("localStorage.length") == 0
    assert focused_tag(page) == "TEXTAREA"
    watched.clean()


def test_what_was_asked_and_answered_is_not_kept_in_the_browser(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, ANSWERED)
    turn.locator(".nearest summary").wait_for()
    assert page.evaluate("Object.values(sessionStorage)") == ["open"]
    session, replies = sorted(page.evaluate("Object.values(localStorage)"), key=len)
    assert re.fullmatch("[0-9a-f-]{36}", session)
    (kept,) = json.loads(replies).values()
    assert set(kept) == {"requestId", "level", "found", "nearest"}
    assert page.context.cookies() == []


@pytest.mark.parametrize(("padding", "kept_at_most"), [(0, 25), (20_000, 12)])
def test_what_the_browser_keeps_is_bounded(
    page: "Page", service: str, padding: int, kept_at_most: int
) -> None:
    open_widget(page, service, book=SAMPLE)
    ask_and_wait(page, REFUSED)
    page.evaluate(
        """padding => { const name = Object.keys(localStorage).find(one => one.endsWith(':replies'));
        const kept = JSON.parse(localStorage[name]), [last] = Object.values(kept);
        for (let n = 100; n < 160; n++)
          kept[`2020-01-01T00:00:00.000${n}Z`] = {...last, reason: 'x'.repeat(padding)};
        localStorage[name] = JSON.stringify(kept); }""",
        padding,
    )
    ask_and_wait(page, ANSWERED).locator(".nearest summary").wait_for()
    replies = max(page.evaluate("Object.values(localStorage)"), key=len)
    assert len(replies) < 250_000
    assert kept_at_most - 3 < len(json.loads(replies)) <= kept_at_most
    assert page.locator("bythebook-ask .turn").count() == sum(  # what goes is the oldest
        not at.startswith("2020") for at in json.loads(replies)
    )


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


def test_copying_gives_the_answer_with_numbered_sources_and_links(
    page: "Page", service: str
) -> None:
    open_widget(page, service, book=SAMPLE)
    turn = ask_and_wait(page, ANSWERED)
    reply = chat(service, ANSWERED)
    key = next(one for one in reply["citations"] if one["key"])
    copied = copy(turn, "Copy with citations")
    assert copied.startswith(f"{ANSWERED}\n\n")
    assert f"{key['referenced_text']} [1]" in copied
    assert f"[1] {key['chapter']} · {key['section']}\n    {key['link']}\n" in copied
    for context in (one for one in reply["citations"] if not one["key"]):
        assert f"{context['referenced_text']} [" not in copied


def test_copying_in_other_forms_names_book_section_and_place(page: "Page", service: str) -> None:
    page.clock.set_fixed_time("2026-03-05T12:00:00Z")
    names = {"book_title": "A short course", "author": "Ada & Co", "year": "2025"}
    open_widget(page, service, book=SAMPLE, **names)
    turn = ask_and_wait(page, ANSWERED)
    key = next(one for one in chat(service, ANSWERED)["citations"] if one["key"])
    address = key["permalink"]
    turn.get_by_text("Copy as").click()
    markdown = copy(turn, "Copy as Markdown")
    assert f"> **{key['referenced_text']}**" in markdown
    assert f"](<{key['link']}>)" in markdown
    apa = copy(turn, "Copy as APA")
    title = key["section"] if key["section"].endswith("?") else f"{key['section']}."
    assert apa.startswith(
        f"Ada & Co. (2025). {title} In {key['chapter']}, A short course. "
        f"Retrieved March 5, 2026, from {address}\n"
    )
    bibtex = copy(turn, "Copy as BibTeX")
    assert bibtex.startswith("@incollection{a-short-course-")
    for name, value in {
        "author": "Ada \\& Co", "title": key["section"], "booktitle": "A short course",
        "year": "2025", "url": address, "urldate": "2026-03-05",
    }.items():  # fmt: skip
        assert f"  {name} = {{{value}}}" in bibtex


def copy(turn: "Locator", button: str) -> str:
    """Press a button that copies, and give what is on the clipboard then."""
    turn.page.evaluate("navigator.clipboard.writeText('')")
    turn.get_by_role("button", name=button).click()
    turn.page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
    copied: str = turn.page.evaluate("navigator.clipboard.readText()")
    return copied


def test_a_thumb_reaches_the_service_for_just_this_answer(page: "Page", service: str) -> None:
    open_widget(page, service, book=SAMPLE)
    with page.expect_response("**/chat/stream") as asked:
        turn = ask_and_wait(page, ANSWERED)
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
