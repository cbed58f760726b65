"""Real Chromium for tests: found, started without its own traffic, and watched."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from tests.rendered.chromium import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "reports" / "screens"
BUILT = ROOT / "src" / "bythebook" / "web"
AXE = ROOT / "widget" / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = (375, 768, 1440)
STRICT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'"
)
# Where axe cannot tell the contrast, as of text that is scrolled half out of sight, it is computed: from the
# text's colour and that of the nearest ancestor that is painted. What cannot be decided then is a finding.
_RUN_AXE = """(() => {
  const channels = text => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return {rgb: [r, g, b], a}; };
  const light = rgb => rgb.map(one => one / 255)
    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const painted = node => {
    for (let at = node; at; at = at.assignedSlot ?? at.parentElement ?? at.getRootNode().host) {
      const style = getComputedStyle(at), colour = channels(style.backgroundColor);
      if (style.backgroundImage !== 'none' || style.opacity !== '1' || style.filter !== 'none') return null;
      if (colour.a === 1) return colour.rgb;
      if (colour.a > 0) return null;
    }
    return [255, 255, 255];
  };
  const contrast = node => {
    const text = channels(getComputedStyle(node).color), back = painted(node);
    if (!back || text.a < 1) return 0;
    const [low, high] = [light(text.rgb), light(back)].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  };
  const told = (one, node) => `${one.id}: ${node.target.join(' ')} ${node.failureSummary}`;
  return axe.run(document, {elementRef: true, rules: {'target-size': {enabled: true}}}).then(found => [
    ...found.violations.flatMap(one => one.nodes.map(node => told(one, node))),
    ...found.incomplete.flatMap(one => one.nodes
      .filter(node => one.id === 'color-contrast' && contrast(node.element) < 4.5)
      .map(node => `undecided ${told(one, node)}`)),
  ]);
})()"""
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
)


def need(present: object, missing: str) -> None:
    """Skip, or in CI fail, where something that a browser test needs is not there."""
    if not present:
        if os.environ.get("CI"):
            pytest.fail(f"{missing} must be there in CI")
        pytest.skip(f"{missing} is not there")


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Start Chromium for the length of a with block."""
    path = find_chromium()
    need(path, "Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        need(None, "playwright for Python")
        raise
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Watched:
    """What a page did that no page of ours may do, and what it loaded."""

    own: tuple[str, ...]  # origins that it may speak to
    dialogs: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def clean(self) -> None:
        """Require that no dialog, no foreign request and no script error came up."""
        assert self.dialogs == []
        assert self.foreign == []
        assert self.errors == []


def watch(page: "Page", *own: str) -> Watched:
    """Note dialogs, requests to other origins, script errors and breaches of the page's policy."""
    seen = Watched(own)

    def on_request(url: str) -> None:
        seen.requests.append(url)
        parts = urlsplit(url)
        if (
            parts.scheme not in {"data", "blob", "about"}
            and f"{parts.scheme}://{parts.netloc}" not in own
        ):
            seen.foreign.append(url)

    def on_dialog(dialog: "Dialog") -> None:
        seen.dialogs.append(dialog.message)
        dialog.dismiss()

    def on_console(kind: str, text: str) -> None:
        if kind == "error" and "Failed to load resource" not in text:  # a status we asked for
            seen.errors.append(text)

    page.on("dialog", on_dialog)
    page.on("request", lambda request: on_request(request.url))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", lambda message: on_console(message.type, message.text))
    return seen


def screenshot(page: "Page", name: str) -> Path:
    """Write what is seen to reports/screens/, to be looked at."""
    SCREENS.mkdir(parents=True, exist_ok=True)
    path = SCREENS / f"{name}.png"
    page.screenshot(path=str(path))
    return path


def axe_violations(page: "Page") -> list[str]:
    """Run axe-core over the page, shadow roots too, past the page's own policy."""
    need(AXE.exists(), "axe-core (npm ci in widget/)")
    session = page.context.new_cdp_session(page)
    session.send("Runtime.enable")
    session.send("Runtime.evaluate", {"expression": AXE.read_text("utf-8")})
    run = {"expression": _RUN_AXE, "awaitPromise": True, "returnByValue": True}
    checked = session.send("Runtime.evaluate", run)
    session.detach()
    assert "exceptionDetails" not in checked, checked
    found: list[str] = checked["result"]["value"]
    return found
