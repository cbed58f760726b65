"""The Docusaurus plugin: what it puts into pages, and a real site of the sample book with it."""

import asyncio
import functools
import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser.browser import ROOT, need, screenshot, watch
from tests.browser.widget_pages import ANSWERED, ask_and_wait
from tests.conftest import SAMPLE, free_port, serve_core

import bythebook
from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.records import KeyTerms
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Page

WHOLE = bool(os.environ.get("DOCUSAURUS"))  # the whole book's site, which takes minutes
PAGES = ("intro.md", "glossary.md", "02-ros2-fundamentals")
PLUGIN = ROOT / "integrations" / "docusaurus"
SITE = Path(__file__).parent / "docusaurus_site"
NODE = shutil.which("node")
GOOD = {"service": "https://ask.example.org", "book": "my-book", "key": "btb_abc"}
MAGENTA = "#ff00ff"


# The plugin alone


def plugin(options: object) -> subprocess.CompletedProcess[str]:
    """Have node make the plugin as Docusaurus does, and print the tags of a page."""
    need(NODE, "node")
    code = (
        "const make = require(process.argv[1]), given = JSON.parse(process.argv[2]);"
        "const options = make.validateOptions({options: given, validate: () => {}});"
        "const made = make({}, options);"
        "console.log(JSON.stringify([made.name, made.injectHtmlTags({})]));"
    )
    return subprocess.run(
        [str(NODE), "-e", code, str(PLUGIN), json.dumps(options)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def attributes(options: object) -> dict[str, Any]:
    done = plugin(options)
    assert done.returncode == 0, done.stderr
    name, tags = json.loads(done.stdout)
    assert name == "bythebook-docusaurus"
    (tag,) = tags["headTags"]
    assert tag["tagName"] == "script"
    found: dict[str, Any] = tag["attributes"]
    return found


def test_three_options_put_one_script_into_the_page() -> None:
    assert attributes(GOOD) == {
        "src": "https://ask.example.org/widget.js",
        "async": True,
        "data-book": "my-book",
        "data-key": "btb_abc",
    }


def test_every_option_becomes_an_attribute_of_the_script() -> None:
    more = {
        "service": "https://example.org/ask/",
        "mode": "inline",
        "corner": "start",
        "selection": "off",
        "shortcut": "off",
        "label": 'Ask "this" <book>',
        "strings": {"title": "Frag das Buch"},
        "id": "default",
    }
    assert attributes(GOOD | more) == {
        "src": "https://example.org/ask/widget.js",
        "async": True,
        "data-book": "my-book",
        "data-key": "btb_abc",
        "data-mode": "inline",
        "data-corner": "start",
        "data-selection": "off",
        "data-shortcut": "off",
        "data-label": 'Ask "this" <book>',
        "data-strings": '{"title":"Frag das Buch"}',
    }


def test_a_service_on_this_machine_needs_no_key() -> None:
    found = attributes({"service": "http://127.0.0.1:8000", "book": "my-book"})
    assert "data-key" not in found


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (None, "needs options. Write: ['bythebook-docusaurus'"),
        ({}, 'needs the option "service"'),
        (GOOD | {"service": "ask.example.org"}, 'needs the option "service"'),
        (GOOD | {"service": "javascript:alert(1)"}, "to begin with https://"),
        (GOOD | {"service": "https://me:secret@ask.example.org"}, "takes no name, password"),
        (GOOD | {"service": "https://ask.example.org/?x=1"}, "takes no name, password"),
        ({"service": GOOD["service"]}, 'needs the option "book"'),
        (GOOD | {"book": "My Book"}, "`bythebook books list` shows"),
        (GOOD | {"key": 5}, "bythebook keys create --scope ask --origin"),
        (GOOD | {"key": "two words"}, 'cannot use the option "key"'),
        (GOOD | {"mode": "popup"}, "Choose one of: floating, inline."),
        (GOOD | {"label": 5}, 'cannot use the option "label"'),
        (GOOD | {"strings": ["x"]}, 'cannot use the option "strings"'),
        (GOOD | {"boook": "x"}, 'does not know the option "boook". It knows: service, book, key'),
    ],
)
def test_a_wrong_option_stops_the_build_and_says_what_to_write(options: object, told: str) -> None:
    done = plugin(options)
    assert done.returncode != 0
    assert "Error: bythebook-docusaurus " in done.stderr
    assert told in done.stderr
    assert "secret" not in done.stderr.partition("Error:")[2].partition("\n")[0]


def test_the_package_names_what_it_publishes_and_has_the_version_of_the_service() -> None:
    package = json.loads((PLUGIN / "package.json").read_text("utf-8"))
    assert package["version"] == bythebook.__version__
    assert all((PLUGIN / name).is_file() for name in package["files"])
    assert "dependencies" not in package
    assert "bythebook ingest" in (PLUGIN / "README.md").read_text("utf-8")


# A real site


@dataclass(frozen=True)
class BuiltSite:
    """The sample book's site, served, and the service behind its widget."""

    url: str
    service: str


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def install_docusaurus() -> Path:
    """Give a folder with Docusaurus in it, installed once for each lock file."""
    if not WHOLE and not os.environ.get("CI"):
        pytest.skip("Docusaurus takes a minute to install and build: run `make docusaurus`")
    need(NODE and shutil.which("npm"), "node with npm")
    lock = (SITE / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "bythebook"
    folder = cache / f"docusaurus-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not (folder / "done").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(SITE / name, folder)
        install = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(install, cwd=folder, check=True, timeout=1200)
        (folder / "done").touch()
    return folder / "node_modules"


def build_site(folder: Path, modules: Path, **environment: str) -> Path:
    """Build the site of the sample book or of a part of it, with the plugin found by its name."""
    site = folder / "site"
    shutil.rmtree(modules / ".cache", ignore_errors=True)  # a killed build leaves it broken
    shutil.copytree(sample_book(), site)
    for path in (site / "docs").iterdir():
        if not WHOLE and path.name not in PAGES:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.copy(SITE / "docusaurus.config.js", site)
    shutil.copy(SITE / "package.json", site)
    (site / "node_modules").symlink_to(modules)
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "bythebook-docusaurus").symlink_to(PLUGIN)
    command = [str(NODE), "node_modules/@docusaurus/core/bin/docusaurus.mjs", "build"]
    command += [] if WHOLE else ["--no-minify"]
    given = {
        **os.environ,
        **environment,
        "WHOLE_BOOK": "1" if WHOLE else "",
        "DOCUSAURUS_DISABLE_UPDATE_CHECK": "1",
        "NO_UPDATE_NOTIFIER": "1",
    }
    done = subprocess.run(
        command, cwd=site, env=given, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return site / "build"


async def _key(core: Core, origin: str) -> str:
    async with core.database() as database:
        terms = KeyTerms("ask", books=(SAMPLE,), origins=(origin,))
        return (await SqlKeyStore(database).create(terms, datetime.now(UTC))).secret


@pytest.fixture(scope="module")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltSite]:
    modules = install_docusaurus()
    folder = tmp_path_factory.mktemp("docusaurus")
    site_port = free_port()
    url = f"http://127.0.0.1:{site_port}"
    core = Core(Settings(data_dir=folder / "library", port=free_port(), limit_key=0))
    order = IngestOrder(str(sample_book()), SAMPLE, base_url=url)
    asyncio.run(ingest(order, core.ingest, lambda _: None))
    key = asyncio.run(_key(core, url))
    with serve_core(core) as server:
        pages = build_site(folder, modules, SITE_URL=url, SERVICE_URL=server.url, ASK_KEY=key)
        handler = functools.partial(_Quiet, directory=str(pages))
        with ThreadingHTTPServer(("127.0.0.1", site_port), handler) as web:
            threading.Thread(target=web.serve_forever, daemon=True).start()
            yield BuiltSite(url, server.url)
            web.shutdown()
    core.close()


def test_the_widget_answers_in_the_site_and_outlives_a_change_of_page(
    built_site: BuiltSite, page: "Page"
) -> None:
    seen = watch(page, built_site.url, built_site.service)
    page.goto(f"{built_site.url}/docs/")
    page.wait_for_selector("bythebook-ask", state="attached")
    page.evaluate("window.sameLoad = true")
    page.keyboard.press("/")
    page.locator("bythebook-ask textarea").wait_for()
    turn = ask_and_wait(page, ANSWERED)
    assert turn.locator(".card.answer").count() == 1
    page.evaluate(
        'document.querySelector(\'a[href="/docs/glossary"], a[href="/docs/glossary/"]\').click()'
    )
    page.wait_for_url("**/docs/glossary*")
    page.locator("h1", has_text="Glossary").wait_for()
    assert page.evaluate("window.sameLoad")  # the page was not loaded again
    assert page.locator("bythebook-ask").count() == 1
    assert page.locator("bythebook-ask .turn").count() == 1
    assert ask_and_wait(page, "What is URDF?").locator(".card.answer").count() == 1
    screenshot(page, "docusaurus-widget")
    seen.clean()


def test_a_quote_opens_the_sites_page_scrolled_to_it_and_highlighted(
    built_site: BuiltSite, page: "Page"
) -> None:
    page.goto(f"{built_site.url}/docs/")
    page.wait_for_selector("bythebook-ask", state="attached")
    page.keyboard.press("/")
    page.locator("bythebook-ask textarea").wait_for()
    turn = ask_and_wait(page, ANSWERED)
    quote = turn.locator(".key").first.inner_text()
    address = turn.locator("a.numeral").first.get_attribute("href") or ""
    assert address.startswith(f"{built_site.url}/docs/")
    assert ":~:text=" in address
    opened = page.context.new_page()
    opened.set_viewport_size({"width": 1200, "height": 800})
    opened.goto(address)
    opened.wait_for_load_state("networkidle")
    opened.add_style_tag(content=f"::target-text {{ background: {MAGENTA}; color: #000 }}")
    opened.wait_for_timeout(500)
    first_words = " ".join(quote.split()[:4])
    box = opened.locator("article").get_by_text(first_words).first.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 800
    shot = screenshot(opened, "docusaurus-quote")
    assert count_marked_pixels(opened, shot) > 500


def count_marked_pixels(page: "Page", shot: Path) -> int:
    """Count the pixels of a screenshot that have the colour of a highlight."""
    blank = page.context.new_page()
    count: int = blank.evaluate(
        """async bytes => { const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
        const canvas = new OffscreenCanvas(picture.width, picture.height), at = canvas.getContext('2d');
        at.drawImage(picture, 0, 0);
        const seen = at.getImageData(0, 0, picture.width, picture.height).data;
        let count = 0;
        for (let i = 0; i < seen.length; i += 4) if (seen[i] > 240 && seen[i + 1] < 40 && seen[i + 2] > 240) count++;
        return count; }""",
        list(shot.read_bytes()),
    )
    return count
