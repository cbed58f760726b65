"""Make the examples that training reads: `python -m training.prepare WORK [--questions FOLDER]`.

Reads the training sets and books below EVAL_DATA and our own questions, asks our own retriever for hard negatives, and
writes WORK/examples/*.jsonl: one file for the public sets, one per book. A file is made again only where the questions
it comes from have changed, so the same command takes in what was written since. Next to each file stands one with
claims made by rule from it.
"""

import argparse
import asyncio
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evals.sets.articles import ArticleReader, load_articles

from bythebook.bootstrap import Core
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings
from training import public_sets
from training.corrupted import Corrupter
from training.examples import Example, read, read_prepared, write
from training.mine import mine_near_misses, remove_evidence
from training.written import BOOKS, QUESTIONS, passages_of, read_written

SEED = 20261116
HERE = Path(__file__).parent
RULES = ("contrasts.py", "corrupt.py", "corrupted.py")  # a change of theirs makes new claims


def main() -> None:
    """Prepare what is not there yet or has changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    given = parser.parse_args()
    if not os.environ.get("EVAL_DATA"):
        sys.exit("Set EVAL_DATA to the folder of question sets and books.")
    data, work = Path(os.environ["EVAL_DATA"]), given.work
    (work / "examples").mkdir(parents=True, exist_ok=True)
    core = Core(Settings(data_dir=work / "books"))
    publish_articles(core, data)
    refresh(work, "public", b"", lambda: prepare_public(data, core))
    for book_id in ("squad", *BOOKS):
        questions = given.questions / f"{book_id}.jsonl"
        if questions.exists():
            name = f"written-{book_id}"
            known = load_mined(work / "examples" / f"{name}.jsonl")
            prepare = partial(prepare_written, book_id, questions, data, core, known)
            refresh(work, name, questions.read_bytes(), prepare)
    core.close()
    for path in sorted((work / "examples").glob("*.jsonl")):
        if not path.name.startswith("corrupted-"):
            rules = b"".join((HERE / name).read_bytes() for name in RULES)
            source = path.with_suffix(".source").read_bytes() + rules
            refresh(work, f"corrupted-{path.stem}", source, partial(prepare_corrupted, path))
    show(list(read_prepared(work)))


def refresh(work: Path, name: str, source: bytes, prepare: Callable[[], Iterable[Example]]) -> None:
    """Write a file of examples, unless it was made from the same source."""
    path, mark = work / "examples" / f"{name}.jsonl", work / "examples" / f"{name}.source"
    digest = hashlib.sha256(source).hexdigest()
    if not (path.exists() and mark.exists() and mark.read_text() == digest):
        print(f"{path}: {write(path, prepare()):,} examples", flush=True)
        mark.write_text(digest)


def prepare_public(data: Path, core: Core) -> list[Example]:
    """Return the public sets, with what the retriever finds in vain for SQuAD's questions."""
    asked = list(public_sets.squad(data))
    mined = mine_near_misses(asked, "squad", core, share=0.8)
    rest = (*public_sets.tales(data), *public_sets.covid(data), *public_sets.wice(data))
    claims = public_sets.sentences_as_claims((*asked, *rest))
    return [*asked, *mined, *rest, *claims, *remove_evidence((*asked, *rest), SEED, share=0.7)]


def prepare_written(
    book_id: str, questions: Path, data: Path, core: Core, known: Mapping[str, Example]
) -> list[Example]:
    """Return our own questions and claims, with what the retriever finds in vain in the same book."""
    if book_id in BOOKS:
        publish(core, book_id, str(data / "books" / BOOKS[book_id]))
    here = list(read_written(questions, passages_of(book_id, core)))
    mined = mine_near_misses(here, book_id, core, share=0.7, known=known)
    return [*here, *mined, *remove_evidence(here, SEED)]


def load_mined(path: Path) -> dict[str, Example]:
    """Return what was found in vain when a file of examples was made the last time, by question."""
    if not path.exists():
        return {}
    return {one.text: one for one in read(path) if one.kind == "retrieved"}


def prepare_corrupted(path: Path) -> Iterator[Example]:
    """Return claims made by rule from a file of examples."""
    return Corrupter(SEED).make(read(path))


def publish_articles(core: Core, data: Path) -> None:
    """Ingest SQuAD's training articles as one book."""
    articles = load_articles(data / "squad2" / "squad2_train.json")
    articles += load_articles(data / "squad2" / "squad1_other_articles.json")
    publish(core, "squad", "squad", ArticleReader(tuple(articles)))


def publish(core: Core, book_id: str, source: str, reader: ArticleReader | None = None) -> None:
    """Ingest a book, unless it is there."""
    if book_id not in {book.book_id for book in core.library.books()}:
        ports = replace(core.ingest, reader=reader) if reader else core.ingest
        asyncio.run(ingest(IngestOrder(source, book_id), ports, lambda _: None))


def show(examples: Sequence[Example]) -> None:
    """Count examples by what they are."""
    counts = Counter((e.source, e.task, e.holds, e.kind, e.split) for e in examples)
    for key, count in sorted(counts.items(), key=str):
        print(f"{count:8,}", *key)


if __name__ == "__main__":
    main()
