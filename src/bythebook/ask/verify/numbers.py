"""The numbers of a text: their values, however they are written, and their units."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from bythebook.domain.text.words import MONTHS

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_TENS = "thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_WORDS: Mapping[str, int] = {word: value for value, word in enumerate(_ONES)} | {
    word: 30 + 10 * step for step, word in enumerate(_TENS)
}
_NEED_NOT_COUNT: Mapping[str, int] = {word: value for value, word in enumerate(_ORDINALS)} | {
    "one": 1, "once": 1, "single": 1, "both": 2, "pair": 2, "couple": 2, "twice": 2, "double": 2,
    "triple": 3, "a": 1, "an": 1,
}  # fmt: skip
_SCALES: Mapping[str, int] = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12, "k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "tn": 10**12,
}  # fmt: skip
_UNITS: Mapping[str, str] = {
    alias: names.split()[0]
    for names in (
        "% percent pct", "kg kilogram kilograms kilo kilos", "g gram grams", "mg milligram milligrams",
        "ton tons tonne tonnes", "lb lbs pound pounds", "km kilometre kilometres kilometer kilometers",
        "m metre metres meter meters", "cm centimetre centimetres centimeter centimeters",
        "mm millimetre millimetres millimeter millimeters", "mi mile miles", "ft foot feet",
        "inch inches", "s sec secs second seconds", "ms millisecond milliseconds",
        "min mins minute minutes", "h hr hrs hour hours", "day days", "week weeks", "month months",
        "year years", "decade decades", "century centuries", "hz hertz", "khz kilohertz",
        "mhz megahertz", "ghz gigahertz", "v volt volts", "w watt watts", "kw kilowatt kilowatts",
        "mw megawatt megawatts", "byte bytes", "bit bits", "kb kilobyte kilobytes",
        "mb megabyte megabytes", "gb gigabyte gigabytes", "tb terabyte terabytes", "newton newtons",
        "nm newton-metre newton-metres", "degree degrees °", "rad radian radians", "celsius °c",
        "fahrenheit °f", "usd $ dollar dollars", "eur € euro euros", "gbp £",
        "cent cents", "acre acres", "hectare hectares", "litre litres liter liters l",
        "ml millilitre millilitres milliliter milliliters",
    )
    for alias in names.split()
}  # fmt: skip
_FIGURES = r"\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:[.:]\d+)*"
_SCALE = "hundred|thousand|million|billion|trillion|dozen|mn|bn"
_SPELT = (
    rf"(?:{'|'.join(('twenty', *_TENS))})[\s-](?:{'|'.join((*_ONES[1:10], *_ORDINALS[1:10]))})"
    rf"|{'|'.join(sorted(_WORDS, key=len, reverse=True))}"
    rf"|{'|'.join(word for word in _NEED_NOT_COUNT if len(word) > 2)}|an?(?=\s(?:{_SCALE})\b)"
)
_NUMBER = re.compile(
    rf"(?:(?<![\w.,])(?P<sign>[-−](?=[\d$€£])|minus\s))?(?P<money>[$€£]\s?)?(?<!\w)"
    rf"(?:(?P<figures>{_FIGURES})(?P<suffix>[^\W\d_]+)?|(?P<words>{_SPELT})\b)",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(rf"[\s-]{{0,2}}(?P<scale>{_SCALE})s?\b", re.IGNORECASE)
_UNIT = re.compile(r"[\s-]{0,2}(per ?cent\b|%|°[cCfF]?|\$|€|£|[A-Za-z]+)")
SHORT_MONTHS = tuple(name[:3] for name in MONTHS)
_MONTH = "|".join(name.capitalize() for name in SHORT_MONTHS)
_MONTH_BEFORE = re.compile(rf"\b({_MONTH})[a-z]*\.?\s\Z")
_MONTH_AFTER = re.compile(rf"\s(?:of\s)?({_MONTH})[a-z]*\b")
_ISO_MONTH_BEFORE = re.compile(r"\b\d{4}-(0[1-9]|1[0-2])-\Z")
_RANGE = re.compile(r"\s*(?:to|or|and|-|–|—)\s*\Z")
_MOST_DIGITS = 24  # above it a number is compared as text
_DECIMAL = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
_DAY_ENDS = frozenset(("st", "nd", "rd", "th"))
_ORDINAL_ENDS = _DAY_ENDS | {"s"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, with its possible values and its unit."""

    values: frozenset[str]
    unit: str | None
    scale: int  # 1, or what a word after it multiplies it by
    start: int
    end: int
    vague: bool  # "one", "first", "both": words that need not be meant as numbers


def numbers(text: str) -> list[Number]:
    """Return the numbers of a text in order; a number within a name, as in ESP32, is not one."""
    found = list(_read_numbers(text))
    for place in range(len(found) - 2, -1, -1):
        here, after = found[place], found[place + 1]
        if _RANGE.fullmatch(text[here.end : after.start]):
            found[place] = _in_range(here, after)
            found[place + 1] = _complete_range(here, after)
    return found


def counts(word: str) -> str | None:
    """Return the unit or scale of a word; None for other words."""
    word = word.casefold()
    return _UNITS.get(word) or (word if word in _SCALES and len(word) > 1 else None)


def _read_numbers(text: str) -> Iterator[Number]:
    at = 0
    while match := _NUMBER.search(text, at):
        suffix = (match["suffix"] or "").lower()
        scale, at = _scale(text, match, suffix)
        if suffix and not (suffix in _ORDINAL_ENDS or suffix in _SCALES or suffix in _UNITS):
            continue
        values = {_times(value, scale) for value in _values(match, scale)}
        if match["sign"]:
            values = {f"-{value}" for value in values}
        unit = _unit(text, match, suffix, at)
        vague = scale == 1 and (match["words"] or "").lower() in _NEED_NOT_COUNT
        yield Number(frozenset(values), unit, scale, match.start(), at, vague)


def _scale(text: str, match: re.Match[str], suffix: str) -> tuple[int, int]:
    if suffix in _SCALES and (match["money"] or suffix not in _UNITS):
        return _SCALES[suffix], match.end()
    scale, end = 1, match.end()
    while not suffix and (following := _FOLLOWING.match(text, end)):
        scale *= _SCALES[following["scale"].lower()]
        end = following.end()
    return scale, end


def _unit(text: str, match: re.Match[str], suffix: str, end: int) -> str | None:
    if match["money"]:
        return _UNITS[match["money"].strip()]
    if suffix and suffix not in _DAY_ENDS:
        return _UNITS.get(suffix) if suffix != "s" else None  # "1990s" are no seconds
    if month := _month(text, match, end):
        return month
    following = _UNIT.match(text, end)
    return _UNITS.get(re.sub("per ?cent", "percent", following[1].lower())) if following else None


def _month(text: str, match: re.Match[str], end: int) -> str | None:
    """Return the month of a number that is a day."""
    if not re.fullmatch(r"0?[1-9]|[12]\d|3[01]", match["figures"] or ""):
        return None
    before = text[max(0, match.start() - 12) : match.start()]
    if iso := _ISO_MONTH_BEFORE.search(before):
        return SHORT_MONTHS[int(iso[1]) - 1]
    named = _MONTH_BEFORE.search(before) or _MONTH_AFTER.match(text, end)
    return named[1].lower() if named else None


def _values(match: re.Match[str], scale: int) -> set[str]:
    if match["words"]:
        parts = re.split(r"[\s-]+", match["words"].lower())
        return {str(sum(_WORDS.get(part) or _NEED_NOT_COUNT.get(part, 0) for part in parts))}
    figures = re.sub(r"[,\u00a0\u202f]", "", match["figures"])
    if ":" in figures or figures.count(".") > 1 or len(figures) > _MOST_DIGITS:
        return {figures}
    values = {_format_plain(Decimal(figures))}
    if scale == 1 and re.fullmatch(r"\d{1,3}\.\d{3}", figures):  # a thousand, in some books
        values.add(_format_plain(Decimal(figures.replace(".", ""))))
    return values


def _times(value: str, scale: int) -> str:
    return (
        _format_plain(Decimal(value) * scale) if scale > 1 and _DECIMAL.fullmatch(value) else value
    )


def _format_plain(value: Decimal) -> str:
    return format(value.normalize(), "f")


def _in_range(number: Number, following: Number) -> Number:
    """Give a number the unit and scale of the next one: 15 to 20 million km."""
    scaled = frozenset(_times(value, following.scale) for value in number.values)
    return replace(number, values=number.values | scaled, unit=number.unit or following.unit)


def _complete_range(number: Number, following: Number) -> Number:
    """Complete the second of two years or days: 2018-19, May 3 to 5."""
    years = [value for value in number.values if re.fullmatch(r"[12]\d{3}", value)]
    short = [value for value in following.values if re.fullmatch(r"\d\d", value)]
    whole = frozenset(year[:2] + end for year in years for end in short)
    unit = following.unit or (number.unit if number.unit in SHORT_MONTHS else None)
    return replace(following, values=following.values | whole, unit=unit)
