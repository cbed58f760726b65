"""An open service and pages of other sites: what a real browser tells of them keeps them from asking."""

import threading
from collections.abc import Iterator
from html import escape
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest
from tests.browser.test_widget_elsewhere import Site
from tests.browser.widget_pages import ANSWERED, PROSE, ask, host_page
from tests.conftest import SAMPLE

if TYPE_CHECKING:
    from playwright.sync_api import Page


class OtherSite(Site):
    """A site that is not the service's."""


@pytest.fixture(scope="module")
def port(service: str) -> Iterator[int]:
    """Where the other site is, with a page that tries to ask, and a link that may."""
    asked = f"{service}/?q={quote(ANSWERED)}"
    tags = (
        f'<img src="{escape(asked)}" alt=""><img src="{service}/search?q=robots" alt="">'
        f'<img src="{service}/read/{SAMPLE}?q=robots" alt="">'
        f'<p><a href="{escape(asked)}">Ask it</a></p>'
        f'<script src="{service}/widget.js" data-book="{SAMPLE}" async></script>'
    )
    OtherSite.page = host_page(PROSE).replace("</body>", f"{tags}</body>")
    site = ThreadingHTTPServer(("127.0.0.1", 0), OtherSite)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield site.server_address[1]
    site.shutdown()
    site.server_close()


def sum_counts(service: str, start: str) -> float:
    """Add up the numbers of the service whose names begin so."""
    lines = httpx.get(f"{service}/metrics", timeout=60).text.splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(start))


def questions(service: str) -> float:
    return sum_counts(service, "bythebook_questions_total{")


def searches(service: str, status: int) -> float:
    return sum_counts(
        service, f'bythebook_requests_total{{method="GET",route="/search",status="{status}"}}'
    )


# To a browser the same address on another port is the same site, and localhost is another.
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_another_site_can_show_a_question_but_not_ask_it(
    page: "Page", service: str, port: int, host: str
) -> None:
    before, refused, found = questions(service), searches(service, 403), searches(service, 200)
    page.goto(f"http://{host}:{port}/", wait_until="load")
    assert (searches(service, 403), searches(service, 200)) == (refused + 1, found)
    assert questions(service) == before

    page.get_by_role("link", name="Ask it").click()
    field = page.get_by_label("Your question")
    assert field.input_value() == ANSWERED
    assert page.locator(".reply").count() == 0
    assert questions(service) == before

    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".reply").wait_for()
    assert questions(service) == before + 1


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_without_a_key_the_widget_on_another_site_shows_that_it_failed(
    page: "Page", service: str, port: int, host: str
) -> None:
    before = questions(service)
    page.goto(f"http://{host}:{port}/")
    page.get_by_role("button", name="Ask the book").click()
    ask(page, ANSWERED).locator(".card.failed").wait_for()
    assert questions(service) == before
