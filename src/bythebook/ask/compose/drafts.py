"""Excerpts -> drafts that quote themselves, with what was left out shown."""

from collections.abc import Iterator, Sequence

from bythebook.ask.compose.context import announces
from bythebook.ask.compose.excerpt import Excerpt
from bythebook.ask.compose.paragraphs import Paragraph, paragraph_of, split_paragraphs
from bythebook.ask.compose.trim import (
    MOST_CHARACTERS,
    find_sentence_ends,
    shorten,
    split_for_quotes,
)
from bythebook.ask.verify.sentences import ELLIPSIS
from bythebook.domain.answers import Draft

Place = tuple[int, int]  # an excerpt, and a unit of its passage


def draft_excerpts(excerpts: Sequence[Excerpt]) -> Iterator[Draft]:
    """Yield the units of excerpts in reading order, key units marked, within the contracts' length."""
    return _draft(excerpts, _fit(excerpts, None), None)


def draft_keys(excerpts: Sequence[Excerpt], most: int) -> Iterator[Draft]:
    """Yield the key units alone, as many sentences as are allowed."""
    keys = [Excerpt(one.passage, tuple(sorted(one.keys)), one.keys) for one in excerpts]
    return _draft(keys, _fit(keys, most), most)


def _fit(excerpts: Sequence[Excerpt], most: int | None) -> set[Place]:
    """Choose what fits: the best unit of each excerpt first, then keys, then what is nearest to the best."""
    ranked = sorted(
        ((number, at) for number, excerpt in enumerate(excerpts) for at in excerpt.units),
        key=lambda place: _rank(excerpts[place[0]], place[1]),
    )
    kept: set[Place] = set()
    characters, sentences = MOST_CHARACTERS, most
    for number, at in ranked:
        text, kind = excerpts[number].text_of(at), excerpts[number].passage.chunk.units[at].kind
        spoken = len(find_sentence_ends(text, kind))
        if kept and (len(text) > characters or (sentences is not None and spoken > sentences)):
            continue
        kept.add((number, at))
        characters -= len(text) + 2  # with what stands between two units
        sentences = None if sentences is None else max(sentences - spoken, 0)
    return kept


def _rank(excerpt: Excerpt, at: int) -> tuple[int, int]:
    if at in excerpt.keys:
        return (excerpt.keys.index(at) > 0, excerpt.keys.index(at))
    return (2, abs(at - excerpt.keys[0]))


def _draft(excerpts: Sequence[Excerpt], kept: set[Place], most: int | None) -> Iterator[Draft]:
    for number, excerpt in enumerate(excerpts):
        shown = tuple(at for at in excerpt.units if (number, at) in kept)
        fitted = Excerpt(excerpt.passage, shown, excerpt.keys)
        paragraphs = split_paragraphs(excerpt.passage.chunk)
        for at in shown:
            yield _draft_unit(fitted, paragraphs[paragraph_of(paragraphs, at)], at, most)


def _draft_unit(excerpt: Excerpt, paragraph: Paragraph, at: int, most: int | None) -> Draft:
    kind = excerpt.passage.chunk.units[at].kind
    quote = shorten(excerpt.text_of(at), kind, most)
    text = quote
    if len(quote) < len(excerpt.text_of(at)) or _breaks_off(excerpt, paragraph, at, most):
        text += f" {ELLIPSIS}" if kind == "sentence" else f"\n{ELLIPSIS}"
    if most is None and _begins_late(excerpt, paragraph, at):
        text = f"{ELLIPSIS} {text}"
    quotes = tuple((excerpt.passage, piece) for piece in split_for_quotes(quote))
    alone = kind == "item" and not {at - 1, at + 1}.intersection(excerpt.units)
    return Draft(text, quotes, "sentence" if alone else kind, key=at in excerpt.keys)


def _breaks_off(excerpt: Excerpt, paragraph: Paragraph, at: int, most: int | None) -> bool:
    """Return True if a list or a paragraph goes on, or announces something, that is not shown.

    Of an answer of few sentences, each stands by itself.
    """
    continued = at + 1 in paragraph and (paragraph.kind == "item" or most is None)
    goes_on = continued or announces(excerpt.text_of(at))
    return goes_on and at + 1 not in excerpt.units and paragraph.kind in {"sentence", "item"}


def _begins_late(excerpt: Excerpt, paragraph: Paragraph, at: int) -> bool:
    """Return True if the first unit shown of a paragraph is not its first."""
    earlier = range(paragraph.first, at)
    return paragraph.kind == "sentence" and bool(earlier) and not {*earlier} & {*excerpt.units}
