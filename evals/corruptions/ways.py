"""Ways to spoil a clean draft; each gives nothing where a draft has nothing to spoil so."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from bythebook.ask.verify.facts import OPENERS, identifiers, names
from bythebook.ask.verify.numbers import numbers
from bythebook.domain.answers import Draft
from evals.corruptions.clean import Case

_OTHER_UNITS: Mapping[str, str] = {
    "kg": "g", "g": "kg", "km": "m", "m": "km", "cm": "mm", "mm": "cm", "miles": "metres",
    "kilometers": "miles", "kilometres": "miles", "feet": "miles", "inches": "feet",
    "seconds": "minutes", "second": "hour", "minutes": "hours", "minute": "day", "hours": "days",
    "hour": "minute", "days": "weeks", "weeks": "months", "months": "years", "years": "months",
    "year": "month", "decades": "centuries", "%": " million", "percent": "million",
    "million": "billion", "billion": "million", "thousand": "million", "hundred": "thousand",
    "volts": "watts", "watts": "volts", "degrees": "radians", "bytes": "kilobytes", "ms": "s",
    "Hz": "kHz", "acres": "hectares", "tons": "pounds", "pounds": "tons", "V": "W", "N": "kN",
}  # fmt: skip
_UNIT = re.compile(
    rf"(?<=\d)(\s?)({'|'.join(map(re.escape, sorted(_OTHER_UNITS, key=len, reverse=True)))})(?!\w)"
)
_VERB = re.compile(r"\b(is|are|was|were|can|will|has|had|should|must|may|could|would|does|did)\b")
_NOT = re.compile(
    r"\b(is|are|was|were|can|will|should|must|may|could|would|does|did|do) not\b|\bcannot\b"
)
_HEDGE = re.compile(
    r"\b(usually|often|typically|generally|sometimes|nearly|almost|approximately|about|mostly|probably) "
)
_SIDES = re.compile(
    r"\b(from) (\w+) (to) (\w+)\b|\b(\w+) ((?:rather|more|less|\w+er) than) (\w+)\b"
)
Spoil = Callable[[Case, "Spoiler"], Case | None]


class Spoiler:
    """Chance, and words of the book at hand and of another to put for those that stand there."""

    def __init__(self, cases: Sequence[Case], foreign: Sequence[Case], seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - chosen anew, yet the same each time
        self.cases = cases
        self.foreign = foreign

    @cached_property
    def names(self) -> list[str]:
        """Names that stand in the book; a word that it writes small as well is none."""
        found = {name for case in self.cases for name in names(case.draft.text)}
        texts = " ".join(passage.chunk.text for case in self.cases for passage in case.passages)
        small = set(re.findall(r"\b[^\W\d_A-Z]\w+", texts)) | OPENERS
        return sorted(name for name in found if name.lower() not in small)

    @cached_property
    def words(self) -> list[str]:
        """Longer words of the book."""
        found = {w for case in self.cases for w in re.findall(r"\b[a-z]{5,}\b", case.draft.text)}
        return sorted(found)

    def other(self, words: Sequence[str], than: str) -> str | None:
        """Choose a word that is no form of another."""
        fit = [word for word in words if word[:3].casefold() != than[:3].casefold()]
        return self.chance.choice(fit) if fit else None


def changed_number(case: Case, spoiler: Spoiler) -> Case | None:
    """Put another number for one that is written in figures."""
    text = case.draft.text
    found = [
        number
        for number in numbers(text)
        if re.fullmatch(r"[\d.,]+", text[number.start : number.end])
        and not re.fullmatch(r"\s*\d+[.)]\s.*", text[: number.end + 2])  # but what counts a list
    ]
    if not found:
        return None
    number = spoiler.chance.choice(found)
    old = new = text[number.start : number.end]
    while new == old:
        new = re.sub(r"\d", lambda digit: _digit(digit, spoiler.chance), old)
    return case.saying(text[: number.start] + new + text[number.end :])


def changed_unit(case: Case, _spoiler: Spoiler) -> Case | None:
    """Keep the number and change what it counts, or its thousands to millions."""
    text = _UNIT.sub(lambda unit: unit[1] + _OTHER_UNITS[unit[2]], case.draft.text, count=1)
    return case.saying(text) if text != case.draft.text else None


def swapped_name(case: Case, spoiler: Spoiler) -> Case | None:
    """Put a name of the book, maybe of the same passage, for another."""
    found = [name for name in names(case.draft.text) if name in spoiler.names]
    if not found:
        return None
    old = spoiler.chance.choice(found)
    new = spoiler.other(spoiler.names, old)
    return case.saying(_put(case.draft.text, old, new)) if new else None


def changed_identifier(case: Case, spoiler: Spoiler) -> Case | None:
    """Change a letter of what is written as code is."""
    found = [code for code in identifiers(case.draft.text) if re.search(r"[a-z]", code)]
    if not found:
        return None
    old = spoiler.chance.choice(found)
    places = [match.start() for match in re.finditer(r"[a-z]", old)]
    at = spoiler.chance.choice(places)
    new = old[:at] + spoiler.chance.choice("bcdfgklmpqvwxz".replace(old[at], "")) + old[at + 1 :]
    return case.saying(case.draft.text.replace(old, new, 1))


def negated(case: Case, _spoiler: Spoiler) -> Case | None:
    """Take a "not" away, or put one where there is none."""
    text = case.draft.text
    if _NOT.search(text):
        return case.saying(_NOT.sub(lambda verb: verb[1] or "can", text, count=1))
    if not _VERB.search(text):
        return None
    return case.saying(_VERB.sub(lambda verb: f"{verb[1]} not", text, count=1))


def qualified(case: Case, spoiler: Spoiler) -> Case | None:
    """Say it more strongly: always, only, or without its "usually"."""
    text = case.draft.text
    if _HEDGE.search(text):
        return case.saying(_HEDGE.sub("", text, count=1))
    if not _VERB.search(text):
        return None
    word = spoiler.chance.choice(("always", "only", "certainly"))
    return case.saying(_VERB.sub(lambda verb: f"{verb[1]} {word}", text, count=1))


def turned_round(case: Case, spoiler: Spoiler) -> Case | None:
    """Let the two sides of a comparison, a way or an action change places."""
    text = case.draft.text
    if sides := _SIDES.search(text):
        groups = (2, 4) if sides[1] else (5, 7)
        return case.saying(_exchange(text, sides.span(groups[0]), sides.span(groups[1])))
    spans = [match.span() for name in dict.fromkeys(names(text)) if (match := _find(text, name))]
    if len(spans) < 2:
        return None
    first, second = sorted(spoiler.chance.sample(spans, 2))
    joined = text[first[1] : second[0]].strip()
    if not re.search(r"\b[a-z]{2,}", joined) or re.search(r"\b(?:and|or)\b", joined):
        return None
    return case.saying(_exchange(text, first, second))


def quote_with_another_word(case: Case, spoiler: Spoiler) -> Case | None:
    """Put another word for one of the quote."""
    quote = case.draft.quotes[0][1]
    found = re.findall(r"\b[a-z]{4,}\b", quote)
    old = spoiler.chance.choice(found) if found else ""
    new = spoiler.other(spoiler.words, old) if old else None
    return case.saying(case.draft.text, _put(quote, old, new)) if new else None


def quote_without_words(case: Case, spoiler: Spoiler) -> Case | None:
    """Leave words out of a quote, and show no gap."""
    words = case.draft.quotes[0][1].split()
    if len(words) < 8:
        return None
    count = spoiler.chance.randint(1, 3)
    at = spoiler.chance.randint(2, len(words) - count - 2)
    return case.saying(case.draft.text, " ".join(words[:at] + words[at + count :]))


def stitched_quote(case: Case, spoiler: Spoiler) -> Case | None:
    """Join the beginning of one sentence and the end of another to a quote."""
    first = case.draft.quotes[0][1].split()
    others = [
        text.split()
        for passage in case.passages
        for text in passage.chunk.unit_texts()
        if len(text.split()) >= 8 and text != case.draft.quotes[0][1]
    ]
    if len(first) < 8 or not others:
        return None
    second = spoiler.chance.choice(others)
    joined = " ".join(first[: len(first) // 2] + second[len(second) // 2 :])
    return case.saying(joined, joined)


def misattributed_quote(case: Case, spoiler: Spoiler) -> Case | None:
    """Say that a quote stands in another passage than it does."""
    ((_, quote),) = case.draft.quotes[:1]
    others = [passage for passage in case.passages if quote not in passage.chunk.text]
    if not others:
        return None
    wrong = ((spoiler.chance.choice(others), quote), *case.draft.quotes[1:])
    return replace(case, draft=Draft(case.draft.text, wrong, case.draft.kind))


def fabricated(case: Case, spoiler: Spoiler) -> Case | None:
    """Say and quote what only another book says."""
    text = spoiler.chance.choice(spoiler.foreign).draft.text
    is_given = any(text in passage.chunk.text for passage in case.passages)
    return None if is_given else case.saying(text, text)


SENTENCE_WAYS: Mapping[str, Spoil] = {
    "number changed": changed_number,
    "unit or scale changed": changed_unit,
    "name swapped": swapped_name,
    "identifier changed": changed_identifier,
    "negation added or removed": negated,
    "qualifier added or removed": qualified,
    "order turned round": turned_round,
}
QUOTE_WAYS: Mapping[str, Spoil] = {
    "quote: a word replaced": quote_with_another_word,
    "quote: words left out": quote_without_words,
    "quote: stitched": stitched_quote,
    "quote: wrong passage named": misattributed_quote,
    "sentence and quote of another book": fabricated,
}


def _digit(digit: re.Match[str], chance: random.Random) -> str:
    """Give another digit half of the time; a number never begins with 0 that did not before."""
    if chance.random() < 0.5:
        return digit.group()
    return chance.choice("123456789")


def _find(text: str, word: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)


def _put(text: str, old: str, new: str) -> str:
    found = _find(text, old)
    return text[: found.start()] + new + text[found.end() :] if found else text


def _exchange(text: str, first: tuple[int, int], second: tuple[int, int]) -> str:
    (a, b), (c, d) = first, second
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
