"""A generator's quote -> the exact words of a passage, at their exact place."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from bythebook.ask.verify.folding import Folded, fold, without_hyphens
from bythebook.domain.answers import Citation, Passage

ELLIPSIS = "…"
Span = tuple[int, int]  # in a passage's text
Key = tuple[str, int]

_GAP = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[.\s…]*[\])]?")
_MARKS = " \t\n\"'“”‘’«»„`"
_EDGES = f"{_MARKS}.,;:"
_LETTER = r"[0-9A-Za-z_\u00c0-\u04ff]"  # of scripts that separate words by spaces
_WITHIN = tuple(
    (re.compile(rf"{left}\Z"), re.compile(right))
    for left, right in ((_LETTER, _LETTER), (r"\d", r"[.,:]\d"), (r"\d[.,:]", r"\d"))
)
_MOST_TRIES = 32  # occurrences of a quote that are tried, to find one in whole words


class QuotedPassage:
    """A passage to find quotes in, folded once and only if an exact search fails."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.text = passage.chunk.text
        self._plain: Folded | None = None
        self._loose: Folded | None = None

    @property
    def plain(self) -> Folded:
        """The text without typography."""
        if self._plain is None:
            self._plain = fold(self.text)
        return self._plain

    @property
    def loose(self) -> Folded:
        """The same, also without hyphens."""
        if self._loose is None:
            self._loose = without_hyphens(self.plain)
        return self._loose

    def find(self, quote: str, after: int = 0) -> tuple[Span, ...]:
        """Find a quote, whole or as pieces in order if it shows gaps; empty if it is not there."""
        if not quote.strip():
            return ()
        if whole := self.find_whole(quote, after):
            return (whole,)
        for edges in (_MARKS, _EDGES):
            trimmed = quote.strip(edges)
            if trimmed and trimmed != quote and (whole := self.find_whole(trimmed, after)):
                return () if _cuts(self.text, whole) else (whole,)
        return self._find_pieces(quote)

    def find_whole(self, quote: str, after: int = 0) -> Span | None:
        """Find a quote without gaps: exactly, else ignoring typography, else also ignoring hyphens."""
        return (
            self._find_exactly(quote, after)
            or _find_folded(self.plain, fold(quote), self.text, after)
            or _find_folded(self.loose, without_hyphens(fold(quote)), self.text, after)
        )

    def find_pieces(self, pieces: Sequence[str]) -> tuple[Span, ...]:
        """Find pieces one after the other, in whole words; empty if one of them is missing."""
        found: list[Span] = []
        for piece in pieces:
            after = found[-1][1] if found else 0
            span = self.find_whole(piece, after) or self.find_whole(piece.strip(_EDGES), after)
            if span is None or span[0] < after or _cuts(self.text, span):
                return ()
            found.append(span)
        return tuple(found)

    def cite(self, span: Span) -> Citation:
        """Quote the passage's own words at a place."""
        start, end = span
        offset = self.passage.chunk.char_start
        return Citation(self.passage, self.text[start:end], offset + start, offset + end)

    def _find_pieces(self, quote: str) -> tuple[Span, ...]:
        pieces = pieces_of(quote)
        return self.find_pieces(pieces) if pieces and _GAP.search(quote) else ()

    def _find_exactly(self, quote: str, after: int) -> Span | None:
        first: Span | None = None
        for start in _occurrences(self.text, quote, after):
            span = start, start + len(quote)
            first = first or span
            if not _cuts(self.text, span):
                return span
        return first


class Pages:
    """The passages that an answer may cite."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._pages = {key(passage): QuotedPassage(passage) for passage in passages}

    def __iter__(self) -> Iterator[QuotedPassage]:
        return iter(self._pages.values())

    def page_of(self, passage: Passage) -> QuotedPassage | None:
        """Return the page of a passage; None for a passage that the answer may not cite."""
        return self._pages.get(key(passage))

    def find_page(self, quote: str) -> tuple[QuotedPassage, tuple[Span, ...]] | None:
        """Return the first page that has a quote in whole words, and where."""
        for page in self:
            spans = page.find(quote)
            if spans and not any(_cuts(page.text, span) for span in spans):
                return page, spans
        return None


def key(passage: Passage) -> Key:
    """Return a key for a passage, different even for passages of the same words."""
    return passage.chunk.chunk_id, passage.chunk.char_start


def pieces_of(text: str) -> list[str]:
    """Split a text at the gaps that it shows."""
    pieces = (piece.strip() for piece in _GAP.split(text))
    return [piece for piece in pieces if piece.strip(_EDGES)]


def cuts_word(text: str, place: int) -> bool:
    """Return True if a cut at a place would change a word or a number: 15 to 1, 3.5 to 3."""
    before, after = text[max(place - 2, 0) : place], text[place : place + 2]
    return any(left.search(before) and right.match(after) for left, right in _WITHIN)


def _cuts(text: str, span: Span) -> bool:
    return cuts_word(text, span[0]) or cuts_word(text, span[1])


def _occurrences(text: str, wanted: str, after: int = 0) -> Iterator[int]:
    """Yield where a text contains another: first after a place, then from its beginning."""
    tries = _MOST_TRIES
    for begin in (after, 0) if after else (0,):
        at = text.find(wanted, begin)
        while at >= 0 and tries:
            yield at
            tries -= 1
            at = text.find(wanted, at + 1)


def _find_folded(page: Folded, quote: Folded, text: str, after: int) -> Span | None:
    wanted = quote.letters
    if not wanted.strip('"- '):
        return None
    first: Span | None = None
    for at in _occurrences(page.letters, wanted, bisect_left(page.places, after)):
        end = at + len(wanted)
        if any(map(unicodedata.combining, page.letters[at] + page.letters[end : end + 1])):
            continue  # a letter without its accent is a different letter
        span = page.origin(at, end)
        first = first or span
        if not _cuts(text, span):
            return span
    return first
