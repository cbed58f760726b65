"""The bundled sentence encoder: int8 MiniLM on ONNX Runtime, no network and no torch."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Semaphore

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

BUNDLED = Path(__file__).resolve().parents[1] / "models" / "embedder"


class MiniLm:
    """Turns texts into unit vectors whose dot product is their likeness in meaning."""

    # The bundled model's SHA-256 begins so; a test compares it with the file, a start does not.
    model_id = "all-MiniLM-L6-v2-int8@f60c330f"
    dimension = 384
    max_tokens = 256

    def __init__(self, *, threads: int = 2, model_dir: Path | None = None) -> None:
        folder = model_dir or BUNDLED
        self._session = _open_session(folder / "model.onnx")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._helpers = max(threads, 1) - 1
        # However many ask at once: more runs than cores gain nothing, and each keeps its own room.
        self._turns = Semaphore(max(threads, 1))
        self._pool = ThreadPoolExecutor(max(self._helpers, 1), thread_name_prefix="minilm")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, in the order of the texts."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        # Longest first, so that no thread is left alone with a long text at the end.
        pending = iter(sorted(range(len(texts)), key=lambda place: -len(texts[place])))

        def work() -> None:
            for place in pending:
                vectors[place] = self._encode_one(texts[place])

        # The caller works too and drops helpers that never started: a short call is not kept
        # waiting behind a long one.
        helpers = [self._pool.submit(work) for _ in range(min(self._helpers, len(texts) - 1))]
        work()
        for helper in helpers:
            if not helper.cancel():
                helper.result()
        return vectors

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the word pieces of each text, special tokens left out and nothing cut."""
        readable = [_drop_surrogates(text) for text in texts]
        pieces = self._tokenizer.encode_batch_fast(readable, add_special_tokens=False)
        return [len(piece) for piece in pieces]

    def vocabulary_rank(self, word: str) -> int | None:
        """Give a word's place in the vocabulary, common to rare, or None if it has none."""
        rank: int | None = self._tokenizer.token_to_id(word)
        return rank

    def _encode_one(self, text: str) -> NDArray[np.float32]:
        """Embed one text by itself.

        Never in a batch: dynamic quantisation takes one scale per batch, so a neighbour would
        change the vector (cosine down to 0.98), and padding costs more than batching gains.
        """
        pieces = self._tokenizer.encode(_drop_surrogates(text)).ids
        if len(pieces) > self.max_tokens:
            pieces = [*pieces[: self.max_tokens - 1], pieces[-1]]  # the last closes the text
        ids = np.array([pieces], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        with self._turns:
            vector: NDArray[np.float32] = self._session.run(["embedding"], feed)[0][0]
        return vector


def _open_session(model: Path) -> onnxruntime.InferenceSession:
    """Open the model for use by several threads at once, each run on its caller's thread."""
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


def _drop_surrogates(text: str) -> str:
    """Replace lone surrogates, which the tokenizer refuses, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
