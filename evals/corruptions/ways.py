"""Ways to corrupt a clean draft; each returns None if the draft has nothing that it can change."""

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
_LIST_NUMBER = re.compile(r"\s*\d+[.)]\s.*")
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
Corruption = Callable[[Case, "CorruptionSource"], Case | None]


class CorruptionSource:
    """A random source, and words of this book and of another to substitute."""

    def __init__(self, cases: Sequence[Case], foreign: Sequence[Case], seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a fixed seed
        self.cases = cases
        self.foreign = foreign

    @cached_property
    def names(self) -> list[str]:
        """Names in the book; a word that it also writes in lower case is not a name."""
        found = {name for case in self.cases for name in names(case.draft.text)}
        texts = " ".join(passage.chunk.text for case in self.cases for passage in case.passages)
        small = set(re.findall(r"\b[^\W\d_A-Z]\w+", texts)) | OPENERS
        return sorted(name for name in found if name.lower() not in small)

    @cached_property
    def words(self) -> list[str]:
        """Longer words of the book."""
        found = {w for case in self.cases for w in re.findall(r"\b[a-z]{5,}\b", case.draft.text)}
        return sorted(found)

    def choose_other(self, words: Sequence[str], than: str) -> str | None:
        """Choose a word that is not a form of another."""
        fit = [word for word in words if word[:3].casefold() != than[:3].casefold()]
        return self.random.choice(fit) if fit else None


def change_number(case: Case, source: CorruptionSource) -> Case | None:
    """Replace a number that is written in digits."""
    text = case.draft.text
    found = [
        number
        for number in numbers(text)
        if re.fullmatch(r"[\d.,]+", text[number.start : number.end])
        and not _LIST_NUMBER.fullmatch(text[: number.end + 2])
    ]
    if not found:
        return None
    number = source.random.choice(found)
    old = new = text[number.start : number.end]
    while new == old:
        new = re.sub(r"\d", lambda digit: _change_digit(digit, source.random), old)
    return case.with_text(text[: number.start] + new + text[number.end :])


def change_unit(case: Case, _source: CorruptionSource) -> Case | None:
    """Keep a number, and change its unit or scale."""
    text = _UNIT.sub(lambda unit: unit[1] + _OTHER_UNITS[unit[2]], case.draft.text, count=1)
    return case.with_text(text) if text != case.draft.text else None


def swap_name(case: Case, source: CorruptionSource) -> Case | None:
    """Replace a name by another of the book, maybe of the same passage."""
    found = [name for name in names(case.draft.text) if name in source.names]
    if not found:
        return None
    old = source.random.choice(found)
    new = source.choose_other(source.names, old)
    return case.with_text(_replace_word(case.draft.text, old, new)) if new else None


def change_identifier(case: Case, source: CorruptionSource) -> Case | None:
    """Change a letter of an identifier."""
    found = [code for code in identifiers(case.draft.text) if re.search(r"[a-z]", code)]
    if not found:
        return None
    old = source.random.choice(found)
    places = [match.start() for match in re.finditer(r"[a-z]", old)]
    at = source.random.choice(places)
    new = old[:at] + source.random.choice("bcdfgklmpqvwxz".replace(old[at], "")) + old[at + 1 :]
    return case.with_text(case.draft.text.replace(old, new, 1))


def negate(case: Case, _source: CorruptionSource) -> Case | None:
    """Remove a "not", or add one."""
    text = case.draft.text
    if _NOT.search(text):
        return case.with_text(_NOT.sub(lambda verb: verb[1] or "can", text, count=1))
    if not _VERB.search(text):
        return None
    return case.with_text(_VERB.sub(lambda verb: f"{verb[1]} not", text, count=1))


def strengthen(case: Case, source: CorruptionSource) -> Case | None:
    """State it more strongly: with "always" or "only", or without "usually"."""
    text = case.draft.text
    if _HEDGE.search(text):
        return case.with_text(_HEDGE.sub("", text, count=1))
    if not _VERB.search(text):
        return None
    word = source.random.choice(("always", "only", "certainly"))
    return case.with_text(_VERB.sub(lambda verb: f"{verb[1]} {word}", text, count=1))


def reverse_order(case: Case, source: CorruptionSource) -> Case | None:
    """Swap the two sides of a comparison, a direction or an action."""
    text = case.draft.text
    if sides := _SIDES.search(text):
        groups = (2, 4) if sides[1] else (5, 7)
        return case.with_text(_swap_spans(text, sides.span(groups[0]), sides.span(groups[1])))
    spans = [
        match.span() for name in dict.fromkeys(names(text)) if (match := _find_word(text, name))
    ]
    if len(spans) < 2:
        return None
    first, second = sorted(source.random.sample(spans, 2))
    joined = text[first[1] : second[0]].strip()
    if not re.search(r"\b[a-z]{2,}", joined) or re.search(r"\b(?:and|or)\b", joined):
        return None
    return case.with_text(_swap_spans(text, first, second))


def replace_quote_word(case: Case, source: CorruptionSource) -> Case | None:
    """Replace a word of the quote."""
    quote = case.draft.quotes[0][1]
    found = re.findall(r"\b[a-z]{4,}\b", quote)
    old = source.random.choice(found) if found else ""
    new = source.choose_other(source.words, old) if old else None
    return case.with_text(case.draft.text, _replace_word(quote, old, new)) if new else None


def shorten_quote(case: Case, source: CorruptionSource) -> Case | None:
    """Omit words from the quote without marking the gap."""
    words = case.draft.quotes[0][1].split()
    if len(words) < 8:
        return None
    count = source.random.randint(1, 3)
    at = source.random.randint(2, len(words) - count - 2)
    return case.with_text(case.draft.text, " ".join(words[:at] + words[at + count :]))


def stitch_quote(case: Case, source: CorruptionSource) -> Case | None:
    """Join the beginning of one sentence and the end of another into a quote."""
    first = case.draft.quotes[0][1].split()
    others = [
        text.split()
        for passage in case.passages
        for text in passage.chunk.unit_texts()
        if len(text.split()) >= 8 and text != case.draft.quotes[0][1]
    ]
    if len(first) < 8 or not others:
        return None
    second = source.random.choice(others)
    joined = " ".join(first[: len(first) // 2] + second[len(second) // 2 :])
    return case.with_text(joined, joined)


def misattribute_quote(case: Case, source: CorruptionSource) -> Case | None:
    """Cite another passage than the one that contains the quote."""
    ((_, quote),) = case.draft.quotes[:1]
    others = [passage for passage in case.passages if quote not in passage.chunk.text]
    if not others:
        return None
    wrong = ((source.random.choice(others), quote), *case.draft.quotes[1:])
    return replace(case, draft=Draft(case.draft.text, wrong, case.draft.kind))


def fabricate(case: Case, source: CorruptionSource) -> Case | None:
    """State and quote what only another book says."""
    text = source.random.choice(source.foreign).draft.text
    is_given = any(text in passage.chunk.text for passage in case.passages)
    return None if is_given else case.with_text(text, text)


SENTENCE_WAYS: Mapping[str, Corruption] = {
    "number changed": change_number,
    "unit or scale changed": change_unit,
    "name swapped": swap_name,
    "identifier changed": change_identifier,
    "negation added or removed": negate,
    "qualifier added or removed": strengthen,
    "order turned round": reverse_order,
}
QUOTE_WAYS: Mapping[str, Corruption] = {
    "quote: a word replaced": replace_quote_word,
    "quote: words left out": shorten_quote,
    "quote: stitched": stitch_quote,
    "quote: wrong passage named": misattribute_quote,
    "sentence and quote of another book": fabricate,
}


def _change_digit(digit: re.Match[str], chance: random.Random) -> str:
    """Change a digit half of the time, never to 0, so that no number gets a leading zero."""
    if chance.random() < 0.5:
        return digit.group()
    return chance.choice("123456789")


def _find_word(text: str, word: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)


def _replace_word(text: str, old: str, new: str) -> str:
    found = _find_word(text, old)
    return text[: found.start()] + new + text[found.end() :] if found else text


def _swap_spans(text: str, first: tuple[int, int], second: tuple[int, int]) -> str:
    (a, b), (c, d) = first, second
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]
