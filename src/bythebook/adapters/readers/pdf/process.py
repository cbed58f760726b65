"""Runs the extraction in a child process, with time limits."""

import contextlib
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
MEGABYTE = 1 << 20
# A process that fails with so much memory in use was unpacking a bomb, if the file is so much smaller.
_BOMB_BYTES = 100 * MEGABYTE
_BOMB_RATIO = 200
_FAREWELL_SECONDS = 5.0  # for a stopped process to report its memory


@dataclass(frozen=True, slots=True)
class Limits:
    """How much time and text a book may take before the reader gives up."""

    silence_seconds: float = 8.0  # without output: the reader gives up the page
    seconds: float = 15.0  # for a book without text; text adds time
    characters_per_second: int = 30_000  # the slowest accepted
    # Allowed for any file, plus per byte of the file, because pages may share content.
    characters: int = 1_000_000
    characters_per_byte: int = 20
    runs: int = 50_000
    runs_per_byte: int = 1
    line_bytes: int = 32_000_000
    total_bytes: int = 120_000_000
    restarts: int = 3
    memory_bytes: int = 768 * MEGABYTE

    @property
    def memory(self) -> str:
        """The bound of memory, in words."""
        return f"{self.memory_bytes // MEGABYTE:,} MB of memory"


@dataclass(slots=True)
class _Progress:
    """The output so far, and whether more is accepted."""

    limits: Limits
    file_bytes: int
    taken: Extraction = field(default_factory=Extraction)
    started: float = field(default_factory=time.monotonic)
    expected: int | None = None
    next_page: int = 0
    received: int = 0
    ended: bool = False
    refused: str = ""
    peak_bytes: int = 0  # of memory that the last process used

    @property
    def met_bomb(self) -> bool:
        """Whether the last process filled up on what a small file unpacks to."""
        much = min(_BOMB_BYTES, 3 * self.limits.memory_bytes // 4)
        return self.peak_bytes > max(much, _BOMB_RATIO * self.file_bytes)

    def seconds_left(self) -> float:
        """Return the time until the reader gives up."""
        earned = self.taken.characters / self.limits.characters_per_second
        return self.started + self.limits.seconds + earned - time.monotonic()

    def is_over(self) -> bool:
        """Return True if the time is used up, or the text exceeds what the file size allows."""
        limits, taken = self.limits, self.taken
        characters = limits.characters + limits.characters_per_byte * self.file_bytes
        runs = limits.runs + limits.runs_per_byte * self.file_bytes
        too_much = taken.characters > characters or taken.runs > runs
        return too_much or self.seconds_left() <= 0

    def take(self, line: bytes) -> None:
        """Process a message; raise an error if it is malformed."""
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
        elif "peak" in message:
            self.peak_bytes = int(message["peak"])
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
    """Extract the text and the outline of a PDF, or raise UnreadableBook with advice."""
    progress = _Progress(limits or Limits(), path.stat().st_size)
    for _ in range(progress.limits.restarts + 1):
        _run_once(path, progress)
        if progress.refused:
            raise _refusal(path, progress.refused)
        if progress.ended or progress.expected is None or progress.is_over():
            break
        if progress.next_page >= progress.expected:  # only the outline is missing
            break
        failed = progress.taken.bombs if progress.met_bomb else progress.taken.unreadable
        failed.append(progress.next_page)
        progress.next_page += 1
    if progress.expected is None:
        raise _not_opened(path, progress)
    progress.taken.unread = max(progress.taken.claimed - progress.next_page, 0)
    return progress.taken


def _run_once(path: Path, progress: _Progress) -> None:
    """Start the process where the previous one stopped, and read its output until it ends."""
    command = [sys.executable, "-P", "-m", _EXTRACTOR, str(path.resolve())]
    progress.peak_bytes = 0
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    process = subprocess.Popen(  # noqa: S603 - our own module
        [*command, str(progress.next_page), str(progress.limits.memory_bytes)],
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
            _stop(process, progress)
        except (ValueError, KeyError, TypeError):
            return  # malformed output counts as an interrupted process
        finally:
            process.kill()


def _stop(process: subprocess.Popen[bytes], progress: _Progress) -> None:
    """Stop the extraction if it still runs, and take its last line: how much memory it used."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        rest, _ = process.communicate(timeout=_FAREWELL_SECONDS)
        if lines := rest.split():
            progress.take(lines[-1])


def _lines(process: subprocess.Popen[bytes], progress: _Progress) -> Iterator[bytes]:
    """Yield lines of output until the process ends, stalls or writes too much."""
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
            if line:
                yield bytes(line)


def is_bomb(path: Path, limits: Limits) -> UnreadableBook:
    """Refuse a book that unpacks beyond all measure."""
    return UnreadableBook(
        f"{path.name} is a decompression bomb: its {path.stat().st_size:,} bytes unpack beyond {limits.memory}.",
        "Take another copy of the book. If you trust this one, set BYTHEBOOK_PDF_MEMORY_MB higher.",
    )


def _not_opened(path: Path, progress: _Progress) -> UnreadableBook:
    if progress.met_bomb:
        return is_bomb(path, progress.limits)
    return UnreadableBook(
        f"{path.name} could not be opened as a PDF within the limits of memory and time.",
        "Open it in a PDF viewer and save it again, then run ingest again.",
    )


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
                "Open it in a PDF viewer and save it again, then run ingest again.",
            )
