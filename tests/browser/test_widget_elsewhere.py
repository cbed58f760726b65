"""The widget on another site than the service's: by a key that is good there, and nowhere else."""

import asyncio
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from tests.browser.browser import watch
from tests.browser.widget_pages import ANSWERED, PROSE, ask, ask_and_wait, host_page
from tests.conftest import SAMPLE, free_port, serve_core

from bythebook.bootstrap import Core
from bythebook.domain.records import KeyTerms
from bythebook.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Page


@dataclass(frozen=True)
class Elsewhere:
    """A service with keys, and two sites; the key belongs to the first."""

    service: str
    site: str
    stranger: str
    key: str


class Site(BaseHTTPRequestHandler):
    """A site of one page."""

    page = ""

    def do_GET(self) -> None:
        body = self.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def elsewhere(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Elsewhere]:
    """The sample book behind keys, and two sites that want to use it."""
    folder = tmp_path_factory.mktemp("keyed") / "data"
    shutil.copytree(
        sample_core.settings.data_dir, folder, ignore=shutil.ignore_patterns("records*", "open")
    )
    core = Core(Settings(data_dir=folder, port=free_port(), limit_key=0, limit_session=0))
    sites = [ThreadingHTTPServer(("127.0.0.1", 0), Site) for _ in range(2)]
    names = [f"http://127.0.0.1:{site.server_address[1]}" for site in sites]
    threads = [threading.Thread(target=site.serve_forever, daemon=True) for site in sites]
    for thread in threads:
        thread.start()
    key = make_key(core, names[0])
    with serve_core(core) as server:
        tag = f'<script src="{server.url}/widget.js" data-book="{SAMPLE}" data-key="{key}" async></script>'
        Site.page = host_page(PROSE).replace("</body>", f"{tag}</body>")
        yield Elsewhere(server.url, names[0], names[1], key)
    for site in sites:
        site.shutdown()
        site.server_close()
    core.close()


def make_key(core: Core, origin: str) -> str:
    """Make a key for a site, in a thread: a browser's event loop may be in this one."""
    made: list[str] = []

    async def create() -> None:
        async with core.keys() as store:
            issued = await store.create(KeyTerms("ask", origins=(origin,)), datetime.now(UTC))
            made.append(issued.secret)

    thread = threading.Thread(target=lambda: asyncio.run(create()))
    thread.start()
    thread.join()
    return made[0]


def test_one_tag_and_a_key_are_enough_on_another_site(page: "Page", elsewhere: Elsewhere) -> None:
    seen = watch(page, elsewhere.service, elsewhere.site)
    page.goto(elsewhere.site)
    page.get_by_role("button", name="Ask the book").click()
    turn = ask_and_wait(page, ANSWERED)
    assert turn.locator(".card.answer .numeral").count() > 0
    turn.get_by_role("button", name="Show more").first.click()
    turn.locator(".whole").first.wait_for()
    assert turn.locator(".nearest a").count() > 1
    link = turn.locator("a.read").first
    assert (link.get_attribute("href") or "").startswith(f"{elsewhere.service}/read/")
    assert (link.get_attribute("target"), link.get_attribute("rel")) == (
        "_blank",
        "noopener noreferrer",
    )
    with page.expect_response("**/feedback") as given:
        turn.get_by_role("button", name="Helpful", exact=True).click()
    assert given.value.status == 204
    page.reload()
    page.locator("bythebook-ask .turn .numeral").first.wait_for()
    page.get_by_role("button", name="New conversation").click()
    page.locator("bythebook-ask .hint").wait_for()
    seen.clean()


def test_the_same_key_is_of_no_use_on_a_strangers_site(page: "Page", elsewhere: Elsewhere) -> None:
    page.goto(elsewhere.stranger)
    page.get_by_role("button", name="Ask the book").click()
    turn = ask(page, ANSWERED)
    turn.locator(".card.failed").wait_for()
    assert turn.locator(".numeral, .nearest a").count() == 0


def test_the_key_goes_to_the_service_in_a_header_and_never_in_an_address(
    page: "Page", elsewhere: Elsewhere
) -> None:
    sent: list[tuple[str, str]] = []
    page.on("request", lambda one: sent.append((one.url, one.headers.get("authorization", ""))))
    page.goto(elsewhere.site)
    page.get_by_role("button", name="Ask the book").click()
    ask_and_wait(page, ANSWERED)
    assert all(elsewhere.key not in url for url, _ in sent)
    asked = [header for url, header in sent if "/chat/stream" in url]
    assert asked == [f"Bearer {elsewhere.key}"]
    assert elsewhere.key not in page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}])"
    )
