"""Ingest with txtai; it keeps the texts too, as the other stores do."""

from collections.abc import Sequence
from typing import Any

from benchmarks.peers.measure import measure, read_arguments
from txtai import Embeddings  # type: ignore[import-not-found]

PACKAGES = ["txtai", "faiss-cpu", "transformers", "torch"]
MOST_TOKENS = 256  # the other two read this limit from the weights' folder


def main() -> None:
    """Embed and index every text by `Embeddings.index`."""
    given = read_arguments()
    embeddings = Embeddings(
        path=str(given.model),
        content=True,
        encodebatch=given.batch,
        maxlength=MOST_TOKENS,
        gpu=False,
    )

    def ingest(texts: Sequence[str]) -> Any:
        embeddings.index(texts)
        return embeddings

    measure(
        given.texts,
        PACKAGES,
        ingest,
        lambda index, text: index.search(text.replace("'", " "), 1)[0]["text"],
    )


if __name__ == "__main__":
    main()
