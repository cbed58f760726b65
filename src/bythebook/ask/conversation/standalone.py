"""Follow-up question + the turns before it -> a question that stands alone."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bythebook.ask.conversation.phrases import (
    ADJECTIVES,
    ASKING,
    BEING,
    CLOSED,
    DOING,
    MODIFIERS,
    PREPOSITIONS,
    PRONOUNS,
    Phrase,
    noun_phrases,
    words_of,
)
from bythebook.ask.conversation.pronouns import NUMBER, replaced, resolve_pronouns
from bythebook.ask.conversation.topics import RELATIONAL, Topics, is_about_something, singular
from bythebook.domain.conversations import Turn

MOST_TURNS = 5
MOST_CHARACTERS = 500
_MOST_WORDS = 25  # a longer one says itself what it is about

_FOREIGN = frozenset(
    """el la los las que qué por como cómo es una un del para der die das und ist wie was warum ein eine le les
    des est pas pourquoi comment quoi il che perché come sono het een wat hoe och är vad hur og hvad os um
    uma""".split()
)
_MORE = re.compile(
    r"""(?:(?:and|so|ok|okay)\ )?(?:(?:can|could|would)\ you\ )?(?:please\ )?
    (?P<asks>(?:tell|show|give)(?:\ (?:me|us))?\ (?:a\ (?:bit|little)\ )?
        (?:more|an?\ example|(?:some\ )?examples|(?:some\ |more\ )?details)
      |(?:(?:any|some|an|one|another|more|for)\ )?(?:examples?|instance)
      |more(?:\ (?:details?|information|info))?|explain\ (?:more|further)|elaborate|go\ on
      |what\ else(?:\ is\ there)?|anything\ else(?:\ interesting)?|any\ more|in\ (?:more\ )?detail)
    (?:,?\ please)?\W*""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE = re.compile(
    r"""(?:(?:and|but|so|ok)\ )?(?P<asks>why\ not|why|how\ come|how\ so|how|when|where|who(?:\ else)?
      |what\ happen(?:s|ed)|what\ for|how\ (?P<degree>[a-z]+))
    (?:\ (?:is|was|did|does|do|are|were)\ (?:that|this)(?:\ (?:so|happen|the\ case))?)?
    (?:\ (?:next|then|after\ that|afterwards))?\W*""",
    re.IGNORECASE | re.VERBOSE,
)
_ANOTHER = re.compile(
    r"(?:(?:and|but|so|ok|okay),? )?(?P<opening>(?:what|how) about |and |or )(?P<other>[^?.!,;]+?)\W*",
    re.IGNORECASE,
)
_PLACE_IN_LIST = re.compile(
    r"\bthe (former|latter|first|second|third|fourth|last)(?: one\b|(?=\W*$| (?:is|are|was|do|does|did|has)\b))"
    r"|\b(?:the )(former|latter)(?='s)|(?<=^which)( one| of (?:them|these|those|the two))\b(?! of)",
    re.IGNORECASE,
)
_PLACES = {"former": 0, "first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "latter": -1}
_BETWEEN_ITEMS = frozenset(("and", "or", ",", ", and", ", or", "vs", "vs.", "versus", "than", "&"))
_OWNED = RELATIONAL - frozenset("kind lot sort term thing time way year".split())
_NEGATED = dict(
    pair.split(":")
    for pair in """is:isn't are:aren't was:wasn't were:weren't do:don't does:doesn't did:didn't can:can't
    could:couldn't will:won't would:wouldn't should:shouldn't has:hasn't have:haven't must:mustn't""".split()
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question in the light of what was said."""

    question: str
    topics: Topics
    before: str = ""  # the question before, standing alone
    answer: str = ""  # and what it was answered


def standalone_question(question: str, turns: Sequence[Turn]) -> str:
    """Give a question that needs no earlier turn, in the words of the question and the turns."""
    topics = Topics()
    before = answer = ""
    for turn in turns[-MOST_TURNS:]:
        before = _standalone(_Asked(turn.question[:MOST_CHARACTERS], topics, before, answer))
        answer = turn.answer
        topics.add_turn(before, answer)
    rewritten = _standalone(_Asked(question, topics, before, answer))
    return rewritten if len(rewritten) <= MOST_CHARACTERS else question


def _standalone(asked: _Asked) -> str:
    """Try the ways in which a question can lean on earlier ones; the first that fits counts."""
    if not _can_lean(asked.question):
        return asked.question
    for way in _WAYS:
        if (rewritten := way(asked)) is not None:
            return rewritten
    return asked.question


def _can_lean(question: str) -> bool:
    """Tell whether a question is in English and too short to bring all its context with it."""
    words = [word.lower for word in words_of(question)]
    known = set(words) & (CLOSED - _FOREIGN)
    is_english = len(_FOREIGN.intersection(words)) <= len(known) and not {"¿", "¡"} & set(words)
    return is_english and len(words) <= _MOST_WORDS


def _extended(question: str, link: str, topic: Phrase) -> str:
    """Put a topic at the end of a question, before its mark."""
    body = question.rstrip()
    words = body.rstrip("?.! ")
    asks = re.sub(r",?\ please$", "", words, flags=re.IGNORECASE)
    return f"{asks} {link} {topic.text}{body[len(words) :].strip()}"


def _more_of_it(asked: _Asked) -> str | None:
    """Say about what: "Tell me more", "An example?"."""
    match = _MORE.fullmatch(asked.question.strip())
    topic = asked.topics.best("any") if match else None
    if not match or not topic:
        return None
    is_example = re.search(r"example|instance", match["asks"], re.IGNORECASE)
    return _extended(asked.question, "of" if is_example else "about", topic)


def _bare_question(asked: _Asked) -> str | None:
    """Say of what: "Why?", "How so?", "When was that?"."""
    match = _BARE.fullmatch(asked.question.strip())
    topic = asked.topics.best("any") if match else None
    if not match or not topic:
        return None
    degree = (match["degree"] or "").lower()
    if degree in ADJECTIVES - {"long", "far"}:
        return f"How {degree} {'are' if topic.plural else 'is'} {topic.text}?"
    turned = _turned(match["asks"], asked.before)
    if turned and turned != asked.before:
        return turned
    return _extended(asked.question, "with", topic)


def _turned(asks: str, before: str) -> str | None:
    """Ask why, when, where or how of a question that can be asked so by its first words."""
    words = words_of(before)
    opening = asks[:1].upper() + asks[1:].lower()
    if len(words) < 3 or opening not in {"Why", "Why not", "How", "How come", "When", "Where"}:
        return None
    first, second = words[0], words[1]
    rest = before[first.end :]
    if first.lower in _NEGATED and opening == "Why not":
        return f"Why {_NEGATED[first.lower]}{rest}"
    if opening in {"Why not", "How come"}:
        return None
    if first.lower in _NEGATED:
        return f"{opening} {first.lower}{rest}"
    if first.lower in {"when", "where", "why", "how"} and second.lower in _NEGATED:
        return f"{opening}{rest}"
    return None


def _from_list(asked: _Asked) -> str | None:
    """Say what was listed there: "the latter", "the second one", "which one"."""
    match = _PLACE_IN_LIST.search(asked.question)
    if not match:
        return None
    wanted = (match[1] or match[2] or "which").lower()
    sources = [asked.before, asked.answer[:MOST_CHARACTERS]]
    if wanted not in {"former", "latter", "which"}:
        sources.reverse()
    for source in sources:
        items = _listed(source)
        if len(items) < 2 or _PLACES.get(wanted, 0) >= len(items):
            continue
        chosen = items[_PLACES.get(wanted, 0)].text
        if wanted == "which":
            chosen = f" of {source[items[0].start : items[-1].end]}"
        return replaced(asked.question, [(match.start(), match.end(), chosen)])
    return None


def _listed(text: str) -> list[Phrase]:
    """Give the longest row of phrases that only commas, "and" and "or" part."""
    longest: list[Phrase] = []
    row: list[Phrase] = []
    for phrase in noun_phrases(text):
        if row and phrase.start < row[-1].end:
            continue
        between = text[row[-1].end : phrase.start].strip().lower() if row else ""
        row = [*row, phrase] if between in _BETWEEN_ITEMS else [phrase]
        longest = max(longest, row, key=len)
    return longest


def _pronouns_resolved(asked: _Asked) -> str | None:
    return resolve_pronouns(asked.question, asked.topics)


def _asked_of_another(asked: _Asked) -> str | None:
    """Ask the question before of something else: "And in ROS 1?", "What about services?"."""
    match = _ANOTHER.fullmatch(asked.question.strip())
    if not match or not asked.topics:
        return None
    other = match["other"]
    words = [word.lower for word in words_of(other)]
    if set(words) & (ASKING | DOING | BEING | PRONOUNS):
        return None
    phrases = noun_phrases(other)
    if len(phrases) != 1 or not is_about_something(phrases[0]):
        return None
    if words[0] in PREPOSITIONS:
        return _elsewhere(asked.before, other, phrases[0])
    return _swapped(asked.before, other, phrases[0])


def _elsewhere(before: str, other: str, new: Phrase) -> str:
    """Ask a question again with another place, time or means."""
    for old in noun_phrases(before):
        if old.after == new.after or set(new.key.split()) & set(old.key.split()):
            return f"{before[: old.start]}{new.text}{before[old.end :]}"
    body = before.rstrip()
    words = body.rstrip("?.! ")
    return f"{words} {other}{body[len(words) :]}"


def _swapped(before: str, other: str, new: Phrase) -> str | None:
    """Ask a question again of something else, where it asks more than what that is."""
    phrases = [phrase for phrase in noun_phrases(before) if is_about_something(phrase)]
    if not phrases or re.match(
        r"\W*(?:what|who)(?:'s| is| are| was| were)\b", before, re.IGNORECASE
    ):
        return None
    new_words = set(new.key.split())
    alike = [phrase for phrase in phrases if new_words & set(phrase.key.split())]
    alike += [phrase for phrase in phrases if phrase.kind == new.kind]
    old = (alike or phrases)[0]
    lead = before[: old.start]
    verb = NUMBER.get(old.after)
    if verb and new.plural != old.plural:
        lead = re.sub(r"\w+(?=\s*$)", verb, lead)
    return f"{lead}{other}{before[old.end :]}"


def _of_what(asked: _Asked) -> str | None:
    """Say whose, where a question names nothing else: "What are the limits?"."""
    phrases = noun_phrases(asked.question)
    topic = asked.topics.best("any") if all(map(_is_owned, phrases)) else None
    if not phrases or not topic:
        return None
    last = phrases[-1]
    words = {word.lower for word in words_of(asked.question)}
    following = words_of(asked.question[last.end :])
    if following and following[0].lower in PREPOSITIONS:
        return None
    is_new = last.text.lower().startswith(("a ", "an ")) or (
        last.text == last.bare and last.after in BEING
    )
    if is_new and "there" not in words:
        return None  # "What is a limit?" asks for the word itself
    end = last.end
    return f"{asked.question[:end]} of {topic.text}{asked.question[end:]}"


def _is_owned(phrase: Phrase) -> bool:
    words = set(phrase.key.split()) - MODIFIERS
    return words == {phrase.head} and singular(phrase.head) in _OWNED


def _named_in_full(asked: _Asked) -> str | None:
    """Say "the Berlin Wall" for "the wall"."""
    for phrase in noun_phrases(asked.question):
        if phrase.text.lower() == f"the {phrase.head}":
            name = asked.topics.name_ending_in(phrase.head)
            if name:
                text = name.text if name.text.lower().startswith("the ") else f"the {name.text}"
                return replaced(asked.question, [(phrase.start, phrase.end, text)])
    return None


_WAYS: tuple[Callable[[_Asked], str | None], ...] = (
    _more_of_it,
    _bare_question,
    _from_list,
    _pronouns_resolved,
    _asked_of_another,
    _of_what,
    _named_in_full,
)
