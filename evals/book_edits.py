"""Edits a book as its editors do, and knows where each of its sentences went.

A document is a run of segments: units, which can be cited, and what stands between them. Every edit changes segments,
so that the true place of each unit is known to the character.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from bythebook.domain.books import Chunk, Document

Fate = Literal["standing", "edited", "rewritten", "deleted"]
LIGHT_EDITS = 2  # of one unit; with more it is rewritten
_WORD = re.compile(r"[^\W\d_]{4,}")
_FILLERS = ("in most cases", "as a rule", "today", "for example", "of course", "in practice")
_NEW = (
    "This paragraph was added when the chapter was revised.",
    "Readers of earlier editions asked for one more remark here.",
    "More on this follows below.",
)


@dataclass(slots=True)
class Segment:
    """A unit, or the text between two."""

    text: str
    unit: int | None = None  # its number in the whole book
    heading: bool = False
    edits: int = 0


@dataclass(slots=True)
class EditedDocument:
    """A document as a run of segments."""

    document_id: str
    title: str
    segments: list[Segment]

    @property
    def text(self) -> str:
        """Its text now."""
        return "".join(segment.text for segment in self.segments)

    def units(self) -> list[int]:
        """Return the places of units among the segments."""
        return [place for place, one in enumerate(self.segments) if one.unit is not None]

    def headings(self) -> list[int]:
        """Return the places of headings among the segments."""
        return [place for place, one in enumerate(self.segments) if one.heading]


@dataclass(frozen=True, slots=True)
class Truth:
    """What became of a unit."""

    fate: Fate
    document_id: str = ""
    start: int = 0
    end: int = 0


@dataclass(slots=True)
class EditedBook:
    """A book under revision."""

    documents: list[EditedDocument]
    units: int
    counts: dict[str, int] = field(default_factory=dict)

    def truths(self) -> dict[int, Truth]:
        """Return where each unit stands now; those that are not in it are deleted."""
        found: dict[int, Truth] = {}
        for document in self.documents:
            at = 0
            for segment in document.segments:
                if segment.unit is not None:
                    fate: Fate = "standing"
                    if segment.edits:
                        fate = "edited" if segment.edits <= LIGHT_EDITS else "rewritten"
                    end = at + len(segment.text)
                    found[segment.unit] = Truth(fate, document.document_id, at, end)
                at += len(segment.text)
        return found

    def edit(self, times: int, rng: random.Random) -> None:
        """Make so many edits, of every kind."""
        while times:
            name, change = rng.choices(_KINDS, weights=_WEIGHTS)[0]
            if change(self, rng):
                self.counts[name] = self.counts.get(name, 0) + 1
                times -= 1


def open_book(documents: Sequence[Document], chunks: Sequence[Sequence[Chunk]]) -> EditedBook:
    """Split documents into segments; units are numbered in the order of the chunks."""
    edited: list[EditedDocument] = []
    number = 0
    for document, its in zip(documents, chunks, strict=True):
        spans = []
        for chunk in its:
            for unit in chunk.units:
                spans.append((chunk.char_start + unit.start, chunk.char_start + unit.end, number))
                number += 1
        segments = list(_split(document, sorted(spans)))
        edited.append(EditedDocument(document.document_id, document.title, segments))
    return EditedBook(edited, number)


def _split(document: Document, spans: Sequence[tuple[int, int, int]]) -> Iterator[Segment]:
    at = 0
    for start, end, number in spans:
        if start < at:  # a unit of two chunks
            continue
        yield from _between(document, at, start)
        yield Segment(document.text[start:end], number)
        at = end
    yield from _between(document, at, len(document.text))


def _between(document: Document, start: int, end: int) -> Iterator[Segment]:
    at = start
    for block in document.blocks:
        if block.kind == "heading" and start <= block.start < block.end <= end:
            if at < block.start:
                yield Segment(document.text[at : block.start])
            yield Segment(document.text[block.start : block.end], heading=True)
            at = block.end
    if at < end:
        yield Segment(document.text[at:end])


Change = Callable[[EditedBook, random.Random], bool]


def _pick_unit(
    book: EditedBook, rng: random.Random, least: int = 30
) -> tuple[EditedDocument, int] | None:
    document = rng.choice(book.documents)
    places = [place for place in document.units() if len(document.segments[place].text) >= least]
    return (document, rng.choice(places)) if places else None


def _rewrite(make: Callable[[str, random.Random], str]) -> Change:
    """Change the words of one unit."""

    def change(book: EditedBook, rng: random.Random) -> bool:
        picked = _pick_unit(book, rng)
        if picked is None:
            return False
        segment = picked[0].segments[picked[1]]
        text = make(segment.text, rng)
        if text == segment.text:
            return False
        segment.text, segment.edits = text, segment.edits + 1
        return True

    return change


def _at_word(text: str, rng: random.Random, make: Callable[[str], str]) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = rng.choice(words)
    return text[: word.start()] + make(word.group()) + text[word.end() :]


def _mistype(text: str, rng: random.Random) -> str:
    def make(word: str) -> str:
        at = rng.randrange(1, len(word) - 1)
        return rng.choice(
            (
                word[:at] + word[at + 1 :],
                word[:at] + word[at] + word[at:],
                word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            )
        )

    return _at_word(text, rng, make)


def _replace_word(text: str, rng: random.Random) -> str:
    return _at_word(text, rng, lambda _word: rng.choice(("usual", "simple", "given", "common")))


def _insert_words(text: str, rng: random.Random) -> str:
    return _at_word(text, rng, lambda word: f"{word}, {rng.choice(_FILLERS)},")


def _drop_word(text: str, rng: random.Random) -> str:
    return re.sub(" {2,}", " ", _at_word(text, rng, lambda _word: ""))


def _split_sentence(text: str, _rng: random.Random) -> str:
    return re.sub(r", (and|but|which|so) ", r". \1 ", text, count=1)


def _split_paragraph(book: EditedBook, rng: random.Random) -> bool:
    return _change_gap(book, rng, " ", "\n\n")


def _merge_paragraphs(book: EditedBook, rng: random.Random) -> bool:
    return _change_gap(book, rng, "\n\n", " ")


def _change_gap(book: EditedBook, rng: random.Random, old: str, new: str) -> bool:
    segments = rng.choice(book.documents).segments
    gaps = [
        place
        for place in range(1, len(segments) - 1)
        if segments[place].text == old
        and segments[place - 1].unit is not None
        and segments[place + 1].unit is not None
    ]
    if not gaps:
        return False
    segments[rng.choice(gaps)].text = new
    return True


def _section(document: EditedDocument, rng: random.Random) -> tuple[int, int] | None:
    headings = document.headings()
    if len(headings) < 3:
        return None
    number = rng.randrange(1, len(headings))
    end = headings[number + 1] if number + 1 < len(headings) else len(document.segments)
    return headings[number], end


def _move_section(book: EditedBook, rng: random.Random) -> bool:
    """Move a section, half of the time into another document."""
    document = rng.choice(book.documents)
    span = _section(document, rng)
    if span is None:
        return False
    moved = [*document.segments[span[0] : span[1]], Segment("\n\n")]
    del document.segments[span[0] : span[1]]
    target = document if rng.random() < 0.5 else rng.choice(book.documents)
    places = [*target.headings()[1:], len(target.segments)]
    at = rng.choice(places)
    target.segments[at:at] = [Segment("\n\n"), *moved]
    return True


def _move_paragraph(book: EditedBook, rng: random.Random) -> bool:
    """Move a unit with its neighbours, as far as the paragraph goes."""
    picked = _pick_unit(book, rng)
    if picked is None:
        return False
    document, place = picked
    start, end = _paragraph(document, place)
    moved = document.segments[start:end]
    del document.segments[start:end]
    gaps = [at for at, one in enumerate(document.segments) if one.text == "\n\n"]
    at = rng.choice(gaps) if gaps else len(document.segments)
    document.segments[at:at] = [Segment("\n\n"), *moved]
    return True


def _paragraph(document: EditedDocument, place: int) -> tuple[int, int]:
    start = end = place
    segments = document.segments
    while start and "\n\n" not in segments[start - 1].text and not segments[start - 1].heading:
        start -= 1
    while end + 1 < len(segments) and "\n\n" not in segments[end + 1].text:
        end += 1
    return start, end + 1


def _rename_heading(book: EditedBook, rng: random.Random) -> bool:
    document = rng.choice(book.documents)
    headings = document.headings()
    if not headings:
        return False
    segment = document.segments[rng.choice(headings)]
    segment.text = rng.choice(("A closer look: {}", "{} in practice", "More about {}")).format(
        segment.text
    )
    return True


def _rename_document(book: EditedBook, rng: random.Random) -> bool:
    document = rng.choice(book.documents)
    document.document_id = f"{document.document_id}-{rng.randrange(10**6)}"
    return True


def _delete_unit(book: EditedBook, rng: random.Random) -> bool:
    picked = _pick_unit(book, rng, least=1)
    if picked is None:
        return False
    del picked[0].segments[picked[1]]
    return True


def _delete_paragraph(book: EditedBook, rng: random.Random) -> bool:
    picked = _pick_unit(book, rng)
    if picked is None:
        return False
    start, end = _paragraph(*picked)
    del picked[0].segments[start:end]
    return True


def _delete_section(book: EditedBook, rng: random.Random) -> bool:
    document = rng.choice(book.documents)
    span = _section(document, rng)
    if span is None:
        return False
    del document.segments[span[0] : span[1]]
    return True


def _add_paragraph(book: EditedBook, rng: random.Random) -> bool:
    segments = rng.choice(book.documents).segments
    gaps = [place for place, one in enumerate(segments) if one.text == "\n\n"]
    if not gaps:
        return False
    segments[(at := rng.choice(gaps)) : at] = [Segment("\n\n"), Segment(rng.choice(_NEW))]
    return True


_EVERY: tuple[tuple[str, Change, float], ...] = (
    ("typo", _rewrite(_mistype), 20),
    ("word replaced", _rewrite(_replace_word), 12),
    ("words inserted", _rewrite(_insert_words), 8),
    ("word dropped", _rewrite(_drop_word), 6),
    ("sentence split", _rewrite(_split_sentence), 6),
    ("paragraph split", _split_paragraph, 8),
    ("paragraphs merged", _merge_paragraphs, 8),
    ("section moved", _move_section, 6),
    ("paragraph moved", _move_paragraph, 6),
    ("heading renamed", _rename_heading, 6),
    ("document renamed", _rename_document, 0.3),
    ("unit deleted", _delete_unit, 6),
    ("paragraph deleted", _delete_paragraph, 3),
    ("section deleted", _delete_section, 0.7),
    ("paragraph added", _add_paragraph, 6),
)
_KINDS = [(name, change) for name, change, _ in _EVERY]
_WEIGHTS = [weight for _, _, weight in _EVERY]
