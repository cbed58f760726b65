"""Embed with the bundled model and do nothing else: the most that our ingest could reach."""

from typing import Any

from benchmarks.peers.measured import arguments, measure

from bythebook.adapters.minilm import MiniLm

THREADS = 2


def main() -> None:
    """Encode every text in one call."""
    given = arguments()
    encoder = MiniLm(threads=THREADS)

    def nearest(vectors: Any, text: str) -> str | None:
        return text if int((vectors @ encoder.encode([text])[0]).argmax()) == 0 else None

    measure(given.texts, ["onnxruntime", "tokenizers"], encoder.encode, nearest)


if __name__ == "__main__":
    main()
