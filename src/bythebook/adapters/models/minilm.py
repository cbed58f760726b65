"""The bundled sentence encoder: int8 MiniLM on ONNX Runtime, no network and no torch."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from bythebook.adapters.models.inference import Crew, make_readable, open_session

BUNDLED = Path(__file__).resolve().parents[2] / "models" / "embedder"


class MiniLm:
    """Turns texts into unit vectors whose dot product is their likeness in meaning."""

    # The bundled model's SHA-256 begins so; a test compares it with the file, a start does not.
    model_id = "all-MiniLM-L6-v2-tuned-int8@d9c4118b"
    dimension = 384
    max_tokens = 256

    def __init__(
        self,
        *,
        threads: int = 2,
        crew: Crew | None = None,
        model_dir: Path | None = None,
        most_kept: int = 8192,  # vectors of texts that come again: 12 MB
    ) -> None:
        folder = model_dir or BUNDLED
        self._session = open_session(folder / "model.onnx")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._crew = crew or Crew(threads)
        self._most_kept = most_kept
        self._kept: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._keeping = Lock()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, in the order of the texts."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for place, vector in enumerate(self._crew.each(self._encode_one, texts, len)):
            vectors[place] = vector
        return vectors

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a short text at once, however much else is being read."""
        return self._encode_one(text, urgent=True)

    def recall(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts of a book, which many questions find again: those used last are kept."""
        with self._keeping:
            vectors = {text: self._kept[text] for text in texts if text in self._kept}
        fresh = [text for text in dict.fromkeys(texts) if text not in vectors]
        vectors |= zip(fresh, self.encode(fresh), strict=True)
        with self._keeping:
            for text, vector in vectors.items():
                self._kept[text] = vector
                self._kept.move_to_end(text)
            while len(self._kept) > self._most_kept:
                self._kept.popitem(last=False)
        return np.stack([vectors[text] for text in texts])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the word pieces of each text, special tokens left out and nothing cut."""
        whole = [make_readable(text) for text in texts]
        pieces = self._tokenizer.encode_batch_fast(whole, add_special_tokens=False)
        return [len(piece) for piece in pieces]

    def vocabulary_rank(self, word: str) -> int | None:
        """Give a word's place in the vocabulary, common to rare, or None if it has none."""
        rank: int | None = self._tokenizer.token_to_id(word)
        return rank

    def _encode_one(self, text: str, *, urgent: bool = False) -> NDArray[np.float32]:
        """Embed one text by itself.

        Never in a batch: dynamic quantisation takes one scale per batch, so a neighbour would
        change the vector (cosine down to 0.98), and padding costs more than batching gains.
        """
        pieces = self._tokenizer.encode(make_readable(text)).ids
        if len(pieces) > self.max_tokens:
            pieces = [*pieces[: self.max_tokens - 1], pieces[-1]]  # the last closes the text
        ids = np.array([pieces], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        vector: NDArray[np.float32] = self._crew.run(self._session, feed, urgent=urgent)[0][0]
        return vector
