"""Measures rate and latency of one service under 16 clients at once, on the sample book: `make load`.

Answered questions and refused foreign ones are measured separately. The clients run in their own process,
and the share of a core that they use is reported, so that it is not mistaken for the service's.
"""

import argparse
import asyncio
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

CLIENTS = 16
ANSWERED, REFUSED = "success", "low_relevance"


@dataclass(frozen=True, slots=True)
class Load:
    """The work of a client process."""

    port: int
    questions: list[str]
    outcome: str  # the one that counts
    seconds: float
    clients: int = CLIENTS


class Client:
    """One reader on one connection, who asks again as soon as the answer arrives."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self.milliseconds: list[float] = []
        self.others = 0
        self.asked = 0

    async def run(self, start_at: int, warm_until: float, until: float) -> None:
        """Ask until the time is over; questions of the warm-up are not counted."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._load.port)
        questions = cycle(self._load.questions[start_at:] + self._load.questions[:start_at])
        while (started := time.perf_counter()) < until:
            outcome = await _ask(reader, writer, next(questions))
            self.asked += 1
            ended = time.perf_counter()
            if started >= warm_until and ended <= until:
                if outcome == self._load.outcome:
                    self.milliseconds.append((ended - started) * 1000)
                else:
                    self.others += 1
        writer.close()
        await writer.wait_closed()


async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, question: str) -> str:
    body = json.dumps({"query": question}).encode()
    writer.write(
        b"POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    size = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    answer = json.loads(await reader.readexactly(size))
    refusal = answer.get("refusal")
    return str(refusal["refusal_type"] if refusal else answer["status"])


async def _run_clients(load: Load) -> dict[str, Any]:
    clients = [Client(load) for _ in range(load.clients)]
    warm_until = time.perf_counter() + min(3.0, load.seconds / 4)
    until = warm_until + load.seconds
    step = max(1, len(load.questions) // load.clients)
    before = _read_own_cpu_seconds()
    await asyncio.gather(
        *(
            client.run(number * step % len(load.questions), warm_until, until)
            for number, client in enumerate(clients)
        )
    )
    return {
        "milliseconds": [value for client in clients for value in client.milliseconds],
        "others": sum(client.others for client in clients),
        "asked": sum(client.asked for client in clients),
        "cpu_seconds": _read_own_cpu_seconds() - before,
    }


def _read_own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure_load(load: Load, process_id: int) -> dict[str, float]:
    """Run the clients in their own process, and measure the service meanwhile."""
    order = json.dumps({name: getattr(load, name) for name in Load.__slots__})
    memory, cpu, started = read_resident_mb(process_id), read_cpu_seconds(process_id), time.time()
    done = subprocess.run(
        [sys.executable, __file__, "--client"],
        input=order,
        capture_output=True,
        text=True,
        check=True,
    )
    taken = time.time() - started
    cpu = read_cpu_seconds(process_id) - cpu
    result = json.loads(done.stdout)
    times = sorted(result["milliseconds"])
    return {
        "per second": len(times) / load.seconds,
        "p50 ms": _compute_percentile(times, 50),
        "p95 ms": _compute_percentile(times, 95),
        "p99 ms": _compute_percentile(times, 99),
        "asked": result["asked"],
        "counted": len(times),
        "of another outcome": result["others"],
        "service CPU, ms per question": 1000 * cpu / result["asked"],
        "service CPU, cores": cpu / taken,
        "clients CPU, cores": result["cpu_seconds"] / taken,
        "memory before, MB": memory,
        "memory after, MB": read_resident_mb(process_id),
    }


def _compute_percentile(ordered: Sequence[float], at: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * at / 100))] if ordered else float("nan")


def read_resident_mb(process_id: int) -> float:
    """Read how much memory a process holds."""
    status = Path(f"/proc/{process_id}/status").read_text("ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def read_cpu_seconds(process_id: int) -> float:
    """Read the CPU time of a process, its own and the system's on its behalf."""
    fields = Path(f"/proc/{process_id}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def choose_questions(port: int, questions: Sequence[str], outcome: str) -> list[str]:
    """Choose the questions that have this outcome, by asking each once."""

    async def ask_all() -> list[str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        kept = [one for one in questions if await _ask(reader, writer, one) == outcome]
        writer.close()
        return kept

    return asyncio.run(ask_all())


def measure_search_cost(folder: Path, questions: Sequence[str]) -> dict[str, float]:
    """Measure the cost of embedding and searching a question, without the service."""
    from bythebook.ask.plan.make_plan import make_plan
    from bythebook.ask.retrieve.passages import find_passages
    from bythebook.bootstrap import Core
    from bythebook.domain.questions import Question
    from bythebook.settings import Settings

    core = Core(Settings(data_dir=folder))

    async def search_all() -> None:
        for question in questions:
            await find_passages(make_plan(Question(question)), core)

    asyncio.run(search_all())
    before = time.process_time()
    asyncio.run(search_all())
    cost = 1000 * (time.process_time() - before) / len(questions)
    core.close()
    return {"CPU, ms per question": cost}


def count_unrecorded(folder: Path, asked: float) -> dict[str, float]:
    """Count the questions that are missing in the records, after the service has ended."""
    with closing(sqlite3.connect(folder / "records.sqlite")) as records:
        kept = records.execute("SELECT count(*) FROM queries").fetchone()[0]
    return {"asked": asked, "not recorded": asked - kept}


def main() -> None:
    """Measure, print a table, write JSON."""
    from benchmarks.service import QUESTIONS, measure_ingest, serve

    from bythebook.evaluate.sets import load_questions

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    options = parser.parse_args()
    kinds: dict[str, list[str]] = {}
    for one in load_questions(QUESTIONS):
        kinds.setdefault(one.kind, []).append(one.question)
    figures: dict[str, dict[str, float]] = {}
    asked = 0.0
    with tempfile.TemporaryDirectory(prefix="bythebook-load-") as folder:
        measure_ingest(Path(folder))
        figures["embedding and search"] = measure_search_cost(Path(folder), kinds["foreign"])
        with serve(Path(folder)) as (port, process_id, _):
            for kind, outcome in (("answered", ANSWERED), ("foreign", REFUSED)):
                chosen = choose_questions(port, kinds[kind], outcome)
                load = Load(port, chosen, outcome, options.seconds, options.clients)
                figures[kind] = measure_load(load, process_id)
                asked += len(kinds[kind]) + figures[kind]["asked"]
        figures["records"] = count_unrecorded(Path(folder), asked)
    print(f"{options.clients} clients, {options.seconds:g} seconds each")
    for name, values in figures.items():
        _print_figures(name, values)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=1))


def _print_figures(kind: str, figures: dict[str, float]) -> None:
    print(kind)
    for name, value in figures.items():
        print(f"  {name:<30} {value:>9.2f}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--client"]:
        print(json.dumps(asyncio.run(_run_clients(Load(**json.load(sys.stdin))))))
    else:
        main()
