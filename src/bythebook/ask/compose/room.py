"""A model may say more than it was asked for: what goes beyond is left out, before it is verified."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from bythebook.domain.answers import Draft, Sentence
from bythebook.domain.sentences import split_sentences


async def within_room(
    drafts: AsyncGenerator[Draft], most: int | None, said: Sequence[Sentence]
) -> AsyncGenerator[Draft]:
    """Give drafts while there is room beside what was said; the rest is read, and counts for nothing.

    A model is heard out, since only its end tells whether it failed and what it took.
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
