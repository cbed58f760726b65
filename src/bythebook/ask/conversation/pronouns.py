"""Which topic of a conversation each pronoun of a follow-up question stands for."""

import re
from collections.abc import Iterable, Sequence

from bythebook.ask.conversation.phrases import (
    ADJECTIVES,
    BASE_VERBS,
    BEING,
    CLOSED,
    DOING,
    JOINING,
    OTHERS,
    PREPOSITIONS,
    Phrase,
    Word,
    noun_phrases,
    words_of,
)
from bythebook.ask.conversation.topics import Topic, Topics, Wanted, is_about_something, singular

Piece = tuple[int, int, str]  # from where to where, and what to put there

_WANTED: dict[str, Wanted] = {
    **dict.fromkeys(("he", "him", "his", "she", "her"), "person"),
    **dict.fromkeys(("it", "its", "this", "that", "one"), "thing"),
    "there": "place",
    **dict.fromkeys(("they", "them", "their", "these", "those", "ones"), "several"),
}
NUMBER = {"is": "are", "was": "were", "does": "do", "has": "have"}
NUMBER |= {several: one for one, several in NUMBER.items()}
_OWNERS = frozenset("his her its their".split())
_POINTERS = frozenset("this that these those".split())
_KEPT_NOUNS = frozenset(
    """time year day moment period point season era case way reason question book chapter section article text
    passage page sentence paragraph word sense regard respect kind sort type decade month week""".split()
)
_GENERAL_NOUNS = frozenset(
    """approach method technique concept process thing system tool algorithm device technology strategy feature
    function idea term mechanism procedure practice object component""".split()
)
_EVENTS = frozenset(
    "after before during since did didn't do doing done all anything something everything nothing".split()
)
_ABOUT_ANSWER = frozenset("right true correct so all really it mean who which whose".split())
_NEW_CLAUSE = JOINING | frozenset((",", ";", ".", "?", "to", "after", "before", "since", "until"))
_EMPTY = re.compile(
    r"\bit(?:'s| is| was)? (?:\w+ )?(?:possible|necessary|important|true|safe|legal|easy|hard|difficult|better"
    r"|best|worth|enough|ok|okay|good|bad|wise|common|normal|required|called|like|rains?|raining|snows?|snowing"
    r"|takes?|makes? sense)\b(?= (?:to|that|for|if|when|whether|\w+ing)\b)"
    r"|\bit (?:rains?|snows?)\b|\bit (?:take|mean|cost|feel|look)\b.* to\b|\btime is it\b|\bit true\b"
    r"|\bthey (?:call|say)\b(?: it)?|\bmake it\b|\bit is that\b|\bit that\b",
    re.IGNORECASE,
)


def resolve_pronouns(question: str, topics: Topics) -> str | None:
    """Put what it stands for in place of the first pronoun of each kind, or give None."""
    words, phrases = words_of(question), noun_phrases(question)
    named: dict[str, str] = {}
    pieces: list[Piece] = []
    for place, word in enumerate(words):
        pronoun = word.lower.partition("'")[0]
        wanted = _WANTED.get(pronoun)
        if wanted is None or wanted in named:
            continue
        if pronoun not in _POINTERS and _stands_for_nothing_outside(
            question, words, place, phrases
        ):
            named[wanted] = ""
            continue
        left_out = (*named.values(), *(phrase.key for phrase in phrases))
        piece = _piece(words, place, phrases, topics, left_out)
        if piece:
            named[wanted] = piece[2].lower()
            pieces.append(piece)
    return replaced(question, pieces) if pieces else None


def replaced(text: str, pieces: Sequence[Piece]) -> str:
    """Put each piece in its place, which are in order."""
    for start, end, piece in reversed(pieces):
        capital = piece[:1].upper() if start == 0 else piece[:1]
        is_same = capital.lower() == piece[:1].lower()  # not for "ﬁ" and "µ"
        shown = capital + piece[1:] if is_same else piece
        text = text[:start] + shown + text[end:]
    return text


def _piece(
    words: Sequence[Word], place: int, phrases: Sequence[Phrase], topics: Topics, but: Iterable[str]
) -> Piece | None:
    word = words[place]
    pronoun = word.lower.partition("'")[0]
    if pronoun in _POINTERS:
        return _pointed(words, place, phrases, topics, but)
    wanted = _WANTED[pronoun]
    if pronoun in {"one", "ones"}:
        return _counted(words, place, topics, but)
    if wanted == "place":
        return _placed(words, place, topics, but)
    if wanted == "several" and place and words[place - 1].lower in {"did", "didn't"}:
        wanted = "group"
    phrase = topics.best(wanted, but)
    if phrase is None:
        return None
    shown = _in_place_of(words, place, phrase)
    verb = words[place - 1] if place else word
    is_one = phrase.text.lower().startswith(("a ", "an ")) and not phrase.plural
    if wanted == "several" and is_one and verb.lower in NUMBER:
        return verb.start, word.end, f"{NUMBER[verb.lower]} {shown}"
    return word.start, word.end, shown


def _in_place_of(words: Sequence[Word], place: int, phrase: Phrase) -> str:
    pronoun, mark, ending = words[place].lower.partition("'")
    if ending in {"re", "ve"}:
        return f"{phrase.text} {'are' if ending == 're' else 'have'}"
    if mark:
        return f"{phrase.text}'{ending}"
    if pronoun in _OWNERS and (pronoun != "her" or _has_noun_after(words, place)):
        return (
            f"{phrase.text}'" if phrase.plural and phrase.text.endswith("s") else f"{phrase.text}'s"
        )
    return phrase.text


def _has_noun_after(words: Sequence[Word], place: int) -> bool:
    following = _next(words, place)
    return following[0].isalnum() and following not in CLOSED


def _next(words: Sequence[Word], place: int) -> str:
    return words[place + 1].lower if place + 1 < len(words) else "?"


def _stands_for_nothing_outside(
    question: str, words: Sequence[Word], place: int, phrases: Sequence[Phrase]
) -> bool:
    """Tell whether a pronoun is empty ("it rains") or means what the question names before it."""
    pronoun = words[place]
    if any(match.start() <= pronoun.start < match.end() for match in _EMPTY.finditer(question)):
        return True
    wanted = _WANTED[pronoun.lower.partition("'")[0]]
    for phrase in phrases:
        is_named = wanted == "person" and phrase.text[:1].isupper()
        if not is_named and Topic(phrase, 1.0).agrees(wanted) < 0.35:
            continue
        if wanted != "several" and not is_about_something(phrase):
            continue
        first, last = sorted((phrase.end, pronoun.start))
        between = {word.lower for word in words if first <= word.start < last}
        if phrase.start > pronoun.start:
            is_inside = "," in between and words[0].lower in PREPOSITIONS | JOINING
        else:
            is_owner = question.startswith(("'s", "’s"), phrase.end)
            is_inside = is_owner or pronoun.lower in _OWNERS or bool(between & _NEW_CLAUSE)
        if is_inside:
            return True
    return False


def _counted(words: Sequence[Word], place: int, topics: Topics, but: Iterable[str]) -> Piece | None:
    """Resolve "create one" and "cheaper ones", but not "which one" or "one of them"."""
    word = words[place]
    before = words[place - 1].lower if place else "which"
    following = _next(words, place)
    is_last = not following[0].isalnum() or following in PREPOSITIONS - {"of", "at", "by"}
    phrase = topics.best("thing" if word.lower == "one" else "several", but) if is_last else None
    if phrase is None:
        return None
    if before in ADJECTIVES:
        return word.start, word.end, phrase.bare
    return (word.start, word.end, phrase.text) if before in BASE_VERBS else None


def _placed(words: Sequence[Word], place: int, topics: Topics, but: Iterable[str]) -> Piece | None:
    """Resolve "there" where it ends a question and is not "is there"."""
    before = words[place - 1].lower if place else "is"
    is_last = not _next(words, place)[0].isalnum()
    phrase = topics.best("place", but) if is_last and before not in BEING else None
    if phrase is None:
        return None
    preposition = phrase.after if phrase.after in {"in", "at", "on", "near"} else "in"
    return words[place].start, words[place].end, f"{preposition} {phrase.text}"


def _pointed(
    words: Sequence[Word], place: int, phrases: Sequence[Phrase], topics: Topics, but: Iterable[str]
) -> Piece | None:
    """Resolve "this", "that", "these" and "those", alone or before a noun."""
    word = words[place]
    pronoun = word.lower.partition("'")[0]
    before = words[place - 1].lower if place else ""
    following = _next(words, place)
    is_verb_next = following in BASE_VERBS and before in DOING
    if not is_verb_next and (noun := _noun_after(words, place, phrases)):
        is_joining = noun.kind == "name" or (place and before not in CLOSED)
        return None if pronoun == "that" and is_joining else _pointed_noun(word, noun, topics)
    if (
        (before in _EVENTS and pronoun in {"this", "that"})
        or following in _ABOUT_ANSWER
        or (place == 0 and following in BEING)
    ):
        return None
    if (
        pronoun == "that"
        and place
        and before not in BEING | DOING
        and following not in {"?", ".", "!"}
    ):
        return None
    phrase = topics.best(_WANTED[pronoun], but)
    return (word.start, word.end, _in_place_of(words, place, phrase)) if phrase else None


def _noun_after(words: Sequence[Word], place: int, phrases: Sequence[Phrase]) -> Phrase | None:
    following = place + 1
    while following < len(words) and words[following].lower in ADJECTIVES | OTHERS:
        following += 1
    if following == len(words):
        return None
    start = words[following].start
    return next((p for p in phrases if p.start == start and p.text == p.bare), None)


def _pointed_noun(pointer: Word, noun: Phrase, topics: Topics) -> Piece | None:
    if singular(noun.head) in _KEPT_NOUNS:
        return None
    phrase = topics.name_ending_in(noun.head)
    if phrase is None:
        phrase = topics.best("several" if noun.plural else "thing", [noun.key])
        if phrase is None:
            return None
        if singular(noun.head) not in _GENERAL_NOUNS and singular(noun.head) != singular(
            phrase.head
        ):
            return pointer.start, pointer.end, phrase.text
    return pointer.start, noun.end, phrase.text
