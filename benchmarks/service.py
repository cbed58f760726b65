"""Measures speed and size of the whole service on the sample book: `make bench`.

Everything is measured in one run, over HTTP on loopback, in a temporary library.
"""

import argparse
import asyncio
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import urlencode

from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.retrieve.passages import find_passages
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.questions import Question
from bythebook.evaluate.figures import percentile
from bythebook.evaluate.sets import load_questions
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "evals" / "sample-book.jsonl"
UNLIMITED = {f"BYTHEBOOK_LIMIT_{name}": "0" for name in ("KEY", "SESSION", "IP")}


@dataclass(frozen=True, slots=True)
class Reply:
    """The status and time of one question."""

    status: str
    milliseconds: float


def measure_ingest(folder: Path) -> dict[str, float]:
    """Ingest the sample book from nothing, then again unchanged."""
    core = Core(Settings(data_dir=folder))
    core.embedder.count_tokens(["warm"])
    first = asyncio.run(
        ingest(IngestOrder(str(sample_book()), "sample"), core.ingest, lambda _: None)
    )
    again = asyncio.run(
        ingest(IngestOrder(str(sample_book()), "sample"), core.ingest, lambda _: None)
    )
    core.close()
    return {
        "ingest, chunks/s": first.chunks / first.seconds,
        "ingest, seconds": first.seconds,
        "ingest again unchanged, seconds": again.seconds,
    }


@contextmanager
def serve(folder: Path) -> Iterator[tuple[int, int, float]]:
    """Start the service as an operator would; yield port, process id and seconds to ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "bythebook", "serve", "--port", str(port)]
    started = time.perf_counter()
    environment = {**os.environ, **UNLIMITED, "BYTHEBOOK_DATA_DIR": str(folder)}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)  # it logs much
    try:
        while not _is_ready(port):
            if process.poll() is not None or time.perf_counter() - started > 60:
                sys.exit("The service did not become ready.")
            time.sleep(0.01)
        yield port, process.pid, time.perf_counter() - started
    finally:
        process.terminate()
        process.wait(20)


def _is_ready(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def ask(connection: http.client.HTTPConnection, question: str) -> Reply:
    """Ask one question over an open connection."""
    body = json.dumps({"query": question})
    started = time.perf_counter()
    connection.request("POST", "/api/query", body, {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    return Reply(answer["status"], (time.perf_counter() - started) * 1000)


def measure_latency(port: int, questions: Sequence[str], rounds: int) -> dict[str, float]:
    """Ask the questions one after another."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for question in questions[:10]:
        ask(connection, question)
    replies = [ask(connection, question) for _ in range(rounds) for question in questions]
    answered = [reply.milliseconds for reply in replies if reply.status == "success"]
    refused = [reply.milliseconds for reply in replies if reply.status == "refused"]
    return {
        "answered, p50 ms": percentile(answered, 50),
        "answered, p99 ms": percentile(answered, 99),
        "refused, p50 ms": percentile(refused, 50),
        "refused, p99 ms": percentile(refused, 99),
    }


def measure_search(port: int, questions: Sequence[str]) -> dict[str, float]:
    """Search for sections, as a page does while a reader types."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    times = []
    for question in questions:
        started = time.perf_counter()
        connection.request("GET", f"/search?{urlencode({'q': f'{question} In short?'})}")
        connection.getresponse().read()
        times.append((time.perf_counter() - started) * 1000)
    return {"search, p50 ms": percentile(times, 50), "search, p99 ms": percentile(times, 99)}


def measure_judging(folder: Path, questions: Sequence[str]) -> dict[str, float]:
    """Judge the first three passages found for each question."""
    core = Core(Settings(data_dir=folder))

    async def time_judging() -> list[float]:
        times = []
        for question in questions:
            passages = await find_passages(make_plan(Question(question)), core.ask)
            started = time.perf_counter()
            await core.judge.judge(question, passages[:3])
            times.append((time.perf_counter() - started) * 1000)
        return times

    times = asyncio.run(time_judging())
    core.close()
    return {"judging three passages, p50 ms": percentile(times, 50)}


def measure_throughput(port: int, questions: Sequence[str], clients: int) -> dict[str, float]:
    """Ask from several clients at once."""

    def run(share: Sequence[str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        return sum(ask(connection, question).status in {"success", "refused"} for question in share)

    shares = [questions[number::clients] for number in range(clients)]
    started = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        answered = sum(pool.map(run, shares))
    return {f"questions/s, {clients} clients": answered / (time.perf_counter() - started)}


def read_resident_mb(process_id: int) -> float:
    """Read the resident memory of a process."""
    status = Path(f"/proc/{process_id}/status").read_text("ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def measure_installed_mb() -> float:
    """Measure what requirements/run.txt and the package take on disk."""
    lines = (ROOT / "requirements" / "run.txt").read_text("ascii").splitlines()
    names = {line.split("==")[0] for line in lines if "==" in line}
    total = sum(path.stat().st_size for path in (ROOT / "src").rglob("*") if path.is_file())
    for name in names:
        try:
            files = distribution(name).files or []
        except ModuleNotFoundError:
            continue  # not for this platform
        total += sum(
            Path(str(file.locate())).stat().st_size
            for file in files
            if Path(str(file.locate())).is_file()
        )
    return total / 1e6


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    everything = load_questions(QUESTIONS)
    questions = [question.question for question in everything if question.split == "test"]
    with tempfile.TemporaryDirectory(prefix="bythebook-bench-") as folder:
        figures = measure_ingest(Path(folder)) | measure_judging(Path(folder), questions)
        with serve(Path(folder)) as (port, process_id, seconds):
            figures["serve to ready, seconds"] = seconds
            figures |= measure_latency(port, questions, options.rounds)
            figures |= measure_search(port, questions)
            for clients in (4, 16):
                figures |= measure_throughput(port, questions, clients)
            figures["resident memory, MB"] = read_resident_mb(process_id)
    figures["installed size, MB"] = measure_installed_mb()
    for name, value in figures.items():
        print(f"{name:<34} {value:>9.1f}")
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
