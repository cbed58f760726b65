"""Compare encoders at finding: `python -m training.recall WORK ENCODER...`, by cosine alone.

Asks the pages that training held back, and the sample book's dev questions. An encoder is a folder with model.onnx and
tokenizer.json, as tools/build_embedder.py writes it. Run training.prepare first: it reads its books.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bythebook.adapters.models.minilm import MiniLm
from bythebook.bootstrap import Core, sample_book
from bythebook.domain.books import Chunk
from bythebook.evaluate.sets import load_questions
from bythebook.ingest.chunk import cut_document
from bythebook.settings import Settings
from training.examples import plain, read
from training.prepare import publish
from training.weights import PREFIXES, Prefixes

BOOKS = ("sample", "openintro-pdf", "rust-book", "ros2-docs", "squad")
FIRST = (1, 5, 8, 20)
ROOT = Path(__file__).resolve().parents[1]
Asked = list[tuple[str, list[str]]]  # a question, and sentences each of which answers it


def main() -> None:
    """Print, per book and encoder, the share of questions with an answer among the first passages."""
    if len(sys.argv) < 3:
        sys.exit("Give the work folder and encoders: python -m training.recall WORK ENCODER...")
    work, encoders = Path(sys.argv[1]), [Path(given) for given in sys.argv[2:]]
    core = Core(Settings(data_dir=work / "books"))
    publish(core, "sample", str(sample_book()))
    for book_id in BOOKS:
        asked = questions(work, book_id)
        chunks = [
            chunk
            for document in core.library.documents(book_id)
            for chunk in cut_document(book_id, document, core.embedder.count_tokens)
        ]
        for folder in encoders:
            encoder = Finder(MiniLm(model_dir=folder), prefixes_of(folder))
            ranks = ranks_of_answers(encoder, asked, chunks)
            shares = "  ".join(f"@{k} {np.mean(ranks < k):.2f}" for k in FIRST)
            print(
                f"{book_id:16}{len(asked):5}  {folder.parent.name + '/' + folder.name:28}{shares}",
                flush=True,
            )
    core.close()


class Finder(NamedTuple):
    """An encoder, and what it expects before a question and before a passage."""

    encoder: MiniLm
    prefixes: Prefixes


def prefixes_of(folder: Path) -> Prefixes:
    """Read the prefixes that an encoder was tuned with; the bundled one has none."""
    kept = folder / "prefixes.json"
    return Prefixes(**json.loads(kept.read_text())) if kept.exists() else PREFIXES["minilm"]


def questions(work: Path, book_id: str) -> Asked:
    """Give the questions of a book that training held back."""
    if book_id == "sample":
        kept = load_questions(ROOT / "evals" / "sample-book.jsonl")
        return [
            (one.question, [plain(gold) for gold in one.golds])
            for one in kept
            if one.split == "dev" and one.kind == "answered"
        ]
    return [
        (one.text, [plain(one.passage[slice(*one.units[n])]) for n in one.evidence])
        for one in read(work / "examples" / f"written-{book_id}.jsonl")
        if one.split == "tune" and one.task == "question" and one.holds
    ]


def ranks_of_answers(finder: Finder, asked: Asked, chunks: Sequence[Chunk]) -> np.ndarray:
    """Count, per question, the passages that are nearer than the first with an answer."""
    encoder, prefixes = finder
    began = time.monotonic()
    vectors = encoder.encode([prefixes.passage + chunk.context for chunk in chunks])
    print(f"{len(chunks) / (time.monotonic() - began):.1f} chunks a second", end="  ")
    texts = [plain(chunk.text) for chunk in chunks]
    ranks = []
    for question, golds in asked:
        likeness = vectors @ encoder.encode([prefixes.query + question])[0]
        right = [place for place, text in enumerate(texts) if any(gold in text for gold in golds)]
        best = max((likeness[place] for place in right), default=np.inf)
        ranks.append(np.sum(likeness > best) if right else len(chunks))
    return np.array(ranks)


if __name__ == "__main__":
    main()
