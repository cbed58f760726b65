"""Clean drafts: sentences with true quotes, as a careful generator would propose them."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bythebook.ask.verify.likeness import sentences_like
from bythebook.domain.answers import Draft, Passage
from bythebook.domain.books import Chunk, Document, Unit
from bythebook.domain.sentences import split_sentences
from bythebook.ingest.chunk import cut_document

BESIDE = 3  # passages given besides the one that a draft quotes
LEAST_WORDS = 7
_CLAUSE = re.compile(r"[,;:]\s")
_NUMBERED = re.compile(r"(?:^|\n\n)passage \d+:")
_TYPED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})


@dataclass(frozen=True, slots=True)
class Case:
    """A draft with the passages that its answer may rest on, and the book that it is of."""

    draft: Draft
    passages: tuple[Passage, ...]
    book: str

    def saying(self, text: str, quote: str | None = None) -> "Case":
        """Give the same with another sentence, and another quote where that is given."""
        ((passage, old),) = self.draft.quotes[:1]
        quotes = ((passage, old if quote is None else quote), *self.draft.quotes[1:])
        return replace(self, draft=Draft(text, quotes, self.draft.kind))


def count_roughly(texts: Sequence[str]) -> list[int]:
    """Count tokens as well as it takes for chunks of about the usual size."""
    return [len(text) // 4 + 1 for text in texts]


def book_cases(book: str, documents: Sequence[Document], most: int, seed: int) -> list[Case]:
    """Give sentences of a book, each quoting itself, among passages of the same book."""
    chunks = [chunk for one in documents for chunk in cut_document(book, one, count_roughly)]
    chance = random.Random(f"{seed} {book}")  # noqa: S311 - chosen anew, yet the same each time
    units = [(chunk, unit) for chunk in chunks for unit in chunk.units if _is_prose(chunk, unit)]
    chance.shuffle(units)
    return [_case(book, chunk, unit, chunks, chance) for chunk, unit in units[:most]]


def trimmed(case: Case) -> Case | None:
    """Cut a sentence after a clause, and show it."""
    clause = _CLAUSE.search(case.draft.text, len(case.draft.text) // 3)
    return case.saying(f"{case.draft.text[: clause.start()]} …") if clause else None


def retyped(case: Case) -> Case:
    """Quote as a model types: straight marks, other white space, a word hyphenated at a line's end."""
    quote = case.draft.quotes[0][1].translate(_TYPED)
    quote = re.sub(r"\b([a-z]{4})([a-z]{4,})\b", "\\1-\n\\2", quote, count=1).replace("  ", "\n")
    return case.saying(case.draft.text, f" “{quote}” ")


def claims(path: Path, most: int) -> list[Case]:
    """Give claims of WiCE that their evidence bears out: other words than those of the passages."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    supported = [line for line in lines if line["label"] == "supported"]
    return [_claim(number, line) for number, line in enumerate(supported[:most])]


def model_answers(path: Path, most: int, seed: int) -> list[Case]:
    """Give sentences of language models' answers in which people found nothing unsupported (RAGTruth).

    Each cites, of every passage that the model was given, the sentence that is most like it. The rules
    were made while looking at the other half of the answers, many of them over the same passages.
    """
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    chance = random.Random(f"{seed} answers")  # noqa: S311 - chosen anew, yet the same each time
    cases = [
        case
        for number, line in enumerate(lines)
        if line["label"] == "entailment"
        and number % 2  # the rules were made while looking at the rest
        for case in _answer(number, line)
    ]
    chance.shuffle(cases)
    return cases[:most]


def _answer(number: int, line: dict[str, Any]) -> Iterator[Case]:
    given = [_sentences(text) for text in _NUMBERED.split(line["d1"]) if text.strip()]
    passages = [
        Passage(_chunk(f"answer-{number}-{place}", sentences, ""), 0.9)
        for place, sentences in enumerate(given)
    ]
    for text in _sentences(line["d2"]):
        if len(text.split()) >= LEAST_WORDS and "passage" not in text.lower():
            like = [sentences_like(text, iter(sentences))[0] for sentences in given]
            quotes = [(p, quote) for p, quote in zip(passages, like, strict=True) if quote]
            yield Case(Draft(text, tuple(quotes)), tuple(passages), "answers")


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _claim(number: int, line: dict[str, Any]) -> Case:
    """Cite every sentence that the annotators did, in passages of what stands around them."""
    evidence: list[str] = line["evidence"]
    supporting: list[list[int]] = line["supporting_sentences"]
    longest = max(supporting, key=len)
    wanted = sorted(longest)
    title = " ".join(one for one in evidence[:4] if one.startswith("(meta data)"))
    passages: list[Passage] = []
    quotes: list[tuple[Passage, str]] = []
    for first, last in _windows(wanted):
        begin, end = max(0, first - 3), min(len(evidence), last + 4)
        chunk = _chunk(f"claim-{number}-{begin}", evidence[begin:end], title)
        passages.append(Passage(chunk, 0.9))
        quotes += [(passages[-1], evidence[at]) for at in wanted if first <= at <= last]
    return Case(Draft(line["claim"], tuple(quotes)), tuple(passages), "claims")


def _windows(wanted: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Draw places that are close together into one stretch."""
    first = last = wanted[0]
    for place in wanted[1:]:
        if place > last + 3:
            yield first, last
            first = place
        last = place
    yield first, last


def _chunk(name: str, sentences: Sequence[str], title: str) -> Chunk:
    text, units = "", []
    for sentence in sentences:
        text += "\n" if text else ""
        units.append(Unit("sentence", len(text), len(text) + len(sentence)))
        text += sentence
    path = (title,)
    return Chunk(
        "claims", name, 0, text, path[0], path[0], path, "", "", 0, len(text), 0, tuple(units)
    )


def _is_prose(chunk: Chunk, unit: Unit) -> bool:
    text = chunk.text[unit.start : unit.end]
    return unit.kind == "sentence" and len(text.split()) >= LEAST_WORDS


def _case(
    book: str, chunk: Chunk, unit: Unit, chunks: Sequence[Chunk], chance: random.Random
) -> Case:
    passage = Passage(chunk, 0.9)
    others = chance.sample(chunks, min(BESIDE, len(chunks)))
    beside = [Passage(other, 0.5) for other in others if other != chunk]
    text = chunk.text[unit.start : unit.end]
    return Case(Draft(text, ((passage, text),)), (passage, *beside), book)
