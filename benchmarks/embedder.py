"""Compares ways to run the bundled encoder, so that the choice can be measured again.

Usage: python benchmarks/embedder.py [--texts FOLDER] [--json PATH] [--rounds N] [--chunks N]
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bythebook.adapters.models.minilm import BUNDLED, MiniLm

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]
EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "book"
CHUNK_TOKENS, THREADS = 228, 2  # with the two special tokens: 230
SHIPPED = "shipped: MiniLm.encode"


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one arrangement; the cosine compares with each text encoded alone."""

    arrangement: str
    chunks_per_second: float
    cpu_ms_per_chunk: float
    sentences_per_second: float
    twelve_sentences_ms: float
    least_cosine: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Start:
    """The cost of loading the shipped arrangement and of embedding a question."""

    import_mb: float
    load_seconds: float
    load_mb: float
    query_ms: float
    query_tokens: int


class Arrangement:
    """One way of spreading texts over sessions, threads and batches."""

    def __init__(
        self,
        *,
        sessions: int = 1,
        callers: int = 1,
        batch: int = 1,
        threads: int = 1,
        arena: bool = True,
        fuse_skip: bool = False,
        sort: bool = True,
    ) -> None:
        self._sessions = [
            _open_session(threads, arena=arena, fuse=fuse_skip) for _ in range(sessions)
        ]
        self._tokenizer = Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))
        self._tokenizer.enable_truncation(MiniLm.max_tokens)
        self._pool = ThreadPoolExecutor(callers)
        self._batch, self._sort = batch, sort

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, in order."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        order = (
            sorted(range(len(ids)), key=lambda i: -len(ids[i])) if self._sort else range(len(ids))
        )
        groups = [order[i : i + self._batch] for i in range(0, len(ids), self._batch)]
        vectors = np.empty((len(ids), MiniLm.dimension), np.float32)

        def work(turn: int) -> None:
            group = groups[turn]
            session = self._sessions[turn % len(self._sessions)]
            vectors[list(group)] = _run_batch(session, [ids[i] for i in group])

        list(self._pool.map(work, range(len(groups))))
        return vectors


ARRANGEMENTS: dict[str, Callable[[], Encode]] = {
    SHIPPED: lambda: MiniLm(threads=THREADS).encode,
    "1 session, 2 callers, one text": lambda: Arrangement(callers=2),
    "the same, no memory arena": lambda: Arrangement(callers=2, arena=False),
    "the same, skip and norm fused": lambda: Arrangement(callers=2, fuse_skip=True),
    "2 sessions, 2 callers, one text": lambda: Arrangement(sessions=2, callers=2),
    "1 session, 2 callers, batches of 2": lambda: Arrangement(callers=2, batch=2),
    "1 session, 2 callers, batches of 4": lambda: Arrangement(callers=2, batch=4),
    "1 session, 2 callers, batches of 16": lambda: Arrangement(callers=2, batch=16),
    "1 session of 2 threads, one text": lambda: Arrangement(threads=2),
    "1 session of 2 threads, batches of 16": lambda: Arrangement(threads=2, batch=16),
    "the same, not sorted by length": lambda: Arrangement(threads=2, batch=16, sort=False),
    "1 session, 1 caller, one text": lambda: Arrangement(),
}


def _open_session(threads: int, *, arena: bool, fuse: bool) -> onnxruntime.InferenceSession:
    """Open the bundled model with the settings under test."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.enable_cpu_mem_arena = arena
    return onnxruntime.InferenceSession(
        BUNDLED / "model.onnx",
        options,
        providers=["CPUExecutionProvider"],
        disabled_optimizers=[] if fuse else ["SkipLayerNormFusion"],
    )


def _run_batch(session: onnxruntime.InferenceSession, rows: Sequence[Sequence[int]]) -> Vectors:
    """Run one batch, padded to its longest row."""
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
        mask[place, : len(row)] = 1
    vectors: Vectors = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0]
    return vectors


def read_chunks(folder: Path, limit: int) -> list[str]:
    """Cut a folder of Markdown into chunks of equal token counts, and pick some evenly."""
    tokenizer = Tokenizer.from_file(str(BUNDLED / "tokenizer.json"))
    chunks: list[str] = []
    for path in sorted(p for p in folder.rglob("*.md*") if p.suffix in {".md", ".mdx"}):
        text = path.read_text("utf-8")
        spans = tokenizer.encode(text, add_special_tokens=False).offsets
        starts = range(0, len(spans) - CHUNK_TOKENS, CHUNK_TOKENS)
        chunks += [text[spans[i][0] : spans[i + CHUNK_TOKENS - 1][1]] for i in starts]
    return chunks[:: max(len(chunks) // limit, 1)][:limit]


def pick_sentences(chunks: Sequence[str], limit: int) -> list[str]:
    """Take sentences of about 25 tokens."""
    parts = [part for chunk in chunks for part in " ".join(chunk.split()).split(". ")]
    counts = MiniLm(threads=1).count_tokens(parts)
    kept = [part for part, count in zip(parts, counts, strict=True) if 18 <= count <= 28]
    return kept[:limit]


def read_peak_mb() -> float:
    """Return the most memory that this process has held, in MB."""
    # Not getrusage: on Linux its peak survives exec, so a child would report its parent's.
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def time_call(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time one call."""
    begin = clock()
    call()
    return clock() - begin


def measure_memory(name: str, chunks: Sequence[str]) -> float:
    """Return the peak memory of an arrangement; runs in its own process."""
    ARRANGEMENTS[name]()(chunks)
    return read_peak_mb()


def measure_start(question: str) -> Start:
    """Load the shipped encoder and embed a question; runs in its own process."""
    imported = read_peak_mb()
    begin = time.perf_counter()
    encoder = MiniLm(threads=THREADS)
    load = time.perf_counter() - begin
    loaded = read_peak_mb()
    times = [time_call(lambda: encoder.encode([question])) for _ in range(200)]
    return Start(
        import_mb=imported,
        load_seconds=load,
        load_mb=loaded,
        query_ms=statistics.median(times) * 1000,
        query_tokens=encoder.count_tokens([question])[0],
    )


def run_in_fresh_process(call: Callable[..., Any], *arguments: Any) -> Any:
    """Run a measurement where nothing else has been loaded."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(call, *arguments).result()


def compare(chunks: Sequence[str], sentences: Sequence[str], rounds: int) -> Iterator[Row]:
    """Time every arrangement in turn, round after round, so that a busy machine slows all equally."""
    encoders = {name: make() for name, make in ARRANGEMENTS.items()}
    alone = np.vstack([encoders[SHIPPED]([text]) for text in sentences])
    cosines = {name: (encode(sentences) * alone).sum(1).min() for name, encode in encoders.items()}
    # CPU time too: it shows which way is cheaper even while other work uses the cores.
    tasks = {
        "chunks": (chunks, 1, time.perf_counter),
        "cpu": (chunks, 1, time.process_time),
        "sentences": (sentences, 1, time.perf_counter),
        "twelve": (sentences[:12], 10, time.perf_counter),
    }
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for task, (texts, repeats, clock) in tasks.items():
            for name, encode in encoders.items():
                taken = min(time_call(partial(encode, texts), clock) for _ in range(repeats))
                times.setdefault((name, task), []).append(taken)
    for name in encoders:
        yield Row(
            arrangement=name,
            chunks_per_second=len(chunks) / min(times[name, "chunks"]),
            cpu_ms_per_chunk=min(times[name, "cpu"]) / len(chunks) * 1000,
            sentences_per_second=len(sentences) / min(times[name, "sentences"]),
            twelve_sentences_ms=min(times[name, "twelve"]) * 1000,
            least_cosine=float(cosines[name]),
            peak_mb=run_in_fresh_process(measure_memory, name, chunks),
        )


def print_table(rows: Sequence[Row], start: Start) -> None:
    """Print the figures."""
    print(f"{'arrangement':38} chunks/s  CPU ms  sent./s  12 sent.  cosine  peak MB")
    for row in rows:
        print(
            f"{row.arrangement:38} {row.chunks_per_second:8.1f} {row.cpu_ms_per_chunk:7.1f}"
            f" {row.sentences_per_second:8.0f} {row.twelve_sentences_ms:6.1f} ms"
            f" {row.least_cosine:7.4f} {row.peak_mb:8.0f}"
        )
    print(
        f"\nload {start.load_seconds:.2f} s; {start.import_mb:.0f} MB after import, "
        f"{start.load_mb:.0f} MB loaded; {start.query_tokens}-token query {start.query_ms:.2f} ms"
    )


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, default=EXAMPLE, help="folder of Markdown")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--chunks", type=int, default=100, help="chunks per round")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    chunks = read_chunks(options.texts, options.chunks)
    sentences = pick_sentences(chunks, 200)
    start: Start = run_in_fresh_process(measure_start, "How does a node publish a message?")
    rows = list(compare(chunks, sentences, options.rounds))
    print(f"{len(chunks)} chunks of {CHUNK_TOKENS + 2} tokens, {len(sentences)} sentences\n")
    print_table(rows, start)
    if options.json:
        figures = {"start": asdict(start), "arrangements": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
