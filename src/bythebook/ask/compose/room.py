"""Drafts of a model -> those within the limits, before they are verified."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bythebook.ask.compose.anchor import anchor
from bythebook.ask.compose.book_words import BookWords
from bythebook.ask.compose.trim import MOST_CHARACTERS, split_for_quotes
from bythebook.domain.answers import Draft, Passage, Sentence
from bythebook.domain.text.sentences import split_sentences


async def anchor_drafts(
    drafts: AsyncGenerator[Draft], passages: Sequence[Passage], book: BookWords | None
) -> AsyncGenerator[Draft]:
    """Yield drafts with the right quotes; in the book's words, where it speaks, if those surely answer."""
    async with aclosing(drafts):
        async for draft in drafts:
            anchored = anchor(draft, passages)
            for one in book.choose(anchored) if book else (anchored,):
                yield one


async def keep_within_room(
    drafts: AsyncGenerator[Draft], most: int | None, said: Sequence[Sentence]
) -> AsyncGenerator[Draft]:
    """Yield drafts while there is room after what was said, with long quotes in pieces.

    The rest is read and ignored: only at its end the usage of a model is known, and whether it failed.
    """
    async with aclosing(drafts):
        async for draft in drafts:
            room = MOST_CHARACTERS - sum(len(one.text) for one in said)
            left = None if most is None else most - sum(len(_ends(one.text)) for one in said)
            if len(draft.text) <= room and (left is None or left > 0):
                pieces = (
                    (page, piece)
                    for page, quote in draft.quotes
                    for piece in split_for_quotes(quote)
                )
                yield replace(_opening(draft, left), quotes=tuple(pieces))


def _opening(draft: Draft, room: int | None) -> Draft:
    ends = _ends(draft.text)
    if room is None or len(ends) <= room:
        return draft
    return replace(draft, text=draft.text[: ends[room - 1]])


def _ends(text: str) -> list[int]:
    return [end for _, end in split_sentences(text)]
