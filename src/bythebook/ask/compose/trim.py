"""Units -> as much of them as fits into an answer and into quotes."""

from collections.abc import Iterator

from bythebook.domain.books import UnitKind
from bythebook.domain.text.sentences import split_sentences

MOST_CHARACTERS = (
    1500  # contract A's text allows 2000; the rest is for the disclaimer and formatting
)
MOST_QUOTE = 500  # contract A's referenced_text

_STOPS = frozenset(".!?…。！？｡।؟")


def find_sentence_ends(text: str, kind: UnitKind) -> list[int]:
    """Return where the sentences of a unit end; bare words of an item or a row are not sentences."""
    if kind in {"code", "formula"}:
        return []
    if kind == "sentence":
        return [len(text)]
    ends = (end for _, end in split_sentences(text))
    return [end for end in ends if text[:end].rstrip("\"'”’)]»*_")[-1:] in _STOPS]


def shorten(text: str, kind: UnitKind, most: int | None = None) -> str:
    """Shorten a unit that is too long for an answer at a line or word end, or to `most` sentences."""
    ends = find_sentence_ends(text, kind)
    if most is not None and len(ends) > most:
        text = text[: ends[most - 1]]
    if len(text) <= MOST_CHARACTERS:
        return text
    places = (text.rfind(mark, 1, MOST_CHARACTERS) for mark in ("\n", " "))
    return text[: next((place for place in places if place > 0), MOST_CHARACTERS)]


def split_for_quotes(quote: str) -> Iterator[str]:
    """Split a text that is too long for a quote at line, clause or word ends."""
    while len(quote) > MOST_QUOTE:
        cut = max(quote.rfind(mark, 1, MOST_QUOTE) for mark in ("\n", "; ", ", "))
        if cut <= 0:
            cut = quote.rfind(" ", 1, MOST_QUOTE)
        cut = cut + 1 if cut > 0 else MOST_QUOTE
        yield quote[:cut].rstrip()
        quote = quote[cut:].lstrip()
    yield quote
