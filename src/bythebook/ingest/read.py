"""Reads and cuts documents in a thread, ahead of embedding."""

import asyncio
import hashlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from bythebook.domain.books import CutDocument, LiveBook, Skipped, SourceBook, SourceDocument
from bythebook.errors import UnreadableBook
from bythebook.ingest.chunk import CUTTER_REVISION, find_cuts
from bythebook.ports import Embedder

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that was read, or reused from the live generation."""

    cut: CutDocument
    kept: bool
    seconds: float


def read_documents(
    source: SourceBook, live: LiveBook, embedder: Embedder
) -> Iterator[ReadDocument | Skipped]:
    """Read and cut changed documents, reuse the others, and skip those that cannot be read."""
    for document in source.documents:
        started = time.perf_counter()
        mark = compute_cut_hash(document, embedder)
        if kept := live.documents.get(mark):
            yield ReadDocument(kept, kept=True, seconds=time.perf_counter() - started)
            continue
        try:
            read = document.read()
            cut = CutDocument(mark, read, find_cuts(read, embedder.count_tokens))
        except UnreadableBook as error:
            yield Skipped(document.document_id, f"{error.what} {error.help_message}".strip())
            continue
        except Exception as error:  # noqa: BLE001 - one page must not fail the book
            what = f"The reader failed on it ({type(error).__name__}: {error})"
            yield Skipped(document.document_id, f"{what[:300]}. Please report this.")
            continue
        yield ReadDocument(cut, kept=False, seconds=time.perf_counter() - started)


def compute_cut_hash(document: SourceDocument, embedder: Embedder) -> str:
    """Return a hash that changes with the document, the cutter and the embedder's tokens."""
    parts = (document.fingerprint, CUTTER_REVISION, embedder.model_id)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


async def run_in_background(call: Callable[[], T]) -> T:
    """Run a call in a thread that an interrupted run does not wait for."""
    async with aclosing(iterate_ahead(call() for _ in range(1))) as results:
        return await anext(results)


@dataclass(frozen=True, slots=True)
class _End:
    """Marks the end of the items, with the failure that caused it, if any."""

    failure: BaseException | None


async def iterate_ahead(items: Iterator[T]) -> AsyncGenerator[T]:
    """Run an iterator in a thread, ahead of its consumer."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[T | _End] = asyncio.Queue()
    stopped = threading.Event()

    def work() -> None:
        failure: BaseException | None = None
        try:
            for item in items:
                if stopped.is_set():
                    return
                loop.call_soon_threadsafe(queue.put_nowait, item)
        except BaseException as error:  # noqa: BLE001 - raised again in the consumer
            failure = error
        if not stopped.is_set():
            loop.call_soon_threadsafe(queue.put_nowait, _End(failure))

    threading.Thread(target=work, name="reading", daemon=True).start()
    try:
        while not isinstance(item := await queue.get(), _End):
            yield item
        if item.failure is not None:
            raise item.failure
    finally:
        stopped.set()
