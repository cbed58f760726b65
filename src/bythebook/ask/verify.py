"""Nothing is shown before its support was found in the passages it names."""

import re
import unicodedata
from collections.abc import AsyncIterator

from bythebook.domain.answers import Citation, Draft, Passage, Sentence

_FACT = re.compile(r"\d+(?:[.,:]\d+)*|\b[A-Za-z_][\w.]*[_./][\w/]+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]\w+")
ELLIPSIS = "…"
_ALIKE = str.maketrans(
    {
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "–": "-",
        "—": "-",
        "‑": "-",
        "\u00a0": " ",
        "\u00ad": "",
    }
)


async def verify(drafts: AsyncIterator[Draft]) -> AsyncIterator[Sentence]:
    """Let through the sentences whose every part stands in the book; drop the rest."""
    async for draft in drafts:
        citations = tuple(
            citation
            for passage, quote in draft.quotes
            if (citation := locate(passage, quote)) is not None
        )
        if (
            citations
            and _is_verbatim(draft.text, citations)
            and _facts_stand(draft.text, citations)
        ):
            yield Sentence(draft.text, citations)


def locate(passage: Passage, quote: str) -> Citation | None:
    """Find a quote in its passage, exactly or but for typography, and give its exact place."""
    text = passage.chunk.text
    start = text.find(quote)
    end = start + len(quote)
    if start < 0 or not quote.strip():
        found = _find_normalised(text, quote)
        if found is None:
            return None
        start, end = found
    offset = passage.chunk.char_start
    return Citation(passage, text[start:end], offset + start, offset + end)


def _find_normalised(text: str, quote: str) -> tuple[int, int] | None:
    wanted = "".join(_normalised(quote)[0])
    haystack, places = _normalised(text)
    at = "".join(haystack).find(wanted) if wanted else -1
    if at < 0:
        return None
    return places[at], places[at + len(wanted) - 1] + 1


def _normalised(text: str) -> tuple[list[str], list[int]]:
    """Fold typography and white space, remembering where each character came from."""
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for letter in unicodedata.normalize("NFKC", character.translate(_ALIKE)):
            letter = " " if letter.isspace() else letter
            if letter == " " and (not letters or letters[-1] == " "):
                continue
            letters.append(letter)
            places.append(place)
    while letters and letters[-1] == " ":
        letters.pop()
        places.pop()
    return letters, places


def _is_verbatim(text: str, citations: tuple[Citation, ...]) -> bool:
    """Say whether a sentence is its quotes' own words, at most visibly trimmed."""
    bodies = [part.strip() for part in text.split(ELLIPSIS) if part.strip()]
    return bool(bodies) and all(
        any(body in citation.quote for citation in citations) for body in bodies
    )


def _facts_stand(text: str, citations: tuple[Citation, ...]) -> bool:
    """Say whether each number, name and identifier of a sentence stands in its passages."""
    passages = "\n".join(citation.passage.chunk.text for citation in citations)
    return all(fact in passages for fact in _FACT.findall(text))


def numbered(sentences: tuple[Sentence, ...]) -> list[tuple[int, Citation]]:
    """Give every citation with the index of the sentence it supports."""
    return [
        (index, citation)
        for index, sentence in enumerate(sentences)
        for citation in sentence.citations
    ]
