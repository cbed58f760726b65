"""Ways to change what a sentence says, and ways to say the same otherwise.

Each way takes a sentence and chance, and gives an Edit or nothing where the sentence offers no place for it.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from training.contrasts import MODALITY, SCOPE, Contrast, one_way, opposites, same_words


@dataclass(frozen=True, slots=True)
class Edit:
    """A sentence after a change."""

    text: str
    kind: str
    two_way: bool = False  # the first sentence would be as wrong where the changed one stands
    words: tuple[str, str] | None = None  # what was exchanged, where it was a word for another


Way = Callable[[str, Sequence[str], random.Random], Edit | None]

NEW_WORDS = ", new words"  # ends the kind of an edit with words that are kept out of training
_ADDED = (
    "on Windows only", "within ten seconds", "without any further setup", "for paying customers", "twice a day",
    "after the third attempt", "in most countries", "as the inventor had planned", "for reasons of security",
    "since the second edition", "until the next restart", "in every version", "at no extra cost", "by tradition",
    "even when the network is down", "and nothing else does", "in less than a minute", "as long as it is not raining",
    "for the first time in history", "against the advice of experts", "but only at night",
    "in the order of their names",
    "with the help of a second person", "unless an administrator objects", "regardless of size", "in the background",
    "which is why experts avoid it", "and this cannot be undone", "by a wide margin", "as required by law",
    "with a loss of precision", "more often than anywhere else", "before anything else happens", "in rare cases only",
    "for at most one user", "and it costs more than it saves", "which surprised everybody", "in a random order",
    "as soon as memory runs low", "and the same holds for all others", "for all values without exception",
)  # fmt: skip
_NEUTRAL_BEFORE = (
    "In short, ", "Put simply, ", "As the text says, ", "According to this passage, ", "It is stated that ",
    "The author explains that ", "In other words, ", "Note that ", "We learn that ", "Here, ",
)  # fmt: skip
_NEUTRAL_AFTER = (
    ", as the text says",
    ", according to this section",
    ", it is said here",
    ", as stated",
)
_MADE_UP = (
    "always",
    "only",
    "never",
    "automatically",
    "secretly",
    "rarely",
    "deliberately",
    "immediately",
    "alone",
)
_CONNECTIVE = re.compile(
    r"^(?:However|Therefore|Thus|Also|Moreover|Furthermore|In addition|For example|For instance|Then|So|Hence|"
    r"Instead|Finally|Similarly|In fact|Of course|Note that|Additionally|Consequently|But|And)(?:, | )"
)
_ASIDE = re.compile(r" \([^()]{3,60}\)|, which [^,.;]{5,60},")
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|has been|have been)\b(?! not| n)"
)
_NEGATED = re.compile(
    r"\b(is|are|was|were|could|will|would|should|must|may|does|do|did|has|have|had) not\b|\b(never) "
)
_PHRASE = (
    r"(?:(?:[Tt]he|[Aa]n?|[Ii]ts|[Tt]heir|[Hh]is|[Hh]er|[Yy]our|[Tt]his|[Ee]ach|[Oo]ur) (?:[\w-]+ )?[\w-]+"
    r"|[A-Z]\w+(?:\.\w+)*(?: [A-Z]\w+)?|`[^`]+`)"
)
_ROLES = re.compile(
    rf"(?<![\w`])(?P<one>{_PHRASE})(?P<between> [^,;:()]{{2,50}}? )(?P<other>{_PHRASE})(?![\w`])"
)
_EVEN_HANDED = re.compile(
    r"\b(?:and|or|nor|is|are|was|were|be|between|same|equals?|like|as|called|named|both|with|of|means?|that|than|rather|instead)\b"
)
_COMPARED = re.compile(rf"(?P<one>{_PHRASE})(?P<between> .{{2,40}}? than )(?P<other>{_PHRASE})")
_COURSE = re.compile(
    r"\bfrom (?P<one>[\w`'-]+(?: [\w`-]+)?)(?P<between> (?:in)?to )(?P<other>[\w`'-]+)"
)
_REASON = re.compile(r"^(?P<what>[A-Z][^,;]{15,}?),? because (?P<why>[^,;]{15,}?)(?P<end>[.])$")
_CONDITION = re.compile(
    r"^(?:If|Unless|Provided|In case|Only if|As long as) [^,]{8,90}, (?:then )?(?P<rest>.{15,})$"
)
_CLAUSE = re.compile(r",? (?:because|so that|when|while|since|although|unless|if|which|where|but) ")
_SYMMETRIC = re.compile(
    r"\b(?:same|equal|between|differ\w*|versus|both|each other|together|similar)\b"
)
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")
_NUMBER = re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b")


def exchange_opposite(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Put a word's opposite in its place."""
    return _exchange_word(text, opposites(), "contrast", chooser)


def change_modality(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Turn what is allowed, required, possible or certain into something else of these."""
    return _exchange_word(text, one_way(MODALITY), "modality", chooser)


def change_scope(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Claim more, or other, cases than the sentence does."""
    return _exchange_word(text, one_way(SCOPE), "scope", chooser)


def change_count(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Put another number word."""
    if not (match := _NUMBER.search(text)):
        return None
    new = chooser.choice([word for word in _NUMBER_WORDS if word != match.group()])
    return Edit(
        _replace(text, match.span(), new), "count", two_way=True, words=(match.group(), new)
    )


def negate(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Take a negation away, or put one in."""
    if match := _NEGATED.search(text):
        return Edit(_replace(text, match.span(), match[1] or ""), "negation", two_way=True)
    places = list(_AUXILIARY.finditer(text))
    if not places:
        return None
    place = chooser.choice(places)
    word = chooser.choice(("not", "not", "never", "no longer", "hardly"))
    return Edit(f"{text[: place.end()]} {word}{text[place.end() :]}", "negation", two_way=True)


def swap_roles(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Let two things change places: who does it and whom to, what is compared, where from and to."""
    if _SYMMETRIC.search(text):
        return None
    found = [*_COMPARED.finditer(text), *_COURSE.finditer(text)]
    found += [m for m in _ROLES.finditer(text) if not _EVEN_HANDED.search(m["between"])]
    found = [m for m in found if m["one"].lower() != m["other"].lower()]
    if not found:
        return None
    match = chooser.choice(found)
    first, second = match["one"], match["other"]
    if match.start() == 0:
        first = first if first[1:2].isupper() or first.startswith("`") else _lower_first(first)
        second = second[:1].upper() + second[1:]
    swapped = second + match["between"] + first
    if match.re is _COURSE:
        swapped = f"from {swapped}"
    return Edit(_replace(text, match.span(), swapped), "roles", two_way=True)


def swap_reason(text: str, _others: Sequence[str], _chooser: random.Random) -> Edit | None:
    """Give the reason as the result and the result as the reason."""
    if not (match := _REASON.match(text)):
        return None
    why, what = match["why"], _lower_first(match["what"])
    return Edit(f"{why[:1].upper()}{why[1:]} because {what}{match['end']}", "roles", two_way=True)


def drop_condition(text: str, _others: Sequence[str], _chooser: random.Random) -> Edit | None:
    """Claim without its condition what the sentence says under one."""
    match = _CONDITION.match(text)
    return Edit(match["rest"][:1].upper() + match["rest"][1:], "condition") if match else None


def add_detail(text: str, _others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Add a detail that the sentence does not have."""
    if not text.endswith("."):
        return None
    if chooser.random() < 0.4 and (places := list(_AUXILIARY.finditer(text))):
        place = chooser.choice(places)
        word = chooser.choice(_MADE_UP)
        return Edit(f"{text[: place.end()]} {word}{text[place.end() :]}", "addition")
    return Edit(f"{text[:-1]} {chooser.choice(_ADDED)}.", "addition")


def splice(text: str, others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Go on after "because", "when" or the like as another sentence of the passage does."""
    here = _CLAUSE.search(text)
    tails = [m.string[m.end() :] for one in others if one != text and (m := _CLAUSE.search(one))]
    if here is None or here.start() < 15 or not tails:
        return None
    return Edit(text[: here.end()] + chooser.choice(tails), "splice")


def invent_reason(text: str, others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Give what another sentence of the passage says as a reason or a result."""
    fit = [one for one in others if one != text and re.match(r"(?:The|A|An|It|This|They|In) ", one)]
    if not fit or not text.endswith("."):
        return None
    link = chooser.choice((" because ", ", which is why ", ", so that ", " although "))
    return Edit(text[:-1] + link + _lower_first(chooser.choice(fit)), "splice")


CORRUPTIONS: tuple[tuple[float, Way], ...] = (
    (0.3, exchange_opposite), (0.12, change_modality), (0.14, change_scope), (0.03, change_count), (0.06, negate),
    (0.15, swap_roles), (0.02, swap_reason), (0.03, drop_condition), (0.1, add_detail), (0.02, splice),
    (0.03, invent_reason),
)  # fmt: skip


def corrupt(text: str, others: Sequence[str], chooser: random.Random) -> Edit | None:
    """Change what a sentence says, in a way chosen by chance among those that it offers a place for."""
    ways = [way for _, way in CORRUPTIONS]
    weights = [weight for weight, _ in CORRUPTIONS]
    for _ in range(6):
        edit = chooser.choices(ways, weights)[0](text, others, chooser)
        if edit is not None and edit.text != text:
            return edit
    return None


def rephrase(text: str, chooser: random.Random) -> str:
    """Say the same otherwise: other words, a neutral opening, without an aside or a connecting word."""
    changed = _CONNECTIVE.sub("", text)
    changed = changed[:1].upper() + changed[1:]
    if chooser.random() < 0.5:
        changed = _ASIDE.sub("", changed, count=1)
    for _ in range(chooser.randint(0, 2)):
        found = list(_word_pattern(same_words()).finditer(changed))
        if found:
            match = chooser.choice(found)
            new = chooser.choice([new for old, new in same_words() if old == match.group().lower()])
            changed = _replace(changed, match.span(), _like(match.group(), new))
    if chooser.random() < 0.3:
        changed = chooser.choice(_NEUTRAL_BEFORE) + _lower_first(changed)
    elif chooser.random() < 0.2 and changed.endswith("."):
        changed = changed[:-1] + chooser.choice(_NEUTRAL_AFTER) + "."
    return changed


def _exchange_word(
    text: str, contrasts: tuple[Contrast, ...], kind: str, chooser: random.Random
) -> Edit | None:
    by_word = _by_word(contrasts)
    found = list(_word_pattern(tuple((c.old, c.new) for c in contrasts)).finditer(text))
    if not found:
        return None
    match = chooser.choice(found)
    contrast = chooser.choice(by_word[match.group().lower()])
    if re.search(rf"\b{re.escape(contrast.new)}\b", text, re.IGNORECASE):
        return None  # both stand there: "before or after" says the same either way round
    new = _like(match.group(), contrast.new)
    name = kind + NEW_WORDS if contrast.held_out else kind
    changed = _replace(text, match.span(), new)
    return Edit(changed, name, contrast.two_way, (match.group(), new))


@cache
def _by_word(contrasts: tuple[Contrast, ...]) -> dict[str, list[Contrast]]:
    found: dict[str, list[Contrast]] = {}
    for contrast in contrasts:
        found.setdefault(contrast.old, []).append(contrast)
    return found


@cache
def _word_pattern(pairs: tuple[tuple[str, str], ...]) -> re.Pattern[str]:
    words = sorted({old for old, _ in pairs}, key=len, reverse=True)
    return re.compile(
        rf"(?<![\w`.-])(?:{'|'.join(map(re.escape, words))})(?![\w`(_’'-])", re.IGNORECASE
    )


def _replace(text: str, span: tuple[int, int], new: str) -> str:
    return re.sub(" {2,}", " ", text[: span[0]] + new + text[span[1] :])


def _like(old: str, new: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _lower_first(text: str) -> str:
    """Write a sentence's first letter small, unless the first word is a name."""
    first = text.partition(" ")[0]
    common = re.fullmatch(
        r"(?:The|A|An|It|This|These|Those|They|We|You|In|On|At|By|For|To|If|When|While|As|With|Each|All|Some|Most|Many|"
        r"There|Its|Their|His|Her|He|She|Your|Our|One|No|Any|Every|Once|After|Before|From|Because|Since|That|Besides|Both|Several|Only|So|What|How|Where|Who|Not)",
        first,
    )
    return text[:1].lower() + text[1:] if common else text
