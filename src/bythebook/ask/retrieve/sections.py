"""Question -> the nearest sections, each with its best sentence; they are not judged."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log

from bythebook.ask.ask_ports import AskPorts
from bythebook.ask.plan.make_plan import make_plan
from bythebook.ask.retrieve.passages import find_passages
from bythebook.ask.show.links import quote_link
from bythebook.ask.verify.sentences import ELLIPSIS
from bythebook.domain.answers import Citation, Passage
from bythebook.domain.books import Unit
from bythebook.domain.questions import Question
from bythebook.domain.text.words import find_words, stem

MOST_TEXT = 200  # characters of a line
_PASSAGES_PER_SECTION = 2  # a long section has several
_OUT_OF_CONTEXT = 0.7  # weight of an item, a row or code, relative to a sentence


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section near to a question, and the sentence of it to read first."""

    citation: Citation
    text: str  # one line that begins with that sentence
    url: str  # opens the book at it
    reader_url: str  # opens our own page of the book at it

    @property
    def chapter(self) -> str:
        """The chapter it stands in."""
        return self.citation.passage.chunk.chapter

    @property
    def section(self) -> str:
        """Its title."""
        return self.citation.passage.chunk.section


async def search_sections(question: Question, ports: AskPorts) -> tuple[FoundSection, ...]:
    """Find up to `top_k` sections, best first."""
    plan = make_plan(question)
    wider = replace(plan, top_k=plan.top_k * _PASSAGES_PER_SECTION, parts=())
    passages = await find_passages(wider, ports)
    found = [one for one in _keep_best(passages) if one.chunk.units][: plan.top_k]
    weights = _Weights(plan.question, found)
    return tuple(_make_section(passage, weights, ports.reader_url) for passage in found)


def _keep_best(passages: Sequence[Passage]) -> list[Passage]:
    """Keep the best passage of each section."""
    best: dict[tuple[str, str, tuple[str, ...]], Passage] = {}
    for passage in passages:
        chunk = passage.chunk
        best.setdefault((chunk.book_id, chunk.document_id, chunk.heading_path), passage)
    return list(best.values())


class _Weights:
    """Weights of a question's words, by how rare they are in what was found."""

    def __init__(self, question: str, passages: Sequence[Passage]) -> None:
        units = [text for passage in passages for text in passage.chunk.unit_texts()]
        counts = Counter(stem for text in units for stem in _stems(text))
        self._weights = {
            stem: log((1 + len(units)) / (1 + counts[stem])) for stem in _stems(question)
        }

    def of(self, unit: Unit, text: str) -> float:
        """Weigh a unit by the words that it shares with the question."""
        stems = _stems(text)
        shared = sum(weight for stem, weight in self._weights.items() if stem in stems)
        return shared * (1.0 if unit.kind == "sentence" else _OUT_OF_CONTEXT)


def _stems(text: str) -> set[str]:
    return set(map(stem, find_words(text)))


def _make_section(passage: Passage, weights: _Weights, reader_url: str) -> FoundSection:
    chunk = passage.chunk
    unit = max(chunk.units, key=lambda one: weights.of(one, chunk.text[one.start : one.end]))
    citation = Citation(
        passage,
        chunk.text[unit.start : unit.end],
        chunk.char_start + unit.start,
        chunk.char_start + unit.end,
    )
    return FoundSection(
        citation,
        _line(_from(unit, passage)),
        quote_link(citation, reader_url),
        _reader_link(citation, reader_url),
    )


def _reader_link(citation: Citation, reader_url: str) -> str:
    """Link to our own page even if the book has a site; our page marks the quote itself."""
    homeless = replace(citation.passage.chunk, source_url="")
    passage = replace(citation.passage, chunk=homeless)
    return quote_link(replace(citation, passage=passage), reader_url).partition(":~:")[0]


def _from(unit: Unit, passage: Passage) -> Iterator[str]:
    chunk = passage.chunk
    for one in chunk.units:
        if one.start >= unit.start:
            yield " ".join(chunk.text[one.start : one.end].split())


def _line(sentences: Iterator[str]) -> str:
    """Join sentences into a line while they fit; a first one that does not fit is cut between words."""
    line = next(sentences)
    if len(line) > MOST_TEXT:
        room = line[: MOST_TEXT - len(ELLIPSIS)]
        return (room[: room.rfind(" ")] if " " in room else room).rstrip(" ,;:|") + ELLIPSIS
    for sentence in sentences:
        if len(line) + 1 + len(sentence) > MOST_TEXT:
            break
        line = f"{line} {sentence}"
    return line
