"""Drafts of a model -> those within the limit, before they are verified."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bythebook.domain.answers import Draft, Sentence
from bythebook.domain.sentences import split_sentences


async def within_room(
    drafts: AsyncGenerator[Draft], most: int | None, said: Sequence[Sentence]
) -> AsyncGenerator[Draft]:
    """Yield drafts while there is room after what was said; the rest is read and ignored.

    A model is read to its end, since only then its usage and a failure are known.
    """
    async with aclosing(drafts):
        async for draft in drafts:
            if most is None:
                yield draft
            elif room := most - sum(len(_ends(one.text)) for one in said):
                yield _opening(draft, room)


def _opening(draft: Draft, room: int) -> Draft:
    ends = _ends(draft.text)
    return draft if len(ends) <= room else replace(draft, text=draft.text[: ends[room - 1]])


def _ends(text: str) -> list[int]:
    return [end for _, end in split_sentences(text)]
