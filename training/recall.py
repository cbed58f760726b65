"""Compare encoders at finding: `python -m training.recall WORK ENCODER...`, by cosine alone.

Asks the pages that training held back, and the sample book's dev questions. An encoder is a folder with model.onnx and
tokenizer.json, as tools/build_embedder.py writes it. Run training.fit or training.prepare first: it reads their books.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bythebook.adapters.minilm import MiniLm
from bythebook.bootstrap import Core
from bythebook.domain.books import Chunk
from bythebook.evaluate.sets import load_questions
from bythebook.ingest.chunk import cut_document
from bythebook.settings import Settings
from training.examples import plain, read

BOOKS = ("sample", "openintro-pdf", "rust-book", "squad")
FIRST = (1, 5, 8, 20)
ROOT = Path(__file__).resolve().parents[1]
Asked = list[tuple[str, list[str]]]  # a question, and sentences each of which answers it


def main() -> None:
    """Print, per book and encoder, the share of questions with an answer among the first passages."""
    if len(sys.argv) < 3:
        sys.exit("Give the work folder and encoders: python -m training.recall WORK ENCODER...")
    work, encoders = Path(sys.argv[1]), [Path(given) for given in sys.argv[2:]]
    core = Core(Settings(data_dir=work / "books"))
    for book_id in BOOKS:
        asked = questions(work, book_id)
        chunks = [
            chunk
            for document in core.library.documents(book_id)
            for chunk in cut_document(book_id, document, core.embedder.count_tokens)
        ]
        for folder in encoders:
            ranks = ranks_of_answers(MiniLm(model_dir=folder), asked, chunks)
            shares = "  ".join(f"@{k} {np.mean(ranks < k):.2f}" for k in FIRST)
            print(f"{book_id:16}{len(asked):5}  {folder.name:12}{shares}", flush=True)
    core.close()


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
        for one in read(work / "written.jsonl")
        if one.split == "tune" and one.task == "question" and one.holds
        if one.group.split(" ")[0] == book_id
    ]


def ranks_of_answers(encoder: MiniLm, asked: Asked, chunks: Sequence[Chunk]) -> np.ndarray:
    """Count, per question, the passages that are nearer than the first with an answer."""
    vectors = encoder.encode([chunk.context for chunk in chunks])
    texts = [plain(chunk.text) for chunk in chunks]
    ranks = []
    for question, golds in asked:
        likeness = vectors @ encoder.encode([question])[0]
        right = [place for place, text in enumerate(texts) if any(gold in text for gold in golds)]
        best = max((likeness[place] for place in right), default=np.inf)
        ranks.append(np.sum(likeness > best) if right else len(chunks))
    return np.array(ranks)


if __name__ == "__main__":
    main()
