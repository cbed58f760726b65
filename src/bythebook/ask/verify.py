"""Nothing is shown before its support was found in the passages it names."""

import re
import unicodedata
from collections.abc import AsyncIterator, Iterator

from bythebook.domain.answers import Citation, Draft, Passage, Sentence

_FACT = re.compile(r"\d+(?:[.,:]\d+)*|\b[A-Za-z_][\w.]*[_./][\w/]+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]\w+")
_LETTER = r"[0-9A-Za-z_\u00c0-\u04ff]"  # of scripts that part words by spaces
_WITHIN = tuple(
    (re.compile(rf"{left}\Z"), re.compile(right))
    for left, right in ((_LETTER, _LETTER), (r"\d", r"[.,:]\d"), (r"\d[.,:]", r"\d"))
)
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
        citations = tuple(_located(draft))
        if (
            citations
            and _is_verbatim(draft.text, citations)
            and _facts_stand(draft.text, citations)
        ):
            yield Sentence(draft.text, citations, draft.kind)


def locate(passage: Passage, quote: str) -> Citation | None:
    """Find a quote in its passage, exactly or but for typography, and give its exact place."""
    return _locate(passage, quote, 0)


def _located(draft: Draft) -> Iterator[Citation]:
    """Find the quotes of a draft: each after the one before it, or failing that anywhere."""
    after: dict[str, int] = {}
    for passage, quote in draft.quotes:
        name = passage.chunk.chunk_id
        citation = _locate(passage, quote, after.get(name, 0))
        if citation is not None:
            after[name] = citation.char_end - passage.chunk.char_start
            yield citation


def _locate(passage: Passage, quote: str, after: int) -> Citation | None:
    text = passage.chunk.text
    start = text.find(quote, after)
    start = start if start >= 0 else text.find(quote)
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
    """Say whether a sentence is its quotes' own words from one passage, at most visibly trimmed."""
    bodies = [part.strip() for part in text.split(ELLIPSIS) if part.strip()]
    passages = {citation.passage.chunk.chunk_id: citation.passage for citation in citations}
    return bool(bodies) and any(
        _stand_in_order(bodies, passage.chunk.text, _covered(passage, citations))
        for passage in passages.values()
    )


def _covered(passage: Passage, citations: tuple[Citation, ...]) -> set[int]:
    """Give the places in a passage's text that its quotes cover."""
    start = passage.chunk.char_start
    return {
        place
        for citation in citations
        if citation.passage.chunk.chunk_id == passage.chunk.chunk_id
        for place in range(citation.char_start - start, citation.char_end - start)
    }


def _stand_in_order(bodies: list[str], text: str, covered: set[int]) -> bool:
    """Say whether each body stands in the covered text, in whole words, after the one before."""
    after = 0
    for body in bodies:
        at = text.find(body, after)
        while at >= 0 and not _stands_at(at, body, text, covered):
            at = text.find(body, at + 1)
        if at < 0:
            return False
        after = at + len(body)
    return True


def _stands_at(at: int, body: str, text: str, covered: set[int]) -> bool:
    end = at + len(body)
    if _cuts_word(text, at) or _cuts_word(text, end):
        return False
    return all(text[place].isspace() or place in covered for place in range(at, end))


def _cuts_word(text: str, place: int) -> bool:
    """Say whether a cut at a place would change a word or a number: 15 to 1, 3.5 to 3."""
    before, after = text[max(place - 2, 0) : place], text[place : place + 2]
    return any(left.search(before) and right.match(after) for left, right in _WITHIN)


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
