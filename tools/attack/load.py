"""More questions than can be answered: they are refused in time, and everything else stays quick."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path

from tools.attack.service import Check, serve_attacked

MAX_WAIT = 5.0
_PAUSE = 0.25  # seconds after a refusal; a fair client would wait as long as it is asked to
_PROBES = ("/health", "/livez", "/search?q=humanoid+robots")


@dataclass(frozen=True, slots=True)
class Load:
    """What one crowd of clients does."""

    port: int
    clients: int
    seconds: float
    questions: list[str]
    probes: bool = False


def attack(folder: Path, questions: Sequence[str], seconds: float) -> Iterator[Check]:
    """Compare one, 16 and 64 clients on one service."""
    with serve_attacked(folder, {"BYTHEBOOK_MAX_WAIT_SECONDS": str(MAX_WAIT)}) as service:

        def measure(clients: int, *, probes: bool = False) -> dict[str, list[float]]:
            return _in_own_process(
                Load(service.port, clients, seconds, list(questions), probes=probes)
            )

        measure(4)
        one, some, many = measure(1), measure(16), measure(64, probes=True)
    yield from _compare(one, some, many, seconds)


def _compare(
    one: dict[str, list[float]],
    some: dict[str, list[float]],
    many: dict[str, list[float]],
    seconds: float,
) -> Iterator[Check]:
    rate_some, rate_many = len(some["200"]) / seconds, len(many["200"]) / seconds
    yield Check(
        "served per second, 64 clients against 16",
        rate_many >= 0.9 * rate_some,
        f"{rate_many:.1f} against {rate_some:.1f} (one client: {len(one['200']) / seconds:.1f})",
    )
    bound, slowest = MAX_WAIT + 2 * _p99(one["200"]), _p99(many["200"])
    yield Check(
        "p99 of what is admitted, 64 clients",
        slowest <= bound,
        f"{slowest:.2f} s (16 clients: {_p99(some['200']):.2f}, one: {_p99(one['200']):.3f}; bound {bound:.2f})",
    )
    statuses = Counter({name: len(times) for name, times in many.items() if name[0] != "/"})
    yield Check("only 200 and 503", set(statuses) <= {"200", "503"}, str(dict(statuses)))
    for path, most in zip(_PROBES, (0.2, 0.2, 0.5), strict=True):
        times = many[path]
        yield Check(
            f"p99 of {path.partition('?')[0]} meanwhile",
            _p99(times) <= most,
            f"{_p99(times) * 1000:.0f} ms ({len(times)} sent, median {_at(times, 50) * 1000:.0f})",
        )


def _in_own_process(load: Load) -> dict[str, list[float]]:
    done = subprocess.run(
        [sys.executable, "-m", "tools.attack.load"],
        input=json.dumps(asdict(load)),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[float]] = json.loads(done.stdout)
    return {"200": [], "503": []} | found


async def _run(load: Load) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    until = time.perf_counter() + load.seconds

    async def client(number: int) -> None:
        questions = cycle(load.questions[number:] + load.questions[:number])
        while time.perf_counter() < until:
            body = json.dumps({"query": next(questions)}).encode()
            status = await _send(load.port, "POST", "/api/query", body, times)
            if status != "200":
                await asyncio.sleep(_PAUSE)

    async def probe(path: str) -> None:
        while time.perf_counter() < until:
            await _send(load.port, "GET", path, b"", times, name=path)
            await asyncio.sleep(0.1)

    await asyncio.gather(
        *(client(number * 7 % len(load.questions)) for number in range(load.clients)),
        *(probe(path) for path in _PROBES if load.probes),
    )
    return times


async def _send(
    port: int, method: str, path: str, body: bytes, times: dict[str, list[float]], name: str = ""
) -> str:
    started = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        answer = await reader.read()
        writer.close()
        status = answer.split(b" ", 2)[1].decode() if answer else "nothing"
    except OSError as error:
        status = type(error).__name__
    if name and status != "200":
        name = f"{status} of {name}"
    times.setdefault(name or status, []).append(time.perf_counter() - started)
    return status


def _at(times: Sequence[float], percent: float) -> float:
    ordered = sorted(times)
    return (
        ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]
        if ordered
        else float("nan")
    )


def _p99(times: Sequence[float]) -> float:
    return _at(times, 99)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_run(Load(**json.load(sys.stdin))))))
