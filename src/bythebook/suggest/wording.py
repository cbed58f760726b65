"""A heading or a sentence -> a question in plain words, if it makes one."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from bythebook.calibrate.wording import heading_topic, is_prose, sentence_question

Form = Literal["how", "why", "list", "difference", "asked", "what"]

MOST_CHARACTERS, MOST_WORDS = 90, 14
_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_VERSUS = re.compile(
    r"(?P<one>.+?)\s+(?:versus|vs\.?|compared (?:with|to))\s+(?P<other>.+)", re.IGNORECASE
)
_PARTS = re.compile(
    r"(?:the\s+)?(?P<parts>[a-z][a-z-]+[^su'’]s)\s+of\s+(?P<whole>.+)", re.IGNORECASE
)
_UNREADABLE = re.compile(r"[$\\{}<>=_|`*#@]|https?:|\(\)|\d{3,}")
_SECOND_GERUND = re.compile(r"\band \w+ing\b")
_SMALL = frozenset("and or the in for with to of on from at by a an".split())
_POINTING = frozenset(  # at something that a question alone does not have
    "this that these those it its they them their he she his her we our you your here now both two such same "
    "above below next other another former latter first second last".split()
)
_ASKING = {"what", "why", "how", "when", "which", "who", "where"}


@dataclass(frozen=True, slots=True)
class SuggestedWording:
    """A question and its form."""

    text: str
    form: Form


class BookVocabulary:
    """The words of a book as it writes them, by which a heading is turned into a question."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = " ".join(" ".join(texts).split())
        self._lower = self._text.lower()
        self._words = Counter(_WORD.findall(self._text))

    def find_verb(self, gerund: str) -> str | None:
        """Return the verb of which a word is the -ing form, if the book uses it."""
        stem = gerund[:-3]
        forms = [stem, f"{stem}e"]
        if len(stem) > 2 and stem[-1] == stem[-2]:
            forms.append(stem[:-1])
        known = [form for form in forms if self._words[form] and form != "be"]
        return max(known, key=lambda form: self._words[form], default=None)

    def lower_title(self, title: str) -> str:
        """Write the words of a title small that the book writes small in its sentences."""

        def lower(found: re.Match[str]) -> str:
            word = found.group()
            small = word.lower()
            plain = word[1:] == small[1:] and self._words[small] > self._words[word] / 2
            return small if plain else word

        return _WORD.sub(lower, title)

    def count(self, name: str) -> int:
        """Return how often the book has a name."""
        return self._lower.count(name.lower())

    def add_article(self, name: str) -> str:
        """Put the article before a name that the book puts there most."""
        counts = {
            article: len(re.findall(rf"\b{article} {re.escape(name.lower())}\b", self._lower))
            for article in ("a", "an", "the")
        }
        best = max(counts, key=lambda article: counts[article])
        bare = self.count(name) - sum(counts.values())
        return f"{best} {name}" if counts[best] > bare / 2 else name


def ask_about_heading(title: str, vocabulary: BookVocabulary) -> SuggestedWording | None:
    """Make a question that a section of this title answers."""
    topic = heading_topic(title)
    if topic is None or re.search(r"[,:;()/]", topic):
        return None
    asked = topic if topic.endswith("?") else vocabulary.lower_title(topic)
    made = _ask_about(asked, vocabulary)
    return made if made and is_readable(made.text) else None


def _ask_about(topic: str, vocabulary: BookVocabulary) -> SuggestedWording | None:
    first, _, rest = topic.partition(" ")
    rest = re.sub(r"\byour\b", "my", rest)
    if first.lower() == "how" and rest.startswith("to "):
        return SuggestedWording(f"How do I {rest[3:].rstrip('?')}?", "how")
    if topic.endswith("?"):
        return SuggestedWording(topic[0].upper() + topic[1:], "asked")
    if first.lower() in _ASKING:
        return None  # "How nodes talk" is no question, and its verb is not known
    if rest and first.lower().endswith("ing"):
        verb = None if _SECOND_GERUND.search(rest) else vocabulary.find_verb(first.lower())
        return SuggestedWording(f"How do I {verb} {rest}?", "how") if verb else None
    if pair := _VERSUS.fullmatch(topic):
        return SuggestedWording(f"How do {pair['one']} and {pair['other']} differ?", "difference")
    if parts := _PARTS.fullmatch(topic):
        return SuggestedWording(
            f"What are the {parts['parts'].lower()} of {parts['whole']}?", "list"
        )
    words = topic.split()
    if len(words) > 3 or {word.lower() for word in words} & _SMALL or vocabulary.count(topic) < 2:
        return None
    if re.search(r"[^sui]s$", topic):
        return SuggestedWording(f"What are {topic}?", "what")
    return SuggestedWording(f"What is {vocabulary.add_article(topic)}?", "what")


def ask_about_sentence(sentence: str, vocabulary: BookVocabulary) -> SuggestedWording | None:
    """Make a question that a sentence answers: what something is, or why it is so."""
    made = sentence_question(sentence, lambda _: 1.0) if is_prose(sentence) else None
    if made is None or made[0] not in {"definition", "cause"}:
        return None
    rule, text, _ = made
    words = {word.lower() for word in _WORD.findall(text)}
    if words & _POINTING or text.startswith("Why is it that") or not is_readable(text):
        return None
    if rule == "cause":
        clumsy = re.search(r"[,:;()]", text) or text.split()[2].lower() in _SMALL | {
            "if",
            "but",
            "when",
        }
        return None if clumsy else SuggestedWording(text, "why")
    name = re.sub(r"^What (?:is|are) (?:an? )?|\?$", "", text)
    vague = name.startswith("the ") and name.count(" ") == 1  # "the worst"
    return SuggestedWording(text, "what") if vocabulary.count(name) > 1 and not vague else None


def is_readable(question: str) -> bool:
    """Return True if a question can stand in a list of suggestions: short, plain, one line."""
    return (
        len(question) <= MOST_CHARACTERS
        and 3 <= len(question.split()) <= MOST_WORDS
        and not _UNREADABLE.search(question)
    )


def say_same(one: str, others: Sequence[str]) -> bool:
    """Return True if a question has the words of another."""
    return any(_key(one) == _key(other) for other in others)


def _key(question: str) -> frozenset[str]:
    words = (word.lower().removesuffix("s") for word in _WORD.findall(question))
    return frozenset(
        word for word in words if len(word) > 2 and word not in _ASKING | {"are", "the"}
    )
