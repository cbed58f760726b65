"""ONNX Runtime as the bundled models use it: one thread a run, and no more runs than cores."""

import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from threading import Semaphore
from typing import Any, TypeVar

import onnxruntime

T = TypeVar("T")
R = TypeVar("R")


def open_session(model: Path) -> onnxruntime.InferenceSession:
    """Open a model for use by several threads at once, each run on its caller's thread."""
    # Nearly all time is spent in the kernels, and two threads do 1.95 times the work of one: other
    # options (arena, memory pattern, denormals), bound buffers, bulk tokenising gain under 2 %.
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model,
        options,
        providers=["CPUExecutionProvider"],
        # The fused kernel is slow: without it the whole model takes 17-20 % less time.
        disabled_optimizers=["SkipLayerNormFusion"],
    )


class Crew:
    """Threads that the bundled models share: never more runs at once than threads."""

    def __init__(self, threads: int = 2) -> None:
        self._helpers = max(threads, 1) - 1
        # More runs than cores gain nothing, and each keeps its own room.
        self._turns = Semaphore(max(threads, 1))
        self._pool = ThreadPoolExecutor(max(self._helpers, 1), thread_name_prefix="inference")

    def run(
        self, session: onnxruntime.InferenceSession, feed: dict[str, Any], *, urgent: bool = False
    ) -> list[Any]:
        """Run a model when it is its turn; an urgent run, of a millisecond or two, does not wait."""
        with nullcontext() if urgent else self._turns:
            outputs: list[Any] = session.run(None, feed)
            return outputs

    def each(self, work: Callable[[T], R], items: Sequence[T], cost: Callable[[T], int]) -> list[R]:
        """Do work for each item, on all threads, and give what came of it in order."""
        # Costly ones first, so that no thread is left alone with one at the end.
        pending = iter(sorted(range(len(items)), key=lambda place: -cost(items[place])))
        done: dict[int, R] = {}

        def go_on() -> None:
            for place in pending:
                done[place] = work(items[place])

        # The caller works too and drops helpers that never started: a short call is not kept
        # waiting behind a long one.
        helpers = [self._pool.submit(go_on) for _ in range(min(self._helpers, len(items) - 1))]
        go_on()
        for helper in helpers:
            if not helper.cancel():
                helper.result()
        return [done[place] for place in range(len(items))]


def make_readable(text: str) -> str:
    """Write a text as the tokenizer can read it, every character in its place.

    Lone surrogates, which it refuses, become question marks. Letters in the shapes of formulas and
    of full width, as PDFs have them, become plain ones; it knows no others.
    """
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return whole if whole.isascii() else "".join(map(_simplify_letter, whole))


@lru_cache(maxsize=5000)
def _simplify_letter(character: str) -> str:
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character
