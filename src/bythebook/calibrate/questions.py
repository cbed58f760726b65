"""A book's documents -> questions that it answers, each with the place of its answer."""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from bythebook.calibrate.wording import (
    Rule,
    content_words,
    heading_questions,
    heading_topic,
    is_prose,
    sentence_question,
)
from bythebook.domain.books import Block, Document, Section
from bythebook.domain.text.units import block_units

_COUNTED = 2000  # paragraphs of which the words are counted
_FEWEST_READ, _READ_EACH = 20, 6  # paragraphs: in a document, and for each question wanted of it
_SHARES: Mapping[Rule, float] = {  # of the questions, if the book has as many
    "heading": 0.3,
    "definition": 0.2,
    "number": 0.15,
    "cause": 0.15,
    "terms": 0.2,
}


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    """A question made from the book, and the place that answers it."""

    text: str
    rule: Rule
    document_id: str
    start: int  # of what answers, in the document's text
    end: int
    source: str  # the sentence or heading that it was made from
    answer: tuple[str, ...] = ()  # words that identify an answer; for a number, the number


def draw_questions(documents: Sequence[Document], wanted: int, seed: int) -> list[OwnQuestion]:
    """Draw questions evenly over documents and rules; the same for the same seed and book."""
    order = sorted(documents, key=lambda document: document.document_id)
    random = Random(seed)  # noqa: S311 - a fixed draw, no secret
    random.shuffle(order)
    most = max(_FEWEST_READ, _READ_EACH * wanted // max(1, len(order)))
    rarity = _rarity(order)
    stocks = [_Stock(document, rarity, most, random.random()) for document in order]
    drawn: dict[str, OwnQuestion] = {}
    used: Counter[Rule] = Counter()
    while stocks and len(drawn) < wanted:
        for stock in list(stocks):
            question = stock.take(sorted(_SHARES, key=lambda rule: used[rule] / _SHARES[rule]))
            if question is None:
                stocks.remove(stock)
            elif drawn.setdefault(question.text.lower(), question) is question:
                used[question.rule] += 1
            if len(drawn) == wanted:
                break
    return list(drawn.values())


class _Stock:
    """The questions of one document by rule, made on first use."""

    def __init__(
        self, document: Document, rarity: Callable[[str], float], most: int, seed: float
    ) -> None:
        self._document, self._rarity, self._most, self._seed = document, rarity, most, seed
        self._made: dict[Rule, list[OwnQuestion]] | None = None

    def take(self, rules: Sequence[Rule]) -> OwnQuestion | None:
        """Return a question of the first of these rules that has one left."""
        if self._made is None:
            self._made = self._make()
        for rule in rules:
            if self._made[rule]:
                return self._made[rule].pop()
        return None

    def _make(self) -> dict[Rule, list[OwnQuestion]]:
        random = Random(self._seed)  # noqa: S311 - a fixed draw, no secret
        made: dict[Rule, list[OwnQuestion]] = {rule: [] for rule in _SHARES}
        paragraphs = [block for block in self._document.blocks if block.kind == "paragraph"]
        read = random.sample(paragraphs, min(self._most, len(paragraphs)))
        for question in (
            *_from_headings(self._document, random),
            *_from_sentences(self._document, read, self._rarity),
        ):
            made[question.rule].append(question)
        for questions in made.values():
            random.shuffle(questions)
        return made


def _from_headings(document: Document, random: Random) -> Iterator[OwnQuestion]:
    for section in document.sections:
        topic = heading_topic(section.title)
        if topic and _has_prose(document, section):
            text = random.choice(heading_questions(topic))
            end = _end_of_subtree(document, section)
            yield OwnQuestion(
                text, "heading", document.document_id, section.start, end, section.title
            )


def _has_prose(document: Document, section: Section) -> bool:
    """Return True if prose follows a heading directly."""
    first = bisect_left(document.blocks, section.start, key=lambda block: block.start)
    for block in document.blocks[first:]:
        if block.start >= section.end:
            return False
        if block.kind == "paragraph":
            units = block_units(document.text, block)
            if any(is_prose(document.text[unit.start : unit.end]) for unit in units):
                return True
    return False


def _end_of_subtree(document: Document, section: Section) -> int:
    """Return where a heading's subsections end."""
    end = section.end
    first = bisect_left(document.sections, end, key=lambda other: other.start)
    for other in document.sections[first:]:
        if other.path[: len(section.path)] != section.path:
            break
        end = other.end
    return end


def _from_sentences(
    document: Document, paragraphs: Sequence[Block], rarity: Callable[[str], float]
) -> Iterator[OwnQuestion]:
    for block in paragraphs:
        for unit in block_units(document.text, block):
            sentence = " ".join(document.text[unit.start : unit.end].split())
            if is_prose(sentence) and (made := sentence_question(sentence, rarity)):
                rule, text, answer = made
                yield OwnQuestion(
                    text, rule, document.document_id, unit.start, unit.end, sentence, answer
                )


def _rarity(documents: Sequence[Document]) -> Callable[[str], float]:
    """Count the paragraphs that contain each word."""
    paragraphs = (
        document.text[block.start : block.end]
        for document in documents
        for block in document.blocks
        if block.kind == "paragraph"
    )
    counts: Counter[str] = Counter()
    total = 1
    for paragraph in islice(paragraphs, _COUNTED):
        counts.update(set(content_words(paragraph)))
        total += 1
    return lambda word: math.log(total / (1 + counts[word]))
