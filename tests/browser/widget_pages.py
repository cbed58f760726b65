"""Pages that the widget stands in, at the service's own address, and hands to use it by."""

from typing import TYPE_CHECKING, Any

import httpx
from tests.browser.browser import STRICT_POLICY
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Request

ANSWERED = "How do ROS 2 nodes communicate?"
PARTIAL = "What are the steps to create a ROS 2 package and who won the world cup?"
CODE = "Show the code of a minimal publisher"
FORMULA = "How fast does the head of a 1.7 m robot strike the floor when it tips over?"
STEPS = "What are the steps to create a ROS 2 publisher?"
REFUSED = "Who won the football world cup in 1998?"
LOOK_ALIKE = "How fast could the robot Shakey drive?"
PROSE = """<h1>A page about robots</h1>
<p id="first">Nodes exchange messages over named topics, and any number of nodes may listen.</p>
<p id="second">A service is a question with an answer, <b>for work</b> that ends soon.</p>
<p>In between there is a field: <input id="field" aria-label="A field"></p>"""


def host_page(body: str, lang: str = "en", direction: str = "ltr") -> str:
    """Write a page with some text, into which the script puts the widget."""
    return (
        f'<!doctype html><html lang="{lang}" dir="{direction}"><head><meta charset="utf-8"><title>Host</title>'
        f'<meta name="viewport" content="width=device-width"></head><body><main>{body}</main></body></html>'
    )


def open_host(page: "Page", service: str, tags: str, body: str = PROSE, **html: str) -> None:
    """Open a page of the service's origin, under a strict policy, that holds the given tags."""
    address = f"{service}/a-page-of-the-test"
    shown = host_page(body, **html).replace("</body>", f"{tags}</body>")
    headers = {"Content-Security-Policy": STRICT_POLICY, "Content-Type": "text/html"}
    page.route(address, lambda route: route.fulfill(body=shown, headers=headers))
    page.goto(address)
    page.wait_for_selector("bythebook-ask", state="attached")


def script(**data: str) -> str:
    """Write the one tag that puts the widget into a page."""
    given = "".join(f" data-{name.replace('_', '-')}='{value}'" for name, value in data.items())
    return f'<script src="/widget.js" async{given}></script>'


def open_widget(page: "Page", service: str, **data: str) -> None:
    """Open a page with the widget, and its panel."""
    open_host(page, service, script(**data))
    page.keyboard.press("/")
    page.locator("bythebook-ask textarea").wait_for()


def ask(page: "Page", question: str) -> "Locator":
    """Type a question and press Enter; give its turn."""
    turns = page.locator("bythebook-ask .turn")
    before = turns.count()
    field = page.locator("bythebook-ask textarea")
    field.fill(question)
    field.press("Enter")
    turn = turns.nth(before)
    turn.wait_for()
    return turn


def ask_and_wait(page: "Page", question: str) -> "Locator":
    """Ask, and wait for the whole reply."""
    turn = ask(page, question)
    turn.locator(".card:not(.looking)").wait_for()
    page.wait_for_function(
        "() => !document.querySelector('bythebook-ask').shadowRoot.querySelector('.send[aria-label=Stop]')"
    )
    return turn


def settled(turn: "Locator") -> str:
    """Wait until an answer's words are set as their author did, and give its HTML."""
    for excerpt in turn.locator(".excerpt").all():
        excerpt.scroll_into_view_if_needed()
        turn.page.wait_for_function(
            "one => one.matches('.set')", arg=excerpt.element_handle(), timeout=120_000
        )
    html: str = turn.locator(".body").inner_html()
    return html


def chat(service: str, question: str) -> dict[str, Any]:
    """Ask the service itself."""
    reply = httpx.post(
        f"{service}/chat/run", json={"message": question, "book": SAMPLE}, timeout=120
    )
    body: dict[str, Any] = reply.raise_for_status().json()
    return body


def key_links(reply: dict[str, Any]) -> list[str]:
    """The links of an answer's numerals: one for each sentence that answers."""
    links: dict[int, str] = {}
    for citation in reply["citations"]:
        if citation["key"]:
            links.setdefault(citation["sentence"], citation["link"])
    assert list(links) == reply["key_sentences"]
    return list(links.values())


def opening_kind(disclaimer: str) -> str:
    """The heading of an answer that opens with a disclaimer."""
    sound = disclaimer.startswith("The book does not say")
    return "Answer, in part" if sound else "Answer, with caution"


def answer_text(turn: "Locator") -> str:
    """The text of an answer without numerals and sources, spaces folded."""
    text: str = turn.locator(".body").evaluate(
        """node => { const copy = node.cloneNode(true);
        copy.querySelectorAll('.sources, .numeral, .mark, .language, button, .whole').forEach(one => one.remove());
        copy.querySelectorAll('math').forEach(one => one.replaceWith(one.getAttribute('alttext')));
        copy.querySelectorAll('p, li, td, th, pre').forEach(one => one.append(' '));
        return copy.textContent; }"""
    )
    return " ".join(text.split())


def list_announcements(page: "Page") -> list[str]:
    """What a screen reader was given to say."""
    return page.locator("bythebook-ask [aria-live=polite] p").all_text_contents()


def focused_tag(page: "Page") -> str:
    """The tag that has the focus, through shadow roots."""
    tag: str = page.evaluate(
        """() => { let at = document.activeElement;
        while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
        return at ? at.tagName + (at.className ? '.' + at.className : '') : ''; }"""
    )
    return tag


def request_body(request: "Request") -> dict[str, Any]:
    """What a request carried."""
    body = request.post_data_json
    assert isinstance(body, dict)
    return body


def questions_of(page: "Page") -> list[dict[str, Any]]:
    """What the page will have asked, as it is asked."""
    asked: list[dict[str, Any]] = []

    def note(request: "Request") -> None:
        if request.url.endswith("/chat/stream"):
            asked.append(request_body(request))

    page.on("request", note)
    return asked
