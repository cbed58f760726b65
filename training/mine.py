"""Hard negatives: what our own retriever finds for a question next to the passage that answers it."""

import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.retrieve.passages import find_passages
from bythebook.bootstrap import Core
from bythebook.domain.answers import Passage
from bythebook.domain.questions import Question, Scope
from training.examples import Example, only, plain


def mine_near_misses(
    examples: Sequence[Example],
    book_id: str,
    core: Core,
    share: float,
    known: Mapping[str, Example] | None = None,
) -> Iterator[Example]:
    """For answered questions give one of the best passages that do not hold the answer.

    What was found earlier is given again: mining takes longer than all the rest of preparing.
    """
    earlier = known or {}
    for example in examples:
        chooser = random.Random(example.text)  # the same whatever else is asked
        if example.task == "question" and example.holds and chooser.random() < share:
            if example.text in earlier:
                yield earlier[example.text]
                continue
            others = [
                p
                for p in retrieve_passages(example.text, book_id, core)
                if _is_elsewhere(p, example)
            ]
            if others:
                yield _over(chooser.choice(others[:3]), example)


def remove_evidence(
    examples: Sequence[Example], seed: int, *, share: float = 1.0
) -> Iterator[Example]:
    """Give the same questions and claims over the same passages without what answers or supports them.

    Nothing in their wording tells them from those that hold, so only reading can.
    """
    chooser = random.Random(seed)
    for example in examples:
        left = [n for n in range(len(example.units)) if n not in example.evidence]
        if example.holds and example.evidence and len(left) > 1 and chooser.random() < share:
            rest = only(example, left)
            answer = example.passage[slice(*example.span)] if example.span else None
            if answer is None or plain(answer) not in plain(rest.passage):
                yield replace(rest, holds=False, evidence=(), span=None, kind="taken away")


def retrieve_passages(question: str, book_id: str, core: Core) -> tuple[Passage, ...]:
    """Retrieve as the product does."""
    return asyncio.run(find_passages(make_plan(Question(question, Scope(book_id))), core))


def _is_elsewhere(passage: Passage, example: Example) -> bool:
    """Say whether a passage neither overlaps the one that answers nor has the answer's words."""
    text, own = plain(passage.chunk.text), plain(example.passage)
    if text in own or own in text or _shares_sentence(text, example):
        return False
    return example.span is None or plain(example.passage[slice(*example.span)]) not in text


def _shares_sentence(text: str, example: Example) -> bool:
    return any(plain(example.passage[start:end]) in text for start, end in example.units)


def _over(passage: Passage, example: Example) -> Example:
    chunk = passage.chunk
    return replace(
        example,
        head=" > ".join(chunk.heading_path),
        passage=chunk.text,
        units=tuple((unit.start, unit.end) for unit in chunk.units),
        holds=False,
        evidence=(),
        span=None,
        kind="retrieved",
    )
