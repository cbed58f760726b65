"""What a reader selects in a page is what is asked about."""

import random
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.browser.browser import Watched
from tests.browser.widget_pages import (
    ask_and_wait,
    focused_tag,
    open_host,
    questions_of,
    request_body,
    script,
)
from tests.conftest import SAMPLE

from bythebook.bootstrap import Core

if TYPE_CHECKING:
    from playwright.sync_api import Browser, FloatRect, Locator, Page

RANGES = 200
# Sets a selection from the one visible character of the article to another, counted without
# spaces and bars, which the plain text has between blocks and cells. A formula counts as its TeX and is
# selected whole; buttons are no text. Gives the number of characters, what is asked about, and its first and
# last character.
PICK = """([from, to]) => {
  const isSeen = (sign) => !/[\\s|]/.test(sign);
  const places = window.places ??= (() => {
    const found = [];
    const walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_ALL, {
      acceptNode: (node) =>
        node.parentElement.closest('math, button') ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
    });
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.nodeName === 'math' ? node.getAttribute('alttext') : node.data ?? '';
      const seen = [...text.matchAll(/./gsu)].filter(([sign]) => isSeen(sign));
      const [first, last] = [found.length, found.length + seen.length - 1];
      for (const { 0: sign, index } of seen)
        found.push(node.data ? { node, start: index, end: index + sign.length } : { node, first, last });
    }
    return found;
  })();
  const [start, end] = [places[from], places[to]];
  const range = document.createRange();
  if (start.node.data) range.setStart(start.node, start.start); else range.setStartBefore(start.node);
  if (end.node.data) range.setEnd(end.node, end.end); else range.setEndAfter(end.node);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const widget = document.querySelector('bythebook-ask');
  widget.open();
  return [places.length, widget.selectedText, start.first ?? from, end.last ?? to];
}"""
TEXTS = """<h1>Page</h1>
<p id="a">The <b>first</b> paragraph
 has <a href="#x">a link</a>.<span hidden> Hidden words.</span></p>
<p id="b">The second one<span class="none"> #anchor</span> follows.</p>
<ul id="list"><li>one thing to take</li><li>another thing</li></ul>
<table id="table"><tr><th>Name</th><th>Range in m</th></tr><tr><td>lidar one</td><td>30</td></tr></table>
<pre id="code"><code>def turn():
    return   90</code></pre>
<p id="c">A last line<br>after a break.</p>"""
NONE = "document.querySelectorAll('.none').forEach(n => n.style.setProperty('user-select', 'none'))"


def choose(page: "Page", start: str, end: str) -> None:
    """Select from the beginning of one element to the end of another."""
    page.evaluate(
        """([start, end]) => { const range = document.createRange();
        range.setStartBefore(document.querySelector(start).firstChild);
        range.setEndAfter(document.querySelector(end).lastChild);
        const now = document.getSelection(); now.removeAllRanges(); now.addRange(range); }""",
        [start, end],
    )


def test_two_hundred_random_ranges_are_the_books_own_text(
    browser: "Browser", service: str, sample_core: Core
) -> None:
    chance = random.Random(7)
    documents = sample_core.library.documents(SAMPLE)
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    tried = 0
    for number, document in enumerate(chance.sample(list(documents), 10)):
        page.goto(f"{service}/read/{SAMPLE}/{document.document_id}")
        if not page.locator("bythebook-ask").count():
            page.add_script_tag(url=f"{service}/widget.js")
        page.wait_for_function("() => Boolean(customElements.get('bythebook-ask'))")
        plain = httpx.get(f"{service}/read/{SAMPLE}/{document.document_id}.txt").text
        visible = [at for at, sign in enumerate(plain) if sign not in "|" and not sign.isspace()]
        for _ in range(RANGES // 10):
            first = chance.randrange(len(visible) - 60)
            last = min(
                first + chance.randrange(15, chance.choice((60, 400, 3000))), len(visible) - 1
            )
            count, taken, first, last = page.evaluate(PICK, [first, last])
            expected = " ".join(plain[visible[first] : visible[last] + 1].split())
            assert count == len(visible), document.document_id
            assert " ".join(taken.split()) == expected, (number, document.document_id)
            tried += 1
    context.close()
    assert tried == RANGES


def test_blocks_cells_and_code_keep_their_form_and_hidden_text_stays_out(
    page: "Page", service: str
) -> None:
    open_host(page, service, script(book=SAMPLE), body=TEXTS)
    page.evaluate(NONE)
    choose(page, "#a", "#c")
    page.keyboard.press("Control+k")
    assert page.evaluate("document.querySelector('bythebook-ask').selectedText") == (
        "The first paragraph has a link.\nThe second one follows.\none thing to take\nanother thing\n"
        "Name | Range in m\nlidar one | 30\ndef turn():\n    return   90\nA last line\nafter a break."
    )


def test_the_button_stands_by_the_selection_and_not_on_it(page: "Page", service: str) -> None:
    open_host(
        page,
        service,
        script(book=SAMPLE),
        body=TEXTS + "<p>more</p>" * 60 + "<p id='z'>The very last line of it.</p>",
    )
    for start, end in (("#a", "#b"), ("#code", "#code"), ("#z", "#z")):
        page.locator(end).scroll_into_view_if_needed()
        choose(page, start, end)
        button = wait_until_still(page.locator("bythebook-ask button.about"))
        rects = page.evaluate(
            "[...getSelection().getRangeAt(0).getClientRects()].map(r => [r.left, r.top, r.right, r.bottom])"
        )
        for left, top, right, bottom in rects:
            apart = (
                button["x"] >= right or button["x"] + button["width"] <= left
                or button["y"] >= bottom or button["y"] + button["height"] <= top
            )  # fmt: skip
            assert apart
        assert 0 <= button["x"] <= 1440 - button["width"]
        assert 0 <= button["y"] <= 900 - button["height"]


def assert_offered(page: "Page", offered: bool) -> None:
    """See that the button comes, or does not come within a while."""
    about = page.locator("bythebook-ask button.about")
    if offered:
        about.wait_for()
    else:
        page.wait_for_timeout(400)
        assert not about.is_visible()


def wait_until_still(locator: "Locator") -> "FloatRect":
    """Wait until something stands where it stood a moment before, and give the place."""
    locator.wait_for()
    before, now = None, locator.bounding_box()
    while now is None or now != before:
        locator.page.wait_for_timeout(100)
        before, now = now, locator.bounding_box()
    return now


@pytest.mark.parametrize(
    ("length", "offered"), [(9, False), (10, True), (5000, True), (5001, False)]
)
def test_only_what_the_service_takes_is_offered(
    page: "Page", service: str, length: int, offered: bool
) -> None:
    open_host(page, service, script(book=SAMPLE), body=f"<h1>P</h1><p id='a'>{'x' * length}</p>")
    choose(page, "#a", "#a")
    assert_offered(page, offered)
    hint = page.locator("bythebook-ask .too-long")
    assert hint.is_visible() == (length > 5000)
    if length > 5000:
        assert "select up to 5,000 characters. These are 5,001." in hint.inner_text()
        page.keyboard.press("/")
        assert page.evaluate("document.querySelector('bythebook-ask').selectedText") is None


def test_a_mouse_selects_asks_and_the_answer_is_from_the_selection_only(
    page: "Page", service: str, watched: Watched
) -> None:
    open_host(page, service, script(book=SAMPLE))
    box = page.locator("#second").bounding_box()
    assert box
    page.mouse.move(box["x"] + 1, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 9, steps=4)
    assert not page.locator("bythebook-ask button.about").is_visible()  # not while it is dragged
    page.mouse.up()
    page.locator("bythebook-ask button.about").click()
    assert focused_tag(page) == "TEXTAREA"
    with page.expect_request("**/chat/stream") as asked:
        turn = ask_and_wait(page, "What is a service?")
    body = request_body(asked.value)
    assert (
        body["selected_text"] == "A service is a question with an answer, for work that ends soon."
    )
    assert body["scope"] == "selection"
    assert turn.locator(".badge").inner_text().startswith("From this passage: “A service is")
    assert turn.locator(".card.answer .place").first.text_content() == "Your selection"
    assert turn.locator("a.read").count() == 0
    watched.clean()


def test_one_click_asks_the_section_or_the_whole_book(
    page: "Page", service: str, watched: Watched
) -> None:
    page.goto(f"{service}/read/{SAMPLE}/ros2-fundamentals/nodes-and-topics")
    sentence = "ROS 2 nodes communicate in three main ways"
    open_host(page, service, script(book=SAMPLE), body=f"<h1>P</h1><p id='a'>{sentence}</p>")
    choose(page, "#a", "#a")
    page.keyboard.press("Control+k")
    asked = questions_of(page)
    ask_and_wait(page, "What carries continuous streams of data?")
    chip = page.locator("bythebook-ask .chip")
    for name, badge in (
        ("This section", "From the section of"),
        ("Whole book", "From the whole book"),
    ):
        turns = page.locator("bythebook-ask .turn").count()
        chip.get_by_role("button", name=name).click()
        turn = page.locator("bythebook-ask .turn").nth(turns)
        turn.locator(".card:not(.looking)").wait_for()
        assert turn.locator(".badge").inner_text().startswith(badge)
        assert chip.get_by_role("button", name=name).get_attribute("aria-pressed") == "true"
    assert [one["scope"] for one in asked] == ["selection", "section", "book"]
    page.get_by_role("button", name="Let go of the selection").click()
    assert not chip.is_visible()
    watched.clean()


def test_a_text_that_is_not_in_the_book_has_no_section_and_that_is_said(
    page: "Page", service: str
) -> None:
    open_host(
        page,
        service,
        script(book=SAMPLE),
        body="<h1>P</h1><p id='a'>Herons fish at the river every morning.</p>",
    )
    choose(page, "#a", "#a")
    page.keyboard.press("Control+k")
    page.locator("bythebook-ask .chip").get_by_role("button", name="This section").click()
    turn = ask_and_wait(page, "Where do herons fish?")
    assert "its section is not known" in turn.locator(".card.failed").inner_text()


def test_letting_go_of_the_selection_takes_the_button_away(page: "Page", service: str) -> None:
    open_host(page, service, script(book=SAMPLE))
    page.locator("#second").select_text()
    page.locator("bythebook-ask button.about").wait_for()
    page.evaluate("getSelection().removeAllRanges()")
    page.locator("bythebook-ask button.about").wait_for(state="hidden")


def test_without_a_mouse_text_is_selected_and_asked_about(
    page: "Page", service: str, watched: Watched
) -> None:
    open_host(page, service, script(book=SAMPLE))
    page.evaluate(  # as searching in the page leaves the word that was found
        """() => { const text = document.querySelector('#second').firstChild;
        getSelection().setBaseAndExtent(text, 0, text, 1); }"""
    )
    for _ in range(9):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+End")
    page.locator("bythebook-ask button.about").wait_for()
    page.keyboard.press("Tab")  # past the field, which comes next in the page
    assert focused_tag(page) == "BUTTON.about"
    page.keyboard.press("Enter")
    assert focused_tag(page) == "TEXTAREA"
    page.keyboard.type("What is a service?")
    with page.expect_request("**/chat/stream") as asked:
        page.keyboard.press("Enter")
    assert request_body(asked.value)["selected_text"] == (
        "A service is a question with an answer, for work that ends soon."
    )
    page.locator("bythebook-ask .card.answer .confidence").wait_for()
    page.keyboard.press("Escape")
    assert focused_tag(page) == "BUTTON.launcher"
    watched.clean()


def test_tab_goes_its_way_where_the_reader_is_elsewhere(page: "Page", service: str) -> None:
    open_host(
        page,
        service,
        script(book=SAMPLE),
        body="<h1>P</h1><a id='one' href='#x'>one</a> "
        "<a id='two' href='#y'>two</a><p id='a'>A line that is selected.</p>",
    )
    choose(page, "#a", "#a")
    page.locator("bythebook-ask button.about").wait_for()
    page.locator("#one").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "two"


def test_by_touch_it_works_too(browser: "Browser", service: str) -> None:
    context = browser.new_context(
        has_touch=True, is_mobile=True, viewport={"width": 375, "height": 740}
    )
    page = context.new_page()
    open_host(page, service, script(book=SAMPLE))
    page.locator("#second").select_text()
    about = page.locator("bythebook-ask button.about")
    about.wait_for()
    box = about.bounding_box()
    assert box
    assert box["height"] >= 44
    about.tap()
    page.locator("bythebook-ask .chip").wait_for()
    assert re.match("“A service", page.locator("bythebook-ask .said").inner_text())
    context.close()


def test_it_can_be_turned_off_or_held_to_a_part_of_the_page(page: "Page", service: str) -> None:
    open_host(page, service, script(book=SAMPLE, selection="off"))
    page.locator("#second").select_text()
    page.wait_for_timeout(400)
    assert not page.locator("bythebook-ask button.about").is_visible()
    page.evaluate("document.querySelector('bythebook-ask').removeAttribute('selection')")
    page.evaluate(
        "document.querySelector('bythebook-ask').setAttribute('selection-root', '#first')"
    )
    for name, offered in (("#second", False), ("#first", True)):
        page.locator(name).select_text()
        assert_offered(page, offered)
