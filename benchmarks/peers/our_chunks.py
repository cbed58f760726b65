"""Writes the distinct texts that our ingest of a book embeds, so that the peers get the same."""

import argparse
import json
import tempfile
from pathlib import Path

from bythebook.adapters.models.minilm import MiniLm
from bythebook.bootstrap import Core
from bythebook.ingest.chunk import cut_document
from bythebook.settings import Settings

SPECIAL_TOKENS = 2  # around every text


def read_texts(source: str, core: Core) -> list[str]:
    """Read and cut a book by the product's own parts."""
    book = core.ingest.reader.read(source, title=None, base_url=None)
    documents = [document.read() for document in book.documents]
    chunks = [
        chunk
        for document in documents
        for chunk in cut_document("book", document, core.embedder.count_tokens)
    ]
    return list(dict.fromkeys(chunk.context for chunk in chunks))


def main() -> None:
    """Write the texts, print how many tokens they have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("--texts", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        core = Core(Settings(data_dir=Path(folder)))
        texts = read_texts(given.source, core)
        lengths = [count + SPECIAL_TOKENS for count in core.embedder.count_tokens(texts)]
        core.close()
    given.texts.write_text(json.dumps(texts), "utf-8")
    most = MiniLm.max_tokens
    figures = {
        "chunks": len(texts),
        "tokens": sum(min(length, most) for length in lengths),
        "cut_short": sum(length > most for length in lengths),
        "most_tokens": most,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
