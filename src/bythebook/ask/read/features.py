"""The judge's features of a question and the units of its passages: its model's readings, and words."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bythebook.domain.answers import Passage
from bythebook.domain.books import Unit
from bythebook.domain.text.words import FUNCTION_WORDS, normalize_word, stem
from bythebook.ports.answers import PairReading, TextEncoder

LEAST_WORDS = 3
MOST_WEIGHED = (
    24  # units, those that the model reads as best; the answer is among them in 99 of 100
)
SIGNAL_SCALE = 10.0  # so that signal and likeness vary about as much as what the model gives
LOWEST, HIGHEST = -12.0, 12.0  # of what the model gives, so that no single value outweighs all
UNIT_FEATURES = (
    "stands_out",
    "passage_answerable",
    "holds_best_span",
    "words",
    "words_with_headings",
    "passage_signal",
    "passage_words",
    "passage_rank",
    "length",
    "is_code_or_formula",
    "number_for_quantity",
    "name_for_person",
    "cause_for_why",
    "definition_for_what",
    "heading_words",
    "opens_section_asked_for",
    "likeness",
)
ANSWER_FEATURES = (
    "best_unit",
    "second_unit",
    "best_stands_out",
    "best_answerable",
    "best_span",
    "answerable_of_best_unit",
    "best_words",
    "best_words_with_headings",
    "passage_words",
    "all_words",
    "rarest_missing",
    "names_missing",
    "numbers_missing",
    "passage_signal",
    "wants_number_and_has_none",
    "likeness_of_best_unit",
    "best_likeness",
)
SUPPORT_FEATURES = (
    "best_support",
    "passage_words",
    "all_words",
    "rarest_missing",
    "names_missing",
    "numbers_missing",
)

_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]+|\b[A-Z]{2,}\w*")
_QUANTITY = re.compile(
    r"\bhow (?:many|much|long|far|fast|often|large|big|high|heavy|tall|old|deep|wide|strong)\b"
    r"|\bwhat (?:percentage|number|rate|value|fraction|range|speed|frequency|year|size|share)\b|\bwhen\b",
    re.IGNORECASE,
)
_NUMERAL = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|half|hundred|thousand|million)\b",
    re.IGNORECASE,
)
_PERSON = re.compile(r"\bwho(?:se|m)?\b", re.IGNORECASE)
_WHY = re.compile(r"\bwhy\b|\bwhat (?:causes?|makes?)\b|\breasons?\b", re.IGNORECASE)
_WHAT = re.compile(r"\bwhat(?:'s| is| are| does)\b|\bdefin|\bmean(?:s|ing)?\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:because|since|so that|therefore|due to|caus|reason|result|in order to|so)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"[^,(:;]{0,80}?(?=[,(]|\b(?:is|are|means?|refers|stands|describes?)\b)")
# As the judge's weights were trained with: a change needs another training.
_TERM = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?")
_PLAIN = FUNCTION_WORDS | frozenset(
    """again all also gets given go got having he her his if just kind let makes needs no not other out over
    put said say says shall she such take tell things too very whats while""".split()
)
_VOCABULARY_START = (
    1990  # where the encoder's vocabulary begins to run from common words to rare ones
)
_VOCABULARY_SIZE = 30522


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that may answer, with its measures in the order of UNIT_FEATURES."""

    passage: int
    unit: Unit
    measures: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """A unit with its words, before it is measured."""

    passage: int
    unit: Unit
    text: str
    head: str  # its section, and the head of its table
    read: float  # how well it answers by the model's own reading


def _iterate_readable(number: int, passage: Passage, reading: PairReading) -> Iterator[_Found]:
    """Yield the units that can be an answer: no bare label, no head of a table, nothing without a word."""
    chunk = passage.chunk
    before, table_head = "", ""
    for place, (unit, text) in enumerate(zip(chunk.units, chunk.unit_texts(), strict=True)):
        heads_table = unit.kind == "row" and before != "row"
        if unit.kind != "row" or heads_table:
            table_head = text if heads_table else ""
        long_enough = len(text.split()) >= LEAST_WORDS or passage.is_selection
        if not heads_table and long_enough and _TERM.search(text):
            head = f"{chunk.section}. {table_head} ".lstrip(". ")
            read = _clamp(reading.units[place]) + _clamp(reading.answerable)
            yield _Found(number, unit, text, head, read)
        before = unit.kind


class Terms:
    """The content words of a text, stemmed, each with its rarity in English."""

    def __init__(self, rank: Callable[[str], int | None]) -> None:
        self._rank = rank  # of a word in a vocabulary that runs from common words to rare ones
        self.rarity: dict[str, float] = {}

    def of(self, text: str) -> frozenset[str]:
        """Return the terms of a text."""
        return frozenset(self._terms(text))

    def _terms(self, text: str) -> Iterator[str]:
        for match in _TERM.finditer(text):
            word = normalize_word(match.group())
            if word not in _PLAIN:
                term = stem(word)
                if term not in self.rarity:
                    self.rarity[term] = self._rarity(word)
                yield term

    def _rarity(self, word: str) -> float:
        """Return how rare a word is, by its rank in the vocabulary, which is sorted by frequency."""
        rank = self._rank(word)
        if rank is None:
            return 1.0
        if rank < _VOCABULARY_START:  # single letters and digits
            return 0.6
        return math.log(rank - _VOCABULARY_START) / math.log(_VOCABULARY_SIZE - _VOCABULARY_START)

    def share(self, wanted: frozenset[str], found: frozenset[str]) -> float:
        """Return the share of the wanted terms that are found; rare words count more."""
        total = sum(self.rarity[term] for term in wanted)
        return sum(self.rarity[term] for term in wanted & found) / total if total else 0.0


class Measures:
    """The measures of one question over its passages."""

    def __init__(
        self,
        question: str,
        passages: Sequence[Passage],
        readings: Sequence[PairReading],
        encoder: TextEncoder,
    ) -> None:
        self._encoder = encoder
        self._terms = Terms(encoder.vocabulary_rank)
        self._question = question
        self._passages = passages
        self._readings = readings
        self._wanted = self._terms.of(question)
        self._headings = [self._terms.of(" ".join(p.chunk.heading_path)) for p in passages]
        self._titles = [self._terms.of(p.chunk.section) for p in passages]
        self._passage_terms = [
            self._terms.of(passage.chunk.text) | heading
            for passage, heading in zip(passages, self._headings, strict=True)
        ]
        self._passage_words = [self._share(terms) for terms in self._passage_terms]

    def _share(self, found: frozenset[str]) -> float:
        return self._terms.share(self._wanted, found)

    def candidates(self) -> list[Candidate]:
        """Measure the units that can be an answer; of many, those that the model ranks best."""
        found = [
            unit
            for number, (passage, reading) in enumerate(
                zip(self._passages, self._readings, strict=True)
            )
            for unit in _iterate_readable(number, passage, reading)
        ]
        best = sorted(range(len(found)), key=lambda place: -found[place].read)[:MOST_WEIGHED]
        kept = [found[place] for place in sorted(best)]
        return [
            Candidate(one.passage, one.unit, (*self._unit(one), SIGNAL_SCALE * likeness))
            for one, likeness in zip(kept, self._likeness(kept), strict=True)
        ]

    def _likeness(self, found: Sequence[_Found]) -> list[float]:
        """Compare each unit, under its headings, with the question in meaning."""
        if not found:
            return []
        asked = self._encoder.encode([self._question])[0]
        units = self._encoder.recall([one.head + one.text for one in found])
        return [float(likeness) for likeness in units @ asked]

    def _unit(self, found: _Found) -> tuple[float, ...]:
        question, text, passage = self._question, found.text, self._passages[found.passage]
        reading = self._readings[found.passage]
        terms = self._terms.of(text)
        return (
            _clamp(reading.units[passage.chunk.units.index(found.unit)]),
            _clamp(reading.answerable),
            _clamp(reading.span) * _holds(found.unit, reading),
            self._share(terms),
            self._share(terms | self._headings[found.passage]),
            SIGNAL_SCALE * passage.signal,
            self._passage_words[found.passage],
            float(min(found.passage, 7)),
            min(len(text.split()), 60) / 60,
            float(found.unit.kind in {"code", "formula"}),
            float(bool(_QUANTITY.search(question)) and bool(_NUMERAL.search(text))),
            float(bool(_PERSON.search(question)) and bool(_NAME.search(text))),
            float(bool(_WHY.search(question)) and bool(_CAUSE.search(text))),
            float(bool(_WHAT.search(question)) and self._defines(text)),
            self._share(self._titles[found.passage]),
            self._share(self._titles[found.passage]) * float(found.unit.start == 0),
        )

    def _defines(self, text: str) -> bool:
        """Return True if a sentence starts with exactly what is asked for as its subject."""
        subject = _SUBJECT.match(text)
        return subject is not None and self._terms.of(subject.group()) == self._wanted

    def answer(self, candidates: Sequence[Candidate], scores: Sequence[float]) -> tuple[float, ...]:
        """Measure how well the best units together answer, in the order of ANSWER_FEATURES."""
        order = sorted(range(len(candidates)), key=lambda i: -scores[i])
        best = candidates[order[0]]
        second = scores[order[1]] if len(order) > 1 else scores[order[0]] - 2.0
        missing = self._wanted - self._passage_terms[best.passage]
        wants_number = bool(_QUANTITY.search(self._question))
        lacks_number = not best.measures[UNIT_FEATURES.index("number_for_quantity")]
        signal = max(passage.signal for passage in self._passages)
        readings = self._readings
        return (
            scores[order[0]],
            second,
            best.measures[UNIT_FEATURES.index("stands_out")],
            _clamp(max(reading.answerable for reading in readings)),
            _clamp(max(reading.span for reading in readings)),
            best.measures[UNIT_FEATURES.index("passage_answerable")],
            best.measures[UNIT_FEATURES.index("words")],
            best.measures[UNIT_FEATURES.index("words_with_headings")],
            self._passage_words[best.passage],
            self._share(frozenset().union(*self._passage_terms)),
            self._rarest(missing),
            *self._unread(),
            SIGNAL_SCALE * signal,
            float(wants_number and lacks_number),
            best.measures[UNIT_FEATURES.index("likeness")],
            max(one.measures[UNIT_FEATURES.index("likeness")] for one in candidates),
        )

    def support(self) -> tuple[float, ...]:
        """Measure how well the passages support a claim, in the order of SUPPORT_FEATURES."""
        supports = [reading.support for reading in self._readings]
        best = supports.index(max(supports))
        everything = frozenset().union(*self._passage_terms)
        return (
            _clamp(supports[best]),
            self._passage_words[best],
            self._share(everything),
            self._rarest(self._wanted - everything),
            *self._unread(),
        )

    def _rarest(self, terms: frozenset[str]) -> float:
        return max((self._terms.rarity[term] for term in terms), default=0.0)

    def _unread(self) -> tuple[float, float]:
        """Count the names and the numbers that are in none of the passages."""
        read = " ".join(
            p.chunk.text + " " + " ".join(p.chunk.heading_path) for p in self._passages
        ).lower()
        names = _NAME.findall(self._question)
        numbers = re.findall(r"\d+(?:\.\d+)?", self._question)
        return (
            float(sum(name.lower() not in read for name in names)),
            float(sum(number not in read for number in numbers)),
        )


def _clamp(value: float) -> float:
    return max(LOWEST, min(HIGHEST, value))


def _holds(unit: Unit, reading: PairReading) -> bool:
    """Return True if the best answer begins in a unit."""
    return reading.words is not None and unit.start <= reading.words[0] < unit.end
