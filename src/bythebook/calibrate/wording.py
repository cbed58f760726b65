"""A heading or a sentence -> a question that a reader might type, by fixed rules."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from bythebook.domain.text.words import FUNCTION_WORDS

Rule = Literal["heading", "definition", "number", "cause", "terms"]

# Keeps "real-time" whole, so that a question made from it reads as a reader would type it.
_HYPHENATED = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_STOP_WORDS = FUNCTION_WORDS | frozenset(
    """above after again all also although always another because before being below between both cannot down
    during each either else even every few first further gets given go goes having he her here his however
    if instead itself just last let made makes many more most needs neither never next no nor not now off
    often once only onto other others out over own per quite rather same see several she show shows since
    still such therefore things three through thus together too two under until upon uses very via ways well
    whether while within without yet yours""".split()
)
_DEFINITION = re.compile(
    r"(?P<subject>(?:(?:The|An?)\s+)?[^,;:()]{2,60}?)\s+"
    r"(?P<verb>is|are|was|were|refers\s+to|means|is\s+called|is\s+defined\s+as)\s+(?:an?|the|one|any)\s"
)
_YEAR = re.compile(r"\b(?:in|since|until|by)\s+(1[4-9]\d\d|20\d\d)\b", re.IGNORECASE)
_NAMED = (
    r"two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|thousand|million"
)
_NUMBER = re.compile(rf"(?:.*\d.*|{_NAMED})", re.IGNORECASE)
_COUNT = re.compile(  # but not "Version 2 has" and "$n$ 4 joints"
    rf"(?:^|\b[a-z]+\s)(\d[\d,.]*|{_NAMED})\s+([a-z][a-z-]{{2,}}s)\b"
)
_MEASURE = re.compile(
    r"(?<![\w.])[$€£]?(\d[\d,.]*)\s?(%|percent|kg|km|m|cm|mm|ms|s|Hz|GB|MB|°C|V)?\b"
)
_CAUSE = re.compile(r"(?P<effect>.{15,160}?),?\s+(?:because|since|so that|due to|in order to)\s+\w")
_NO_SUBJECT = frozenset(
    """it this that these those they there he she we you i what which who here one both each some many
    such another other""".split()
)
_VERBS = frozenset("is are was were can must should will may cannot has have".split())
_ABOUT_ITSELF = re.compile(  # or no sentence in words at all
    r"\b(?:chapter|section|figure|table|step|appendix|page|exercise|listing)s?\s+\d"
    r"|\b(?:this|the|these)\s+(?:chapter|section|book|page|course|tutorial|guide)s?\b"
    r"|https?://|\w\(\)|[{}<>=]{2}|[$\\]",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    r"^(?:(?:chapter|part|section|appendix|lesson|step|module|unit|week|figure|table)\s+)?"
    r"(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])?\s*[.:)–—-]\s+|^\d+(?:\.\d+)*\s+",
    re.IGNORECASE,
)
_BOILERPLATE = re.compile(
    r"""(?:the\s+)?(?:(?:table\s+of\s+)?contents|index|introduction|overview|summary|conclusions?|references|notes?
    |bibliography|(?:further|recommended)\s+reading|see\s+also|exercises?(?:\s.*)?|questions?|quiz|answers|solutions
    |acknowledge?ments?|preface|foreword|glossary|about.*|copyright|licen[sc]e|changelog|examples?|listing|caution
    |tips?|warnings?|prerequisites|requirements|before\s+you\s+(?:begin|start)|what[’']?s\s+next|next(?:\s+steps?)?
    |(?:learning\s+)?(?:objectives|outcomes|goals)|key\s+(?:takeaways|points|terms)|getting\s+started|related.*|links
    |resources|appendix|background|description|usage|options|parameters|returns?|arguments|syntax|more|other|misc.*
    |credits|contributors|contact|home|chapter|part|step|untitled)(?:\s+\d+)?""",
    re.IGNORECASE | re.VERBOSE,
)


def content_words(text: str) -> list[str]:
    """Return the content words of a text, lower-case, in order."""
    return [word for word in _words(text) if len(word) > 1 and word not in _STOP_WORDS]


def _words(text: str) -> list[str]:
    return [match.group().lower() for match in _HYPHENATED.finditer(text)]


def heading_topic(title: str) -> str | None:
    """Return the topic of a heading without its numbering; None for a heading of any book."""
    topic = _NUMBERING.sub("", " ".join(title.split())).strip(" .:#¶")
    words = content_words(topic)
    if not words or len(topic) > 80 or len(_HYPHENATED.findall(topic)) > 10:
        return None
    anywhere = _BOILERPLATE.fullmatch(topic) or _ABOUT_ITSELF.search(topic)
    return None if anywhere or not re.search(r"[^\W\d_]{3}", topic) else topic


def heading_questions(topic: str) -> Sequence[str]:
    """Make questions about a heading's topic, as readers ask them."""
    if topic.endswith("?"):
        return (topic,)
    first = topic.split()[0].lower()
    if first in {"how", "why"}:
        asked = re.sub(r"^how to\b", "How do I", topic, flags=re.IGNORECASE)
        return (f"{asked}?", topic.lower())
    if first.endswith("ing") and len(first) > 5 and " " in topic:
        return (f"What should I know about {_lower_first(topic)}?", topic.lower())
    name = _lower_first(topic)
    if len(topic.split()) > 3 or set(content_words(topic)) != set(_words(topic)):
        return (f"What does the book say about {name}?", f"tell me about {name}", topic.lower())
    many = re.search(r"[^sui]s$", topic) is not None
    return (
        f"What {'are' if many else 'is'} {name}?",
        f"How {'do' if many else 'does'} {name} work?",
        topic.lower(),
    )


def sentence_question(
    sentence: str, rarity: Callable[[str], float]
) -> tuple[Rule, str, tuple[str, ...]] | None:
    """Make a question that a sentence answers; return the rule, the question, and words an answer must have.

    The first rule that fits asks; where none does, its rarest words make a search-box query.
    """
    for rule, make in _RULES.items():
        if made := make(sentence, rarity):
            question, answer = made
            return rule, question, answer
    return None


def find_rarest(text: str, rarity: Callable[[str], float], most: int) -> list[str]:
    """Return the words of a text that are rarest in the book, in the order of the text."""
    words = list(dict.fromkeys(content_words(text)))
    chosen = set(sorted(words, key=lambda word: (-rarity(word), word))[:most])
    return [word for word in words if word in chosen]


Made = tuple[str, tuple[str, ...]] | None


def _definition(sentence: str, _rarity: Callable[[str], float]) -> Made:
    found = _DEFINITION.match(sentence)
    if found is None:
        return None
    words = [word.lower() for word in found["subject"].split()]
    if len(words) > 5 or words[0] in _NO_SUBJECT or not content_words(words[-1]):
        return None
    if _VERBS & set(words):
        return None
    many = found["verb"] in {"are", "were"}
    name = _lower_first(found["subject"])
    rest = tuple(content_words(sentence[found.end() :]))
    return f"What {'are' if many else 'is'} {name}?", rest


def _number(sentence: str, rarity: Callable[[str], float]) -> Made:
    terms = [word for word in find_rarest(sentence, rarity, 6) if not _NUMBER.fullmatch(word)][:5]
    if len(terms) < 3:
        return None
    if year := _YEAR.search(sentence):
        return f"In which year {' '.join(terms)}?", (year[1],)
    if count := _COUNT.search(sentence):
        others = [word for word in terms if word not in count[2] and word != count[1].lower()]
        return f"How many {count[2]} {' '.join(others)}?", (count[1].lower(),)
    measure = _MEASURE.search(sentence)
    if measure and measure[2]:
        return f"How much {' '.join(terms)}?", (measure[1],)
    return None


def _cause(sentence: str, _rarity: Callable[[str], float]) -> Made:
    found = _CAUSE.match(sentence)
    if found is None:
        return None
    words = found["effect"].split()
    if words[0].lower() in _NO_SUBJECT or not 3 <= len(words) <= 24:
        return None
    rest = tuple(content_words(sentence[found.end() - 1 :]))
    place = next((n for n, word in enumerate(words[:6]) if n and word.lower() in _VERBS), None)
    effect = _lower_first(found["effect"])
    if place is None:
        return f"Why is it that {effect}?", rest
    words = effect.split()
    return f"Why {words[place]} {' '.join(words[:place] + words[place + 1 :])}?", rest


def _terms(sentence: str, rarity: Callable[[str], float]) -> Made:
    terms = [word for word in find_rarest(sentence, rarity, 5) if not _NUMBER.fullmatch(word)][:4]
    return (" ".join(terms), tuple(content_words(sentence))) if len(terms) >= 3 else None


_RULES: Mapping[Rule, Callable[[str, Callable[[str], float]], Made]] = {
    "definition": _definition,
    "number": _number,
    "cause": _cause,
    "terms": _terms,
}


def _lower_first(text: str) -> str:
    """Lower the first letter, except in a name or an abbreviation."""
    first, _, rest = text.partition(" ")
    named = first[1:] != first[1:].lower() or first == "I"
    return text if named else f"{first.lower()} {rest}".rstrip()


def is_prose(sentence: str) -> bool:
    """Return True if a unit is a sentence in words: no fragment, link or code."""
    words = _HYPHENATED.findall(sentence)
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return (
        7 <= len(words) <= 60
        and letters >= 0.85 * len(sentence)
        and sentence.rstrip("\"'”’)")[-1:] in ".!。．।"
        and not _ABOUT_ITSELF.search(sentence)
    )
