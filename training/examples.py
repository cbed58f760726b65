"""What the judge learns from: a question or a claim over one passage, and what is true of it."""

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from bythebook.domain.text.sentences import split_sentences

Task = Literal["question", "claim"]
Split = Literal["train", "tune"]
_SPACE = re.compile(r"\s+")
_TUNE_ARTICLES = frozenset({"squad Normans", "squad Prime_number", "squad Teacher"})


@dataclass(frozen=True, slots=True)
class Example:
    """One pair that the judge reads."""

    source: str  # the set it comes from
    group: str  # what never stands in training and in checking at once: an article, a story, a page
    task: Task
    text: str  # the question or the claim
    head: str  # the headings that the passage stands under
    passage: str
    units: tuple[tuple[int, int], ...]  # sentences, items and rows of the passage
    holds: bool  # the passage answers the question, or supports the claim
    evidence: tuple[int, ...] = ()  # the units that do; empty where that is not known
    span: tuple[int, int] | None = None  # the answer itself, where the set marks it
    kind: str = ""  # of what does not hold: a look-alike, or a passage that was retrieved in vain

    @property
    def split(self) -> Split:
        """Hold three articles and one in fifteen of all other groups back, to tune on."""
        if self.group.startswith("squad "):
            return "tune" if self.group in _TUNE_ARTICLES else "train"
        held_back = int(hashlib.sha256(self.group.encode()).hexdigest(), 16) % 15 == 0
        return "tune" if held_back else "train"


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Give where the sentences of a plain text stand."""
    return tuple((start, end) for start, end in split_sentences(text) if text[start:end].strip())


def units_of_span(units: Sequence[tuple[int, int]], span: tuple[int, int]) -> tuple[int, ...]:
    """Give the units that a span touches."""
    return tuple(n for n, (start, end) in enumerate(units) if start < span[1] and span[0] < end)


def crop(example: Example, chooser: random.Random) -> Example:
    """Leave out sentences by chance, though none of the evidence.

    Readers select a sentence or two, and passages that lack their answer are shorter by it: how much
    there is to read must say nothing.
    """
    others = [n for n in range(len(example.units)) if n not in example.evidence]
    if not others or (example.holds and not example.evidence):
        return example
    fewest = 0 if example.evidence else 1
    left = {*example.evidence, *chooser.sample(others, chooser.randint(fewest, len(others)))}
    return only(example, sorted(left))


def only(example: Example, left: Sequence[int]) -> Example:
    """Give an example with these of its units and no others, each parted from the next by a space."""
    text, units, span = "", [], None
    for number in left:
        start, end = example.units[number]
        text += " " if text else ""
        if example.span and start <= example.span[0] and example.span[1] <= end:
            shift = len(text) - start
            span = (example.span[0] + shift, example.span[1] + shift)
        units.append((len(text), len(text) + end - start))
        text += example.passage[start:end]
    kept = list(left)
    evidence = tuple(kept.index(number) for number in example.evidence if number in kept)
    return replace(example, passage=text, units=tuple(units), evidence=evidence, span=span)


def plain(text: str) -> str:
    """Fold case and white space, to compare texts."""
    return _SPACE.sub(" ", text).strip().casefold()


def write(path: Path, examples: Iterable[Example]) -> int:
    """Write examples as JSON lines, whole or not at all; give how many."""
    part = path.with_suffix(".part")
    count = 0
    with part.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
            count += 1
    part.replace(path)
    return count


def read_prepared(work: Path) -> Iterator[Example]:
    """Read all examples that were prepared."""
    for path in sorted((work / "examples").glob("*.jsonl")):
        yield from read(path)


def read(path: Path) -> Iterator[Example]:
    """Read what `write` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            value["units"] = tuple((start, end) for start, end in value["units"])
            value["evidence"] = tuple(value["evidence"])
            value["span"] = tuple(value["span"]) if value["span"] else None
            yield Example(**value)
