"""Embeds with the bundled model and does nothing else: the upper bound of our ingest."""

from typing import Any

from benchmarks.peers.measure import measure, read_arguments

from bythebook.adapters.models.minilm import MiniLm

THREADS = 2


def main() -> None:
    """Encode every text in one call."""
    given = read_arguments()
    encoder = MiniLm(threads=THREADS)

    def nearest(vectors: Any, text: str) -> str | None:
        return text if int((vectors @ encoder.encode([text])[0]).argmax()) == 0 else None

    measure(given.texts, ["onnxruntime", "tokenizers"], encoder.encode, nearest)


if __name__ == "__main__":
    main()
