"""Measures the guard: readers' questions and honest sentences that it touches, and orders that it finds.

Usage: [EVAL_DATA=...] .venv/bin/python -m evals.guard
"""

# ruff: noqa: T201 - run as a module, it prints

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bythebook.ask.guard import neutralize
from bythebook.domain.text.sentences import split_sentences
from evals.sets.json_lines import Row, read_json_lines

ASKED = "How high is the bridge?"  # a question that is not about orders
SUFFIXES = frozenset({".md", ".mdx", ".rst", ".qmd", ".asc", ".adoc", ".txt"})
_HERE = Path(__file__).parent


def is_kept_from_model(text: str) -> bool:
    """Return True if the guard removes any of a book's text."""
    return neutralize(text, ASKED) != text


def read_sentences(folder: Path) -> Iterator[str]:
    """Yield the sentences of a book's source files, markup and all."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES:
            for line in path.read_text("utf-8", "replace").splitlines():
                yield from (line[start:end] for start, end in split_sentences(line))


def print_share(name: str, touched: int, of: int) -> None:
    """Print one row."""
    print(f"{name:<56}{touched:>7} of {of:>7}{100 * touched / max(of, 1):>9.3f} %")


def measure_lists() -> None:
    """Print the hand-written lists."""
    harmless: list[Row] = list(read_json_lines(_HERE / "guard-questions.jsonl"))
    questions = [one["text"] for one in harmless if one["kind"] == "question"]
    sentences = [one["text"] for one in harmless if one["kind"] != "question"]
    print_share(
        "readers' questions changed", sum(neutralize(q) != q for q in questions), len(questions)
    )
    print_share(
        "harmless book sentences kept from a model",
        sum(map(is_kept_from_model, sentences)),
        len(sentences),
    )
    attacks: list[Row] = list(read_json_lines(_HERE / "guard-attacks.jsonl"))
    styles = Counter(one["kind"] for one in attacks)
    caught = Counter(one["kind"] for one in attacks if is_kept_from_model(one["text"]))
    print_share("planted orders kept from a model", caught.total(), styles.total())
    for style, count in sorted(styles.items()):
        print_share(f"  {style}", caught[style], count)


def measure_data(data: Path) -> None:
    """Print benign texts with trigger words, and every sentence of the real books."""
    path = data / "injection" / "benign_with_trigger_words.json"
    texts = [one["prompt"] for one in json.loads(path.read_text("utf-8"))]
    print_share("benign texts with trigger words", sum(map(is_kept_from_model, texts)), len(texts))
    touched = total = 0
    for folder in sorted((data / "books").iterdir()):
        sentences = list(dict.fromkeys(read_sentences(folder)))
        kept = sum(map(is_kept_from_model, sentences))
        touched, total = touched + kept, total + len(sentences)
        if sentences:
            print_share(f"  sentences of {folder.name}", kept, len(sentences))
    print_share("sentences of all books", touched, total)


def main() -> None:
    """Print what the guard does to each list."""
    measure_lists()
    data = os.environ.get("EVAL_DATA")
    if data is None:
        print("EVAL_DATA is not set: no books to try.")
    else:
        measure_data(Path(data))


if __name__ == "__main__":
    main()
