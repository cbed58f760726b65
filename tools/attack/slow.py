"""Clients that are slow, silent, many, or that never read."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from tools.attack.service import QUESTION, AttackedService, Check, serve_attacked

_HEAD = b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
_SLOW_HEADERS = _HEAD + b"X-Slow: "
_SLOW_BODY = _HEAD + b'Content-Length: 400\r\n\r\n{"query": "'
_CROWD = 300
_CROWD_SECONDS = 25
_FILES = 256


def attack(folder: Path) -> Iterator[Check]:
    """Run the attacks of slow clients."""
    with serve_attacked(folder) as service:
        yield _ends(service, "headers that trickle in", _SLOW_HEADERS)
        yield _ends(service, "a body that trickles in", _SLOW_BODY)
        yield _ends(service, "a connection that says nothing", b"")
        yield _never_reads(service)
        yield _stop(service)
    with serve_attacked(folder, files=_FILES) as service:
        yield from _crowd(service)


def _ends(service: AttackedService, name: str, first: bytes) -> Check:
    line = service.connect(first)
    line.settimeout(0.5)
    started, answer, ended = time.monotonic(), b"", None
    while ended is None and time.monotonic() - started < 30:
        try:
            if first:
                line.sendall(b"a")
            piece = line.recv(4096)
            answer += piece
            if not piece:
                ended = time.monotonic() - started
        except TimeoutError:
            continue
        except OSError:
            ended = time.monotonic() - started
    line.close()
    status = answer.split(b"\r\n", 1)[0].decode() or "closed"
    shown = f"{status} after {ended:.1f} s" if ended else "still open after 30 s"
    return Check(name, ended is not None and ended < 13, shown)


def _never_reads(service: AttackedService) -> Check:
    """Fifty clients ask for streams and never read one."""
    body = json.dumps({"message": "What are the main components of a humanoid robot?"}).encode()
    ask = (
        b"POST /chat/stream HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    before = _resident_megabytes(service)
    lines = []
    for _ in range(50):
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        line.connect(("127.0.0.1", service.port))
        line.sendall(ask * 20)  # pipelined: what is not read of one stands before the next
        lines.append(line)
    slowest = max(
        service.send("POST", "/api/query", {"query": QUESTION}).seconds for _ in range(10)
    )
    time.sleep(15)
    more = _resident_megabytes(service) - before
    for line in lines:
        line.close()
    passed = more < 40 and slowest < 8
    return Check(
        "50 clients that never read", passed, f"+{more:.0f} MB; others wait {slowest:.1f} s at most"
    )


def _stop(service: AttackedService) -> Check:
    """Stop while connections are kept open, idle."""
    lines = []
    for _ in range(20):
        line = service.connect(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        line.recv(4096)
        lines.append(line)
    lines += [service.connect(_SLOW_BODY), service.connect(_SLOW_HEADERS)]
    taken = service.stop()
    for line in lines:
        line.close()
    return Check("a stop with 22 idle connections", taken <= 2.0, f"{taken:.1f} s")


def _crowd(service: AttackedService) -> Iterator[Check]:
    """Three hundred slow connections, opened again as they are closed, at 256 descriptors."""
    over = threading.Event()
    crowd = [threading.Thread(target=_linger, args=(service, over)) for _ in range(_CROWD)]
    before = service.log.stat().st_size
    for one in crowd:
        one.start()
    time.sleep(2)
    waits, statuses = list[float](), set[int | str]()
    end = time.monotonic() + _CROWD_SECONDS
    while time.monotonic() < end:
        started = time.monotonic()
        try:
            statuses.add(service.send("POST", "/api/query", {"query": QUESTION}, timeout=30).status)
        except OSError as error:
            statuses.add(type(error).__name__)
        waits.append(time.monotonic() - started)
        time.sleep(0.2)
    health = service.send("GET", "/livez").seconds
    over.set()
    for one in crowd:
        one.join()
    grown = (service.log.stat().st_size - before) / 1000
    yield Check(
        f"a question among {_CROWD} slow connections at {_FILES} descriptors",
        statuses == {200} and max(waits) < 2,
        f"{len(waits)} asked, {max(waits):.2f} s at most, {sorted(map(str, statuses))}",
    )
    yield Check("/livez meanwhile", health < 1, f"{health * 1000:.0f} ms")
    yield Check("the log meanwhile", grown < 100, f"+{grown:.0f} KB")


def _linger(service: AttackedService, over: threading.Event) -> None:
    while not over.is_set():
        with contextlib.suppress(OSError), service.connect(_SLOW_HEADERS) as line:
            line.settimeout(0.5)
            while not over.is_set():
                line.sendall(b"a")
                with contextlib.suppress(TimeoutError):
                    if not line.recv(1024):
                        break
        over.wait(0.1)


def _resident_megabytes(service: AttackedService) -> float:
    status = Path(f"/proc/{service.process.pid}/status").read_text("ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
