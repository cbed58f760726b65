"""What browser tests share: the real service over the sample book, and real Chromium.

Playwright keeps an event loop of its own in the thread that uses it, in which `asyncio.run` cannot
be called; so a browser lives no longer than its module, and `service` is made before it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.browser.browser import Watched, chromium, watch

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def service(client: httpx.Client) -> str:
    """The address of a real service, open, with the sample book."""
    return str(client.base_url).rstrip("/")


@pytest.fixture(scope="module")
def browser(service: str) -> Iterator["Browser"]:
    """A Chromium for the tests of a module."""
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: "Browser") -> Iterator["Page"]:
    """A page of a browser profile of its own, 1440 by 900, in English and light."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        locale="en-GB",
        color_scheme="light",
        permissions=["clipboard-read", "clipboard-write"],
    )
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


@pytest.fixture
def watched(page: "Page", service: str) -> Watched:
    """What the page does; it may speak to the service only."""
    return watch(page, service)
