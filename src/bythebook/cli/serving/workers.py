"""`serve --workers N`: several processes behind one socket.

One that dies is started again; on SIGHUP all are replaced, one after another.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from bythebook.cli.terminal import say
from bythebook.errors import ByTheBookError, InputError
from bythebook.settings import PREFIX, Settings

START_SECONDS = 120.0  # until a worker must be ready
MOST_FAILED_STARTS = 3  # in a row, before all is given up
_CLOSE_SECONDS = 5  # beyond the grace time
_BACKLOG = 512
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


def require_shared_counts(settings: Settings) -> None:
    """Raise InputError where each worker would count its requests for itself."""
    limits = settings.limit_key or settings.limit_session or settings.limit_ip
    if limits and not settings.redis_url.get_secret_value():
        raise InputError(
            "Several workers can count requests together only in a Redis.",
            "Set BYTHEBOOK_REDIS_URL, or set BYTHEBOOK_LIMIT_KEY, _SESSION and _IP to 0.",
        )


def run_workers(settings: Settings, number: int) -> None:
    """Serve by several processes until a signal ends it."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(_BACKLOG)
        share = {f"{PREFIX}THREADS": str(max(1, settings.threads // number))}
        with _wake_on_signals() as signals:
            _Crew(settings, listening.fileno(), share, number).run(signals)


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    ready: int  # a pipe on which it says that it is ready
    is_ready: bool = False
    deadline: float = field(default_factory=lambda: time.monotonic() + START_SECONDS)

    def check(self) -> bool:
        """Return True if the worker has ended; note whether it is ready."""
        if not self.is_ready and select.select([self.ready], [], [], 0)[0]:
            self.is_ready = bool(os.read(self.ready, 1))
        return self.process.poll() is not None

    def stop(self, sign: int = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(sign)

    def close(self) -> None:
        os.close(self.ready)


class _Crew:
    """The workers, and what becomes of them."""

    def __init__(
        self, settings: Settings, listening: int, share: Mapping[str, str], number: int
    ) -> None:
        self._settings = settings
        self._listening = listening
        self._share = share
        self._number = number
        self._workers: list[_Worker] = []
        self._leaving: list[_Worker] = []  # asked to end
        self._to_replace: list[_Worker] = []  # once their successor is ready
        self._failed = 0

    def run(self, signals: int) -> None:
        """Keep the workers running until a signal ends them."""
        say(f"Serving by {self._number} processes on {self._settings.host}:{self._settings.port}.")
        self._workers = [self._start() for _ in range(self._number)]
        try:
            while not self._is_stopped(signals):
                self._tend()
        finally:
            self._stop_all()

    def _start(self) -> _Worker:
        ready, tell = os.pipe()
        settings = self._settings
        command = [sys.executable, "-m", "bythebook", "serve", "--host", settings.host]
        command += ["--port", str(settings.port), "--socket", str(self._listening)]
        try:
            process = subprocess.Popen(  # noqa: S603 - our own command
                [*command, "--ready", str(tell)],
                pass_fds=(self._listening, tell),
                env={**os.environ, **self._share},
            )
        finally:
            os.close(tell)
        return _Worker(process, ready)

    def _is_stopped(self, signals: int) -> bool:
        """Wait for signals or a while, and act on them; return True if one ends the service."""
        pipes = [worker.ready for worker in self._workers if not worker.is_ready]
        found = select.select([signals, *pipes], [], [], 1.0)[0]
        got = set(os.read(signals, 64)) if signals in found else set()
        if signal.SIGHUP in got and not self._to_replace:
            self._to_replace = list(self._workers)
            self._workers.append(self._start())
        return bool(got & {signal.SIGTERM, signal.SIGINT})

    def _tend(self) -> None:
        for worker in [one for one in self._leaving if one.check()]:
            self._leaving.remove(worker)
            worker.close()
        for worker in list(self._workers):
            late = not worker.is_ready and time.monotonic() > worker.deadline
            if worker.check():
                self._replace_dead(worker)
            elif worker.is_ready:
                self._failed = 0
            elif late:
                worker.stop(signal.SIGKILL)
        self._go_on_replacing()

    def _replace_dead(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.close()
        if worker in self._to_replace:
            self._to_replace.remove(worker)
        if not worker.is_ready:
            self._failed += 1
            if self._failed >= MOST_FAILED_STARTS:
                raise ByTheBookError(
                    "The workers end before they are ready.",
                    "Their log says why. `bythebook serve` alone may say it more clearly.",
                )
        if len(self._workers) < self._number:
            self._workers.append(self._start())

    def _go_on_replacing(self) -> None:
        """End an old worker once a new one is ready, and start the next new one."""
        if not self._to_replace or not self._workers[-1].is_ready:
            return
        old = self._to_replace.pop(0)
        if old in self._workers:
            self._workers.remove(old)
            self._leaving.append(old)
            old.stop()
        if self._to_replace:
            self._workers.append(self._start())

    def _stop_all(self) -> None:
        everyone = [*self._workers, *self._leaving]
        for worker in everyone:
            worker.stop()
        ends = time.monotonic() + self._settings.grace_seconds + _CLOSE_SECONDS
        for worker in everyone:
            try:
                worker.process.wait(max(0.1, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            worker.close()


@contextmanager
def _wake_on_signals() -> Iterator[int]:
    """Give a pipe from which signals can be read as bytes."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing)
    handlers = {sign: signal.signal(sign, lambda *_: None) for sign in _SIGNALS}
    try:
        yield reading
    finally:
        for sign, handler in handlers.items():
            signal.signal(sign, handler)
        signal.set_wakeup_fd(before)
        os.close(reading)
        os.close(writing)
