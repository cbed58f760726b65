"""Debian's Chromium as a printer, spoken to over pipes: no port, no profile of its own."""

import base64
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

_SECONDS = 300


def find_chromium() -> str | None:
    """Find a Chromium to print by."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def print_pdf(page: Path, pdf: Path, profile: Path, options: Mapping[str, object]) -> None:
    """Print a page; `options` are those of the protocol's Page.printToPDF."""
    with _browser(profile) as browser:
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attach = {"targetId": target, "flatten": True}
        session = browser.call("Target.attachToTarget", attach)["sessionId"]
        browser.call("Page.enable", {}, session)
        browser.call("Page.navigate", {"url": page.as_uri()}, session)
        browser.wait("Page.loadEventFired")
        printed = browser.call("Page.printToPDF", options, session)
    pdf.write_bytes(base64.b64decode(printed["data"]))


class _Browser:
    """The DevTools protocol over two pipes: messages of JSON, each ended by a zero byte."""

    def __init__(self, write: int, read: int) -> None:
        self._write = write
        self._read = read
        self._pending = b""
        self._calls = 0
        self._deadline = time.monotonic() + _SECONDS

    def call(
        self, method: str, params: Mapping[str, object], session: str | None = None
    ) -> dict[str, Any]:
        self._calls += 1
        message: dict[str, object] = {"id": self._calls, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (reply := self._next()).get("id") != self._calls:
            pass
        assert "error" not in reply, reply
        result: dict[str, Any] = reply["result"]
        return result

    def wait(self, event: str) -> None:
        while self._next().get("method") != event:
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._pending:
            ready, _, _ = select([self._read], [], [], max(self._deadline - time.monotonic(), 0))
            assert ready, "Chromium did not answer in time"
            got = os.read(self._read, 1 << 20)
            assert got, "Chromium went away"
            self._pending += got
        line, _, self._pending = self._pending.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


@contextmanager
def _browser(profile: Path) -> Iterator[_Browser]:
    to_browser, our_write = os.pipe()
    our_read, from_browser = os.pipe()
    command = [
        find_chromium() or "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]  # fmt: skip
    # Chromium reads its pipe as descriptor 3 and writes it as 4.
    shell = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "print", *command]
    process = subprocess.Popen(
        shell, pass_fds=(to_browser, from_browser), start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_browser)
    os.close(from_browser)
    try:
        yield _Browser(our_write, our_read)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(our_write)
        os.close(our_read)
