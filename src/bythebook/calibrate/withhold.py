"""The passages that answer a question made from the book, to withhold them from the judge."""

from collections.abc import Sequence

from bythebook.calibrate.product_search import FoundHits
from bythebook.calibrate.questions import OwnQuestion
from bythebook.calibrate.wording import content_words
from bythebook.domain.answers import Hit, Judgement
from bythebook.domain.books import Chunk

_SAME = 0.7  # share of the shorter text's words in the longer one: near-duplicates
_SAID = 0.6  # share of a sentence's words in a passage that says the same


def without_answer(question: OwnQuestion, hits: Sequence[Hit]) -> list[Hit]:
    """Keep the hits that do not answer: neither the place itself nor a repetition of it."""
    answering = [hit.chunk for hit in hits if _stands_there(question, hit.chunk)]
    repeated = [frozenset(content_words(chunk.text)) for chunk in answering]
    return [
        hit
        for hit in hits
        if hit.chunk not in answering
        and not _says_it(question, hit.chunk)
        and not any(
            _are_alike(frozenset(content_words(hit.chunk.text)), words) for words in repeated
        )
    ]


def signals_of(question: OwnQuestion, found: FoundHits) -> list[float]:
    """Return the signals of a question as it was made, and as if asked in other words.

    A question made from a sentence has its words, which a reader's seldom has. What is left of it
    then is the meaning: about the cosine to the nearest passage that does not itself answer. On the
    sample book's dev questions that are worded otherwise than the book, this has the same spread.
    """
    rest = [hit.cosine for hit in without_answer(question, found.hits)]
    return [found.signal, max(rest)] if rest else [found.signal]


def is_answered_elsewhere(question: OwnQuestion, judgement: Judgement) -> bool:
    """Return True if what the judge found instead also answers: a book may repeat itself.

    Of a number the number itself tells, else as many words of the answer as make it likely.
    """
    wanted = set(question.answer)
    if not wanted or not judgement.evidence:
        return False
    best = judgement.evidence[0]
    said = f" {' '.join(_tokens(best.quote))} "
    found = sum(f" {' '.join(_tokens(word))} " in said for word in wanted)
    return found / len(wanted) >= (1.0 if question.rule == "number" else _SAID)


def _stands_there(question: OwnQuestion, chunk: Chunk) -> bool:
    return (
        chunk.document_id == question.document_id
        and chunk.char_start < question.end
        and question.start < chunk.char_end
    )


def _says_it(question: OwnQuestion, chunk: Chunk) -> bool:
    if question.rule == "heading":
        return question.source in chunk.heading_path
    words = set(content_words(question.source))
    return len(words & set(content_words(chunk.text))) >= _SAME * len(words)


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= _SAME * max(1, min(len(one), len(other)))


def _tokens(text: str) -> list[str]:
    return text.lower().replace(",", "").rstrip(".").split()
