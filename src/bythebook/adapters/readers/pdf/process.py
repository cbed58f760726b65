"""Runs the extraction in a process of its own and never waits for it without end."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bythebook.adapters.readers.pdf.extraction import ExtractedPage, Extraction, OutlineEntry
from bythebook.errors import UnreadableBook

_EXTRACTOR = "bythebook.adapters.readers.pdf.extract"
_KEPT_VARIABLES = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "HOME")
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a book may ask for before it is given up."""

    silence_seconds: float = 8.0  # without a word from the process: the page is given up
    seconds: float = 15.0  # for a book without text; text earns time
    characters_per_second: int = 30_000  # the slowest that is waited for
    # What any file may hold, and on top for each of its bytes: pages may share what they show.
    characters: int = 1_000_000
    characters_per_byte: int = 20
    runs: int = 50_000
    runs_per_byte: int = 1
    line_bytes: int = 32_000_000
    total_bytes: int = 120_000_000
    restarts: int = 3


@dataclass(slots=True)
class _Progress:
    """What came so far, and whether more may follow."""

    limits: Limits
    file_bytes: int
    taken: Extraction = field(default_factory=Extraction)
    started: float = field(default_factory=time.monotonic)
    expected: int | None = None
    next_page: int = 0
    received: int = 0
    ended: bool = False
    refused: str = ""

    def seconds_left(self) -> float:
        """Give the time until the book is given up."""
        earned = self.taken.characters / self.limits.characters_per_second
        return self.started + self.limits.seconds + earned - time.monotonic()

    def is_over(self) -> bool:
        """Say whether the book has had its time, or given more text than its size allows."""
        limits, taken = self.limits, self.taken
        characters = limits.characters + limits.characters_per_byte * self.file_bytes
        runs = limits.runs + limits.runs_per_byte * self.file_bytes
        too_much = taken.characters > characters or taken.runs > runs
        return too_much or self.seconds_left() <= 0

    def take(self, line: bytes) -> None:
        """Take a message; what does not read like one is an error."""
        message = json.loads(line)
        if "page" in message:
            self._take_page(message, line)
        elif "pages" in message:
            self.expected = int(message["pages"])
            self.taken.claimed = int(message["claimed"])
            self.taken.title = str(message["title"])
        elif "outline" in message:
            self.taken.outline = [
                OutlineEntry(int(level), str(title), int(page), float(height))
                for level, title, page, height in message["outline"]
            ]
        elif "refused" in message:
            self.refused = str(message["refused"])
        else:
            self.ended = bool(message["end"])

    def _take_page(self, message: dict[str, object], line: bytes) -> None:
        number = int(str(message["page"]))
        self.next_page = number + 1
        if "unreadable" in message:
            self.taken.unreadable.append(number)
            return
        page = ExtractedPage(number, str(message["label"]), line, bool(message["picture"]))
        runs = page.runs()
        self.taken.runs += len(runs)
        self.taken.characters += sum(len(run.text) for run in runs)
        self.taken.pages.append(page)
        if message["cut"]:
            self.taken.cut.append(number)


def extract(path: Path, limits: Limits | None = None) -> Extraction:
    """Take the text and the outline out of a PDF, or raise UnreadableBook with what to do."""
    progress = _Progress(limits or Limits(), path.stat().st_size)
    for _ in range(progress.limits.restarts + 1):
        _run_once(path, progress)
        if progress.refused:
            raise _refusal(path, progress.refused)
        if progress.ended or progress.expected is None or progress.is_over():
            break
        if progress.next_page >= progress.expected:  # only the outline is missing
            break
        progress.taken.unreadable.append(progress.next_page)
        progress.next_page += 1
    if progress.expected is None:
        raise UnreadableBook(
            f"{path.name} could not be opened as a PDF within the limits of memory and time.",
            "Open it in a PDF viewer and save it anew, then run ingest again.",
        )
    progress.taken.unread = max(progress.taken.claimed - progress.next_page, 0)
    return progress.taken


def _run_once(path: Path, progress: _Progress) -> None:
    """Start the process where the one before broke off, and listen until it ends."""
    command = [sys.executable, "-P", "-m", _EXTRACTOR, str(path.resolve())]
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    process = subprocess.Popen(  # noqa: S603 - our own module
        [*command, str(progress.next_page)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=kept,
        start_new_session=True,
    )
    with process:
        try:
            for line in _lines(process, progress):
                progress.take(line)
        except (ValueError, KeyError, TypeError):
            return  # what it says makes no sense any more: as good as broken off
        finally:
            process.kill()


def _lines(process: subprocess.Popen[bytes], progress: _Progress) -> Iterator[bytes]:
    """Give lines as they come, until the process ends, falls silent or says too much."""
    limits = progress.limits
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    waiting = bytearray()
    ears = select.poll()
    ears.register(process.stdout, select.POLLIN | select.POLLHUP)
    while True:
        patience = max(min(limits.silence_seconds, progress.seconds_left()), 0)
        if progress.is_over() or not ears.poll(patience * 1000):
            return
        heard = os.read(process.stdout.fileno(), _READ_BYTES)
        progress.received += len(heard)
        waiting += heard
        too_much = len(waiting) > limits.line_bytes or progress.received > limits.total_bytes
        if not heard or too_much:
            return
        *whole, rest = waiting.split(b"\n")
        waiting = rest
        for line in whole:
            yield bytes(line)


def _refusal(path: Path, reason: str) -> UnreadableBook:
    match reason:
        case "password":
            return UnreadableBook(
                f"{path.name} is locked with a password.",
                "Save it without the password (for example with qpdf --decrypt), then ingest that.",
            )
        case "file":
            return UnreadableBook(f"{path.name} cannot be opened.", "Check its permissions.")
        case _:
            return UnreadableBook(
                f"{path.name} is not a PDF, or is damaged.",
                "Open it in a PDF viewer and save it anew, then run ingest again.",
            )
