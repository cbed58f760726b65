"""Our own questions and claims over passages of books, which they name by the hash of their text.

questions/BOOK.jsonl has one or more lines per passage: {"passage": first 16 digits of the SHA-256 of its text,
"items": [[kind, sentences, text]]}. Kinds: Q, a question that these sentences answer; N, a look-alike that the
passage does not answer; S, a claim that these sentences support; U, a claim that the passage does not.
The passages themselves come from the books below EVAL_DATA; one that has since changed is left out.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from bythebook.bootstrap import Core
from bythebook.domain.books import Chunk
from bythebook.ingest.chunk import cut_document
from training.examples import Example

QUESTIONS = Path(__file__).parent / "questions"
BOOKS = {
    "rust-book": "rust-book",
    "kubernetes-docs": "kubernetes-docs",
    "docusaurus-docs": "docusaurus-docs",
    "ros2-docs": "ros2-docs/source",
    "fastapi-docs": "fastapi-docs/docs/en/docs",
    "openintro-pdf": "openintro-pdf/openintro-main.pdf",
    "accessible_epub_3": "epub/accessible_epub_3.epub",
    "childrens-literature": "epub/childrens-literature.epub",
    "linear-algebra": "epub/linear-algebra.epub",
    "pride-and-prejudice-standardebooks": "epub/pride-and-prejudice-standardebooks.epub",
}


def passages_of(book_id: str, core: Core) -> dict[str, Chunk]:
    """Return a book's passages by the hashes that questions name them by."""
    return {
        chunk.content_hash[:16]: chunk
        for document in core.library.documents(book_id)
        for chunk in cut_document(book_id, document, core.embedder.count_tokens)
    }


def read_written(questions: Path, passages: dict[str, Chunk]) -> Iterator[Example]:
    """Give what we wrote over a book's passages."""
    for line in questions.read_text("utf-8").splitlines():
        entry = json.loads(line)
        if chunk := passages.get(entry["passage"]):
            for kind, sentences, text in entry["items"]:
                yield _example(chunk, kind, sentences, text)


def _example(chunk: Chunk, kind: str, sentences: list[int], text: str) -> Example:
    holds = kind in "QS"
    return Example(
        f"written {chunk.book_id}",
        f"{chunk.book_id} {chunk.document_id}",
        "question" if kind in "QN" else "claim",
        text,
        " > ".join(chunk.heading_path),
        chunk.text,
        tuple((unit.start, unit.end) for unit in chunk.units),
        holds,
        tuple(number - 1 for number in sentences if number <= len(chunk.units)),
        None,
        "" if holds else "look-alike",
    )
