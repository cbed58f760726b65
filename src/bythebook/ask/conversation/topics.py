"""What a conversation is about: its noun phrases, weighed by recency, place and agreement."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bythebook.ask.conversation.phrases import (
    ASKING,
    BEING,
    DOING,
    PRONOUNS,
    Phrase,
    is_plural,
    noun_phrases,
    words_of,
)
from bythebook.domain.sentences import split_sentences

Wanted = Literal["person", "thing", "several", "group", "place", "any"]

RELATIONAL = frozenset(
    """advantage aim aspect basis benefit cause challenge characteristic component con consequence cost definition
    detail difference disadvantage downside drawback effect example fact feature function goal history idea
    impact implication importance information issue kind limit limitation meaning member name number origin
    overview part price principle pro problem property purpose reason requirement result risk role shortcoming
    sort step strength summary term thing time type upside use variant version way weakness year accuracy
    complexity duration efficiency lifetime performance precision range reliability size speed weight
    alternative application assumption input output prerequisite syntax structure formula equation unit value
    symbol default lot""".split()
)
_FADE = 0.7  # of a phrase's weight is left a turn later
_ENOUGH = 0.4  # a phrase that weighs less is left where it was
_WEIGHTS = {
    "heading": 2.0,
    "defined": 2.0,  # "What is X?"
    "asked": 1.5,
    "mentioned": 1.0,
    "chosen": 0.9,  # "which X"
    "vague": 0.5,  # "any X"
    "answer_subject": 0.6,
    "answer": 0.25,
}
_LONGEST_ANSWER = 600
_PLACING = frozenset("in at on from to into near".split())
_VAGUELY = frozenset("any some other another many much no".split())
_TEXTUAL = frozenset("people person article book chapter section text passage page aspect".split())
_SAYS_NOTHING = re.compile(
    r"\W*(?:i (?:don't|do not|cannot|can't|am|have no|could not)\b|sorry|cannotanswer|no answer"
    r"|this information is not)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Topic:
    """Something the conversation named, and how much it is about it."""

    phrase: Phrase
    weight: float
    taken_for: Wanted = "any"  # what an earlier pronoun showed it to be

    def agrees(self, wanted: Wanted) -> float:
        """Tell how well it fits a pronoun, 0 if it does not."""
        phrase = self.phrase
        if self.taken_for not in {"any", wanted} and wanted in {"person", "thing"}:
            return 0.0 if "person" in {self.taken_for, wanted} else 0.5
        if wanted == "person":
            fits = {"name": 1.0, "person": 0.7, "thing": 0.0}[phrase.kind] * (not phrase.plural)
            return fits * (0.4 if phrase.after in _PLACING else 1.0)
        if wanted == "place":
            is_certain = phrase.text != phrase.key and not re.search(r"\d", phrase.text)
            return float(phrase.after in _PLACING and is_certain)
        if wanted == "thing":
            return 0.0 if phrase.plural or phrase.kind == "person" else 1.0
        if wanted == "group":
            return 1.0 if phrase.kind == "name" else 0.5 if phrase.plural else 0.1
        if wanted == "several":
            return 1.0 if phrase.plural else 0.6 if phrase.kind == "name" else 0.35
        return 1.0


class Topics:
    """The phrases of the turns so far, the weightiest being what a follow-up is about."""

    def __init__(self) -> None:
        self._topics: dict[str, Topic] = {}
        self._unknown: dict[Wanted, float] = {}  # what pronouns meant that nobody has named

    def __bool__(self) -> bool:
        return bool(self._topics)

    def add_turn(self, question: str, answer: str) -> None:
        """Take in a turn, after which all earlier ones count for less."""
        for topic in self._topics.values():
            topic.weight *= _FADE
        self._unknown = {wanted: weight * _FADE for wanted, weight in self._unknown.items()}
        for phrase, role in (*_question_roles(question), *_answer_roles(answer)):
            known = self._find(phrase)
            if known is None:
                is_thing = role == "defined" and question[:4].lower() == "what"
                taken_for: Wanted = "thing" if is_thing else "any"
                self._topics[phrase.key] = Topic(phrase, _WEIGHTS[role], taken_for)
                continue
            known.weight += _WEIGHTS[role]
            if known.phrase.kind != "name" and not role.startswith("answer"):
                known.phrase = phrase

    def _find(self, phrase: Phrase) -> Topic | None:
        """Give the topic that a phrase names again, in full or by a part of its name."""
        if (known := self._topics.get(phrase.key)) or phrase.kind != "name":
            return known
        part = f" {phrase.key} "
        names = (topic for topic in self._topics.values() if topic.phrase.kind == "name")
        return next((topic for topic in names if part in f" {topic.phrase.key} "), None)

    def best(self, wanted: Wanted, but: Iterable[str] = ()) -> Phrase | None:
        """Give the weightiest phrase that agrees with what is wanted, and remember it as such."""
        left_out = set(but)
        scored = [
            (topic.weight * agreement, topic)
            for topic in self._topics.values()
            if topic.phrase.key not in left_out
            and (topic.weight >= _ENOUGH or wanted == "place")
            and (agreement := topic.agrees(wanted))
        ]
        weight, topic = max(scored, key=lambda entry: entry[0], default=(0.0, None))
        if wanted in {"any", "place"}:
            return topic.phrase if topic else None
        if topic is None or weight < self._unknown.get(wanted, 0.0):
            self._unknown[wanted] = self._unknown.get(wanted, 0.0) + _WEIGHTS["asked"]
            return None
        topic.taken_for = wanted
        return topic.phrase

    def name_ending_in(self, noun: str) -> Phrase | None:
        """Give the weightiest name of several words whose last is this noun."""
        fitting = [
            topic
            for topic in self._topics.values()
            if topic.phrase.kind == "name" and topic.phrase.key.endswith(f" {noun}")
        ]
        return max(fitting, key=lambda topic: topic.weight).phrase if fitting else None


def singular(noun: str) -> str:
    """Give the singular of a regular noun."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "ches", "shes")):
        return noun[:-2]
    return noun[:-1] if is_plural(noun) else noun


def is_about_something(phrase: Phrase) -> bool:
    """Tell whether a phrase can be what a conversation is about."""
    if len(phrase.key) < 2 or singular(phrase.head) in _TEXTUAL:
        return False
    is_owned = " " not in phrase.bare or "'s " in phrase.bare
    return not (is_owned and singular(phrase.head) in RELATIONAL)


def _question_roles(question: str) -> Iterator[tuple[Phrase, str]]:
    phrases = [phrase for phrase in noun_phrases(question) if is_about_something(phrase)]
    words = {word.lower for word in words_of(question)}
    if not question.rstrip().endswith("?") and not words & (DOING | BEING | ASKING | PRONOUNS):
        first = "heading"
    else:
        first = "defined" if len(phrases) == 1 and words & {"what", "who", "what's"} else "asked"
    for place, phrase in enumerate(phrases):
        role = "mentioned" if place else first
        if phrase.after in _VAGUELY:
            role = "vague"
        yield phrase, "chosen" if phrase.after in {"what", "which"} else role


def _answer_roles(answer: str) -> Iterator[tuple[Phrase, str]]:
    text = answer[:_LONGEST_ANSWER]
    if _SAYS_NOTHING.match(text):
        return
    start, end = next(split_sentences(text), (0, 0))
    phrases = [phrase for phrase in noun_phrases(text[start:end]) if is_about_something(phrase)]
    says_who = text[start:end].lower().partition(" ")[0] not in PRONOUNS
    for place, phrase in enumerate(phrases):
        yield phrase, "answer_subject" if says_who and place == 0 else "answer"
