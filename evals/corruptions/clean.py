"""Clean drafts: sentences with true quotes, as a careful generator proposes them."""

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
from bythebook.domain.text.sentences import split_sentences
from bythebook.ingest.chunk import cut_document

OTHER_PASSAGES = 3  # given in addition to the passage that a draft quotes
LEAST_WORDS = 7
_CLAUSE = re.compile(r"[,;:]\s")
_NUMBERED = re.compile(r"(?:^|\n\n)passage \d+:")
_TYPED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "..."})


@dataclass(frozen=True, slots=True)
class Case:
    """A draft, the passages that it may cite, and its book."""

    draft: Draft
    passages: tuple[Passage, ...]
    book: str

    def with_text(self, text: str, quote: str | None = None) -> "Case":
        """Return the same case with another sentence and, if given, another quote."""
        ((passage, old),) = self.draft.quotes[:1]
        quotes = ((passage, old if quote is None else quote), *self.draft.quotes[1:])
        return replace(self, draft=Draft(text, quotes, self.draft.kind))


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate token counts, well enough for chunks of about the usual size."""
    return [len(text) // 4 + 1 for text in texts]


def make_book_cases(book: str, documents: Sequence[Document], most: int, seed: int) -> list[Case]:
    """Make cases of sentences of a book, each quoting itself, among passages of the same book."""
    chunks = [chunk for one in documents for chunk in cut_document(book, one, estimate_tokens)]
    random_source = random.Random(f"{seed} {book}")  # noqa: S311 - a fixed seed
    units = [(chunk, unit) for chunk in chunks for unit in chunk.units if _is_prose(chunk, unit)]
    random_source.shuffle(units)
    return [
        _make_book_case(book, chunk, unit, chunks, random_source) for chunk, unit in units[:most]
    ]


def trim_sentence(case: Case) -> Case | None:
    """Cut a sentence after a clause, and mark the cut."""
    clause = _CLAUSE.search(case.draft.text, len(case.draft.text) // 3)
    return case.with_text(f"{case.draft.text[: clause.start()]} …") if clause else None


def retype_quote(case: Case) -> Case:
    """Retype a quote as a model does: straight quotation marks, other white space, a hyphenated word."""
    quote = case.draft.quotes[0][1].translate(_TYPED)
    quote = re.sub(r"\b([a-z]{4})([a-z]{4,})\b", "\\1-\n\\2", quote, count=1).replace("  ", "\n")
    return case.with_text(case.draft.text, f" “{quote}” ")


def load_claims(path: Path, most: int) -> list[Case]:
    """Load claims of WiCE that their evidence supports, in other words than those of the passages."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    supported = [line for line in lines if line["label"] == "supported"]
    return [_make_claim_case(number, line) for number, line in enumerate(supported[:most])]


def load_model_answers(path: Path, most: int, seed: int) -> list[Case]:
    """Load sentences of language models' answers in which people found nothing unsupported (RAGTruth).

    Each cites, from every passage that the model was given, the most similar sentence. The rules were
    written with the other half of the answers in view, many of them over the same passages.
    """
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    random_source = random.Random(f"{seed} answers")  # noqa: S311 - a fixed seed
    cases = [
        case
        for number, line in enumerate(lines)
        if line["label"] == "entailment"
        and number % 2  # the rules were written with the rest in view
        for case in _make_answer_cases(number, line)
    ]
    random_source.shuffle(cases)
    return cases[:most]


def _make_answer_cases(number: int, line: dict[str, Any]) -> Iterator[Case]:
    given = [_split_text(text) for text in _NUMBERED.split(line["d1"]) if text.strip()]
    passages = [
        Passage(_make_chunk(f"answer-{number}-{place}", sentences, ""), 0.9)
        for place, sentences in enumerate(given)
    ]
    for text in _split_text(line["d2"]):
        if len(text.split()) >= LEAST_WORDS and "passage" not in text.lower():
            like = [sentences_like(text, iter(sentences))[0] for sentences in given]
            quotes = [(p, quote) for p, quote in zip(passages, like, strict=True) if quote]
            yield Case(Draft(text, tuple(quotes)), tuple(passages), "answers")


def _split_text(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def _make_claim_case(number: int, line: dict[str, Any]) -> Case:
    """Cite the sentences that the annotators cited, in passages made of the text around them."""
    evidence: list[str] = line["evidence"]
    supporting: list[list[int]] = line["supporting_sentences"]
    longest = max(supporting, key=len)
    wanted = sorted(longest)
    title = " ".join(one for one in evidence[:4] if one.startswith("(meta data)"))
    passages: list[Passage] = []
    quotes: list[tuple[Passage, str]] = []
    for first, last in _group_places(wanted):
        begin, end = max(0, first - 3), min(len(evidence), last + 4)
        chunk = _make_chunk(f"claim-{number}-{begin}", evidence[begin:end], title)
        passages.append(Passage(chunk, 0.9))
        quotes += [(passages[-1], evidence[at]) for at in wanted if first <= at <= last]
    return Case(Draft(line["claim"], tuple(quotes)), tuple(passages), "claims")


def _group_places(wanted: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Group places that are close together."""
    first = last = wanted[0]
    for place in wanted[1:]:
        if place > last + 3:
            yield first, last
            first = place
        last = place
    yield first, last


def _make_chunk(name: str, sentences: Sequence[str], title: str) -> Chunk:
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


def _make_book_case(
    book: str, chunk: Chunk, unit: Unit, chunks: Sequence[Chunk], random_source: random.Random
) -> Case:
    passage = Passage(chunk, 0.9)
    others = random_source.sample(chunks, min(OTHER_PASSAGES, len(chunks)))
    unquoted = [Passage(other, 0.5) for other in others if other != chunk]
    text = chunk.text[unit.start : unit.end]
    return Case(Draft(text, ((passage, text),)), (passage, *unquoted), book)
