"""What is like a text in the pages: the words it was altered from, or the places it was stitched from."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from bythebook.ask.verify.quotes import QuotedPassage

ALTERED_FROM = 0.6  # of a quote's words in their order: so much is no chance
LEAST_PART = 3  # words that stand somewhere on purpose
_MOST_PARTS = 3
_MOST_WORDS = 150  # of a quote; what is alike shows before
_MOST_PLACES = 64  # of one word; the rarer ones say where a quote is from
_SLACK = 8  # words that may be missing or added
_WORD = re.compile(r"\w+(?:[.,:]\d+)*")
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s|\n")


@dataclass(frozen=True, slots=True)
class WordRun:
    """A run of words of a page."""

    page: QuotedPassage
    start: int  # in the page's text
    end: int

    @property
    def is_whole(self) -> bool:
        """Whether it begins and ends with a sentence of the page."""
        before, after = self.page.text[: self.start].rstrip(" \"'“‘(["), self.page.text[self.end :]
        return (not before or before[-1] in ".!?\n:") and (not after or after[0] in ".!?\n")


def words_of(text: str) -> list[str]:
    """Give the words of a text, free of case."""
    return [word.casefold() for word in _WORD.findall(text)]


def is_altered(quote: str, pages: Sequence[QuotedPassage]) -> bool:
    """Say whether a page has most of a quote's words, in order and close together."""
    words = words_of(quote)[:_MOST_WORDS]
    return any(_share(words, words_of(page.text)) >= ALTERED_FROM for page in pages)


def _share(quote: list[str], page: list[str]) -> float:
    """Give how much of a quote stands in the stretch of a page that is most like it."""
    places: dict[str, list[int]] = {word: [] for word in quote}
    for place, word in enumerate(page):
        if word in places and len(places[word]) < _MOST_PLACES:
            places[word].append(place)
    votes = Counter(
        (place - at) // _SLACK + near
        for at, word in enumerate(quote)
        for place in places[word]
        for near in (0, 1)
    )
    if len(quote) < LEAST_PART or not votes:
        return 0.0
    begin = max(0, (votes.most_common(1)[0][0] - 1) * _SLACK - _SLACK)
    stretch = page[begin : begin + len(quote) + 4 * _SLACK]
    same = SequenceMatcher(None, stretch, quote, autojunk=False).get_matching_blocks()
    return sum(block.size for block in same) / len(quote)


def parts_of(text: str, pages: Sequence[QuotedPassage]) -> list[WordRun]:
    """Cut a text into the longest runs of words that stand in the pages; nothing if some do not."""
    words = _WORD.findall(text)
    texts = [_Words(page) for page in pages]
    parts: list[WordRun] = []
    at = 0
    while at < len(words) and len(parts) < _MOST_PARTS:
        length, part = max(
            (one.longest(words[at : at + _MOST_WORDS]) for one in texts),
            key=lambda found: found[0],
            default=(0, None),
        )
        if part is None or length < LEAST_PART:
            return []
        parts.append(part)
        at += length
    return parts if at >= len(words) else []


def is_stitched(text: str, pages: Sequence[QuotedPassage]) -> bool:
    """Say whether a text joins words of two places, that no sentence of the pages has together."""
    parts = parts_of(text, pages)
    if len(parts) < 2 or all(part.is_whole for part in parts):
        return False
    return any(not _are_together(*pair) for pair in pairwise(parts))


def is_stitched_over(pieces: Sequence[str], pages: Sequence[QuotedPassage]) -> bool:
    """Say whether pieces that a text shows gaps between stand in the pages, but not on one of them."""
    return len(pieces) > 1 and all(
        any(page.find_pieces((piece,)) for page in pages) for piece in pieces
    )


def _are_together(first: WordRun, second: WordRun) -> bool:
    if first.page is not second.page or second.start < first.end:
        return False
    return not _SENTENCE_END.search(first.page.text[first.end : second.start])


class _Words:
    """The words of a page as one text, to find runs of them in."""

    def __init__(self, page: QuotedPassage) -> None:
        self._page = page
        self._spans = [match.span() for match in _WORD.finditer(page.text)]
        self._joined = f" {' '.join(page.text[start:end] for start, end in self._spans)} "

    def longest(self, words: list[str]) -> tuple[int, WordRun | None]:
        """Give how many of the first words stand here in a row, and where."""
        some, most = 0, len(words)
        while some < most:
            middle = (some + most + 1) // 2
            if f" {' '.join(words[:middle])} " in self._joined:
                some = middle
            else:
                most = middle - 1
        if not some:
            return 0, None
        at = self._joined.find(f" {' '.join(words[:some])} ")
        first = self._joined.count(" ", 0, at)
        return some, WordRun(self._page, self._spans[first][0], self._spans[first + some - 1][1])


def sentences_like(text: str, sentences: Iterator[str]) -> tuple[str, float]:
    """Give the sentence that has most words of a text, and the share of them that it has."""
    wanted = Counter(words_of(text))
    best, most = "", 0.0
    for sentence in sentences:
        has = Counter(words_of(sentence))
        shared = sum((wanted & has).values())
        share = 2 * shared / max(1, wanted.total() + min(has.total(), 2 * wanted.total()))
        if share > most:
            best, most = sentence, share
    return best, most
