"""Make the judge's examples: `python -m training.prepare WORK`.

Reads the training sets and books below EVAL_DATA and our own questions beside this file, asks our own
retriever for hard negatives, and writes WORK/public.jsonl and WORK/written.jsonl.
"""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bythebook.bootstrap import Core
from bythebook.evaluate.sets import ArticleReader, load_articles
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings
from training import public_sets
from training.examples import Example, read, write
from training.mine import found_in_vain, taken_away
from training.written import BOOKS, written

SEED = 20261116


def main() -> None:
    """Prepare what is not there yet."""
    if len(sys.argv) != 2 or not os.environ.get("EVAL_DATA"):
        sys.exit("Set EVAL_DATA, and give a folder to work in: python -m training.prepare WORK")
    data, work = Path(os.environ["EVAL_DATA"]), Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    core = Core(Settings(data_dir=work / "books"))
    for name, prepare in (("public", prepare_public), ("written", prepare_written)):
        path = work / f"{name}.jsonl"
        if not path.exists():
            print(f"{path}: {write(path, prepare(data, core)):,} examples")
        show(list(read(path)))
    core.close()


def prepare_public(data: Path, core: Core) -> list[Example]:
    """Give the public sets, with what the retriever finds in vain for SQuAD's questions."""
    articles = load_articles(data / "squad2" / "squad2_train.json")
    articles += load_articles(data / "squad2" / "squad1_other_articles.json")
    publish(core, "squad", "squad", ArticleReader(tuple(articles)))
    asked = list(public_sets.squad(data))
    mined = found_in_vain(asked, "squad", core, SEED, share=0.8)
    rest = (*public_sets.tales(data), *public_sets.covid(data), *public_sets.wice(data))
    claims = public_sets.sentences_as_claims((*asked, *rest))
    return [*asked, *mined, *rest, *claims, *taken_away((*asked, *rest), SEED, share=0.7)]


def prepare_written(data: Path, core: Core) -> list[Example]:
    """Give our own questions and claims, with what the retriever finds in vain in the same book."""
    articles = load_articles(data / "squad2" / "squad2_train.json")
    articles += load_articles(data / "squad2" / "squad1_other_articles.json")
    publish(core, "squad", "squad", ArticleReader(tuple(articles)))
    for book_id, source in BOOKS.items():
        publish(core, book_id, str(data / "books" / source))
    examples: list[Example] = []
    for book_id in ("squad", *BOOKS):
        here = list(written(book_id, core))
        mined = found_in_vain(here, book_id, core, SEED, share=0.7)
        examples += [*here, *mined, *taken_away(here, SEED)]
    return examples


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
