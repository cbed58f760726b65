"""Questions -> a line that says what a conversation is about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bythebook.ask.conversation.phrases import BASE_VERBS, CLOSED, noun_phrases, words_of
from bythebook.ask.conversation.topics import is_about_something, singular
from bythebook.ask.verify.sentences import ELLIPSIS

MOST_CHARACTERS = 200
_MOST_TOPICS = 6
_LONGEST_TOPIC = 80
_LONGEST_QUESTION = 400
_MOST_READ = 2000  # characters of all questions: what was asked long ago weighs next to nothing
_MOST_COMPARED = 40  # topics
_FADE = 0.85  # of a topic's weight is left a question later
_IN_PASSING = 0.6  # what a question names after its first topic
# English words that other languages write alike, and which therefore do not tell English.
_SHARED = frozenset(
    "a i in an am so as me do no on come per her us is of was will he has had over or to at".split()
)
_ENGLISH = CLOSED - _SHARED
_OF = re.compile(r" of (?:(?:the|an?) )?", re.IGNORECASE)
_MARKS = " ?!.,;:…¿¡？！。、؟।"


@dataclass(slots=True)
class _Topic:
    text: str
    words: frozenset[str]
    weight: float = 0.0


def topic_summary(questions: Sequence[str]) -> str:
    """Name what questions, oldest first, were about: the weightiest first, as many as fit."""
    asked = [line for question in questions if (line := " ".join(question.split()))]
    summary = ""
    for topic in _distinct(_weighed(asked)[:_MOST_COMPARED])[:_MOST_TOPICS]:
        longer = f"{summary}; {topic.text}" if summary else topic.text
        if len(longer) > MOST_CHARACTERS:
            break
        summary = longer
    return summary or (_shortened(asked[-1], MOST_CHARACTERS) if asked else "")


def _weighed(asked: Sequence[str]) -> list[_Topic]:
    """Weigh topics by how often and how lately they were named, weightiest first."""
    topics: dict[frozenset[str], _Topic] = {}
    for age, question in enumerate(_read(asked)):
        for place, topic in enumerate(_named(question)):
            known = topics.setdefault(topic.words, topic)  # as it was written last
            known.weight += _FADE**age * (_IN_PASSING if place else 1.0)
    return sorted(topics.values(), key=lambda topic: -topic.weight)


def _read(asked: Sequence[str]) -> Iterator[str]:
    """Give the questions, newest first, as far as they are read."""
    left = _MOST_READ
    for question in reversed(asked):
        if left < len(question[:_LONGEST_QUESTION]):
            return
        yield _shortened(question, _LONGEST_QUESTION)
        left -= len(question[:_LONGEST_QUESTION])


def _named(question: str) -> Iterator[_Topic]:
    """Give what a question names: its noun phrases, or where it is not English, itself."""
    spans = _phrases(question) if _is_english(question) else [(0, len(question))]
    for start, end in spans:
        shown = _shortened(question[start:end].strip(_MARKS), _LONGEST_TOPIC)
        words = {singular(word.lower.removesuffix("'s")) for word in words_of(shown)}
        if named := frozenset(words - CLOSED - {ELLIPSIS}):
            yield _Topic(shown, named)


def _phrases(question: str) -> list[tuple[int, int]]:
    """Give where the phrases that can be topics stand; of joined ones not the parts as well."""
    found = [
        phrase
        for phrase in noun_phrases(question)
        if is_about_something(phrase) and (phrase.after != "how" or " " in phrase.bare)
    ]  # "how loud" names nothing
    spans = sorted({(phrase.end - len(phrase.bare), phrase.end) for phrase in found})
    whole = [
        (start, end)
        for start, end in spans
        if not any(
            left <= start and end <= right and (left, right) != (start, end)
            for left, right in spans
        )
    ]
    joined: list[tuple[int, int]] = []
    for start, end in whole:
        if joined and _OF.fullmatch(question, joined[-1][1], start):  # "degrees of freedom"
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _is_english(question: str) -> bool:
    words = [word.lower for word in words_of(question)]
    return words[0] in BASE_VERBS or not _ENGLISH.isdisjoint(words)


def _distinct(topics: Sequence[_Topic]) -> list[_Topic]:
    """Leave out what another topic says in full, and say in full what it says in part."""
    kept: list[_Topic] = []
    for topic in topics:
        if any(topic.words <= known.words for known in kept):
            continue
        part = next((at for at, known in enumerate(kept) if known.words < topic.words), None)
        if part is None:
            kept.append(topic)
        else:
            kept[part] = topic
    return kept


def _shortened(text: str, most: int) -> str:
    """Cut a text at the end of a word and say so."""
    if len(text) <= most:
        return text
    words = text[:most].rpartition(" ")[0].rstrip(" ,;:-")
    return (words or text[: most - 1]) + ELLIPSIS
