"""Words that want to be code: in the book, in responses, in selections and in questions."""

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.browser import watch
from tests.browser.widget_pages import (
    ask,
    ask_and_wait,
    host_page,
    open_host,
    open_widget,
    request_body,
    script,
)
from tests.conftest import free_port, serve_core

from bythebook.bootstrap import Core
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=http://evil.invalid/a.png onerror=alert(2)>",
    "<svg onload=alert(3)><use href=http://evil.invalid/b.svg#x /></svg>",
    "![picture](http://evil.invalid/c.png)",
    "[here](javascript:alert(4))",
    "<a href=javascript:alert(5)>here</a>",
    "</textarea></style><iframe srcdoc='<script>alert(6)</script>'>",
    "\u202egnp.exe\u2066 \u200bx\u2069",
    "${alert(7)} {{alert(8)}}",
)
ALL = " ".join(PAYLOADS)
BAD_LINKS = (
    "javascript:alert(1)",
    " java\nscript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:alert(1)",
    "blob:http://evil.invalid/x",
    "file:///etc/passwd",
    "http://",
)
LIVE = "script, img, iframe, object, embed, link, style, [onerror], [onload], [onclick]"
QUESTION = "At which angle does the zorblat valve open?"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service over a book whose title, headings and sentences are payloads."""
    folder = tmp_path_factory.mktemp("book")
    code = " ".join(f"`{payload}`" for payload in PAYLOADS if "`" not in payload)
    (folder / "docs").mkdir()
    (folder / "docs" / "valve.md").write_text(
        f"---\ntitle: {json.dumps(PAYLOADS[1])}\n---\n\n# {PAYLOADS[1].replace('<', '&lt;')}\n\n"
        f"## The valve `{PAYLOADS[0]}`\n\nThe zorblat valve opens at an angle of ninety degrees {code}.\n\n"
        "The pump runs all day. Its motor is cooled by water from the river.\n",
        "utf-8",
    )
    core = Core(
        Settings(
            data_dir=tmp_path_factory.mktemp("hostile"),
            port=free_port(),
            limit_ip=0,
            limit_session=0,
        )
    )
    in_thread(
        lambda: asyncio.run(
            ingest(
                IngestOrder(str(folder), "hostile", title=PAYLOADS[0]), core.ingest, lambda _: None
            )
        )
    )
    with serve_core(core) as server:
        yield server.url
    core.close()


def in_thread(work: Any) -> None:
    """Run where no browser's event loop is; fail if it fails."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - reported to the test
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def no_code(page: "Page") -> None:
    """Require that nothing in the widget can run or load, and that links are plain."""
    page.wait_for_timeout(300)
    root = "document.querySelector('bythebook-ask').shadowRoot"
    assert page.evaluate(f"{root}.querySelectorAll('{LIVE}').length") == 0
    protocols = page.evaluate(f"[...{root}.querySelectorAll('a')].map(a => a.protocol)")
    assert set(protocols) <= {"http:", "https:"}


def test_a_hostile_book_is_shown_as_text(page: "Page", hostile: str) -> None:
    seen = watch(page, hostile)
    open_widget(page, hostile, book="hostile")
    turn = ask_and_wait(page, QUESTION)
    shown = turn.locator(".body").text_content() or ""
    for payload in PAYLOADS[:5]:
        assert payload in shown
    assert PAYLOADS[0] in (turn.locator(".place").first.text_content() or "")
    turn.get_by_role("button", name="Show more").first.click()
    turn.locator(".whole").first.wait_for()
    no_code(page)
    ask_and_wait(page, "Who won the football world cup in 1998?")
    no_code(page)
    page.reload()
    page.locator("bythebook-ask .turn").nth(1).wait_for()
    no_code(page)
    page.locator("bythebook-ask .turn").first.locator("a.read").first.click()
    page.wait_for_url("**/read/**")
    page.wait_for_timeout(300)
    seen.clean()


def test_hostile_responses_are_shown_as_text_and_their_links_are_not_links(
    page: "Page", service: str
) -> None:
    seen = watch(page, service)
    open_widget(page, service, book="physical-ai")
    citations = [citation(index, link) for index, link in enumerate(BAD_LINKS)]
    sections = [{"chapter": ALL, "section": ALL, "url": link, "text": ALL} for link in BAD_LINKS]
    sentences = [f"{number} {ALL}." for number in range(len(BAD_LINKS))]
    response = {
        "response": " ".join(sentences), "sentences": sentences, "citations": citations, "sources": [],
        "should_answer": True, "confidence_level": "high", "nearest_sections": [], "disclaimer": ALL,
    }  # fmt: skip
    refused = response | {
        "should_answer": False,
        "sentences": [],
        "citations": [],
        "nearest_sections": sections,
    }
    page.route("**/search?*", lambda route: route.fulfill(json={"sections": sections}))
    for told in (response, refused):
        answer_with(page, f"event: done\ndata: {json.dumps(told)}\n\n")
        turn = ask(page, ALL)
        turn.locator(".card:not(.looking)").wait_for()
        assert turn.locator(".question").inner_text() == ALL
        assert ALL in (turn.text_content() or "").replace(ALL, "", 1)
        no_code(page)
        assert turn.locator("a").count() == 0
    assert page.locator("bythebook-ask .numeral").count() == len(BAD_LINKS)
    seen.clean()


def test_of_a_hostile_fragment_only_words_are_taken(page: "Page", service: str) -> None:
    seen = watch(page, service)
    free = host_page("").replace("</body>", f"{script(book='physical-ai')}</body>")
    page.route(f"{service}/free", lambda one: one.fulfill(body=free, content_type="text/html"))
    page.goto(f"{service}/free")  # without a policy that would stop what runs
    page.get_by_role("button", name="Ask the book").click()
    cited = citation(0, "/") | {
        "referenced_text": "Nine frogs x sing.", "chunk_id": "c", "document_id": "d", "char_end": 18,
    }  # fmt: skip
    told = {
        "response": "Nine frogs x sing.", "sentences": ["Nine frogs x sing."], "citations": [cited],
        "sources": [], "should_answer": True, "confidence_level": "high", "nearest_sections": [],
        "disclaimer": None, "timestamp": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    fragment = (
        '<div data-range="0-18"><span onclick="alert(1)" id="title" style="color:red">Nine '
        '<a href="javascript:alert(2)" onmouseover="alert(3)">frogs</a> <script>alert(4)</script>'
        '<img src="//evil.invalid/a.png" onerror="alert(5)"><img src="x" onerror="alert(6)">'
        '<math alttext="x" onload="alert(7)" href="javascript:alert(8)"><mi xlink:href="//evil.invalid">x</mi>'
        '<annotation-xml encoding="text/html"><iframe src="//evil.invalid"></iframe></annotation-xml></math> '
        '<svg onload="alert(9)"><style>*{display:none}</style></svg><em class="panel">sing</em>.'
        "<form action=//evil.invalid><input autofocus onfocus=alert(10)></form></span></div>"
    )
    page.route("**/*.html?*", lambda one: one.fulfill(body=fragment, content_type="text/html"))
    answer_with(page, f"event: done\ndata: {json.dumps(told)}\n\n")
    turn = ask(page, "What do frogs do?")
    turn.locator("em").wait_for()
    assert turn.locator("em").get_attribute("class") == "b-panel"
    assert turn.locator(".key").evaluate("one => one.textContent.replace(/\\s+/g, ' ')") == (
        "Nine frogs x sing.1"
    )
    assert turn.locator(".key *").evaluate_all(
        "all => all.flatMap(one => one.getAttributeNames()).filter(one => /^(on|href$|style$|id$|xlink)/.test(one))"
    ) == ["href"]  # of the numeral
    page.locator("bythebook-ask img").evaluate_all("all => all.forEach(one => one.remove())")
    no_code(page)
    seen.clean()


def answer_with(page: "Page", body: str) -> None:
    """Have the next questions answered by a given stream."""
    kind = "text/event-stream"
    page.route("**/chat/stream", lambda route: route.fulfill(body=body, content_type=kind))


def citation(sentence: int, link: str) -> dict[str, Any]:
    return {
        "sentence": sentence, "chapter": ALL, "section": ALL, "source_url": link, "link": link,
        "referenced_text": ALL, "chunk_id": ALL, "document_id": ALL, "char_start": 0, "char_end": 1,
    }  # fmt: skip


def test_what_another_script_wrote_into_the_browsers_storage_is_text(
    page: "Page", service: str
) -> None:
    seen = watch(page, service)
    open_widget(page, service, book="physical-ai")
    ask_and_wait(page, "What is a topic?")
    ask_and_wait(page, "Who won the football world cup in 1998?")
    sections = [{"chapter": ALL, "section": ALL, "url": link, "text": ALL} for link in BAD_LINKS]
    junk = {"toString": 1, "section": [ALL], "url": {}}
    answer = {"response": ALL, "sentences": [ALL, 5], "citations": [citation(0, BAD_LINKS[0]), 7]}
    looks = {
        "requestId": ALL, "level": ALL, "reason": "__proto__", "helpful": ALL, "answer": answer,
        "found": [*sections, junk, None, 5], "nearest": sections, "selected": {"text": ALL, "scope": "section"},
    }  # fmt: skip
    page.evaluate(
        """looks => { const name = Object.keys(localStorage).find(one => one.endsWith(':replies'));
        const times = Object.keys(JSON.parse(localStorage[name]));
        localStorage[name] = JSON.stringify(Object.fromEntries(times.map(time => [time, looks]))); }""",
        looks,
    )
    page.reload()
    turns = page.locator("bythebook-ask .turn")
    turns.nth(1).wait_for()
    no_code(page)
    assert ALL in (turns.first.text_content() or "")
    assert turns.locator(".nearest li").count() == 2 * len(sections)
    assert turns.locator("a").count() == 0
    page.evaluate(
        "Object.keys(localStorage).forEach(one => one.endsWith(':replies') && (localStorage[one] = '[{'))"
    )
    page.reload()
    turns.first.locator("a.read").first.wait_for(state="attached")
    seen.clean()


@pytest.mark.parametrize(
    "body",
    [
        "event: done\ndata: null\n\n",
        "event: done\ndata: {}\n\n",
        'event: done\ndata: {"response": 1, "sentences": "x"}\n\n',
        "event: content\ndata: [1]\n\nevent: content\ndata: {\n\n",
        'event: content\ndata: {"delta": {"a": 1}, "citations": "x"}\n\n',
        'event: retrieval\ndata: {"sections": [1, null, {}]}\n\nevent: __proto__\ndata: {}\n\n',
        "\x00\x01\x02",
    ],
)
def test_what_is_no_answer_is_said_to_be_none(page: "Page", service: str, body: str) -> None:
    seen = watch(page, service)
    open_widget(page, service, book="physical-ai")
    answer_with(page, body)
    turn = ask(page, "What is a topic?")
    turn.locator(".card.failed").wait_for()
    seen.clean()


def test_a_hostile_selection_and_question_are_text(page: "Page", service: str) -> None:
    seen = watch(page, service)
    text = ALL.replace("&", "&amp;").replace("<", "&lt;")
    open_host(
        page, service, script(book="physical-ai"), body=f"<h1>Page</h1><p id='bad'>{text}</p>"
    )
    page.locator("#bad").select_text()
    page.locator("bythebook-ask button.about").click()
    assert PAYLOADS[0] in page.locator("bythebook-ask .said").inner_text()
    with page.expect_request("**/chat/stream") as asked:
        turn = ask_and_wait(page, ALL)
    assert request_body(asked.value)["selected_text"] == ALL
    assert turn.locator(".question").inner_text() == ALL
    no_code(page)
    page.reload()
    page.locator("bythebook-ask .turn").wait_for()
    no_code(page)
    seen.clean()


def test_hostile_attributes_are_text(page: "Page", service: str) -> None:
    seen = watch(page, service)
    label = (
        ALL.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace("'", "&#39;")
    )
    open_host(
        page,
        service,
        f'<bythebook-ask label="{label}" strings="{label}" lang="{label}"></bythebook-ask>{script()}',
    )
    page.keyboard.press("/")
    assert ALL in (page.locator("bythebook-ask h2").text_content() or "")
    no_code(page)
    seen.clean()
