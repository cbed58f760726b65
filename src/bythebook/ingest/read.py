"""Source -> documents with their cuts, read ahead of what embeds them."""

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
class Reading:
    """A document that was read, or taken over as it was."""

    cut: CutDocument
    kept: bool
    seconds: float


def read_documents(
    source: SourceBook, live: LiveBook, embedder: Embedder
) -> Iterator[Reading | Skipped]:
    """Read and cut what changed, take over what did not, and go on past what cannot be read."""
    for document in source.documents:
        started = time.perf_counter()
        mark = cut_mark(document, embedder)
        if kept := live.documents.get(mark):
            yield Reading(kept, kept=True, seconds=time.perf_counter() - started)
            continue
        try:
            read = document.read()
            cut = CutDocument(mark, read, find_cuts(read, embedder.count_tokens))
        except UnreadableBook as error:
            yield Skipped(document.document_id, f"{error.what} {error.help_message}".strip())
            continue
        except Exception as error:  # noqa: BLE001 - one page must not cost the book
            what = f"The reader failed on it ({type(error).__name__}: {error})"
            yield Skipped(document.document_id, f"{what[:300]}. Please report this.")
            continue
        yield Reading(cut, kept=False, seconds=time.perf_counter() - started)


def cut_mark(document: SourceDocument, embedder: Embedder) -> str:
    """Tell a document's cuts from those of another text, cutter or counter of tokens."""
    parts = (document.fingerprint, CUTTER_REVISION, embedder.model_id)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


async def in_background(call: Callable[[], T]) -> T:
    """Run a call in a thread that nobody waits for once the run is broken off."""
    async with aclosing(ahead(call() for _ in range(1))) as results:
        return await anext(results)


@dataclass(frozen=True, slots=True)
class _End:
    """The last thing that is passed on: why there is no more."""

    failure: BaseException | None


async def ahead(items: Iterator[T]) -> AsyncGenerator[T]:
    """Run an iterator in a thread of its own, ahead of what its items are used for."""
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
        except BaseException as error:  # noqa: BLE001 - passed on to the one who waits
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
