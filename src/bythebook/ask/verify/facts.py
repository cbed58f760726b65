"""The numbers, names and identifiers of a sentence, checked against its cited passages."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from bythebook.ask.verify.numbers import SHORT_MONTHS, Number, numbers
from bythebook.domain.text.words import MONTHS

_NAME_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’](?=[^\W\d_])|-(?=[^\W\d_]))*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…]\s|\n|[\"“«])[\s\"'“‘«(\[*_•-]*(?:\d+[.)]\s+)?")
_IDENTIFIER = re.compile(
    r"`[^`\n]+`"
    r"|(?<![\w-])--?[A-Za-z][\w-]*\w"  # options
    r"|(?<![\w/])[~.]{0,2}/[\w.-]+(?:/[\w.-]+)*"  # paths
    r"|\b[\w-]+(?:/[\w.-]+){2,}"
    r"|\b\w+(?:(?:\.|::|->)\w+)+(?:\(\))?"  # dotted names
    r"|\b[A-Za-z_]\w*\(\)"
    r"|\b\w*_\w+|\b_\w+"
    r"|\b[a-z]+[A-Z]\w*|\b(?:[A-Z][a-z]+){2,}\d*\b|\b[A-Z][a-z]+[A-Z]\w*"
    r"|\b(?=\w*\d)(?=\w*[^\W\d_])[^\W_]+\b",
)
_NOT_ONE = re.compile(
    r"[\d.,:]+|(?:[A-Za-z]\.)+[A-Za-z]?|\d+[A-Za-z]{1,3}|-[A-Za-z]+|[^\W\d_]+\.[A-Z][a-z]*"
)
_ENDINGS = "s es n an ian ean ish ese i ic ns ans ians ed er ers ing ly al y a e o".split()
_LEAST_STEM = 4
_MOST_INITIALS = 8
_WITHIN_NAMES = frozenset("of and the for in on de la".split())
OPENERS = frozenset(
    """a after all also although an and as at because before both but by during each every for from
    he her his how however if in into it its many most my no of on one or our several she since so
    some such that the their then there these they this those though to two under unlike until we
    what when where which while who why with within your you former another any are can did do does
    has have is let was were will three""".split()
)
_DEGREES = frozenset(("degree", "celsius", "fahrenheit"))
_ISO_DATE = re.compile(r"\b\d{4}-(\d\d)-\d\d")


class Facts:
    """The facts in passages that a sentence may repeat."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts)
        self._numbers = numbers(self._text)
        self._words = frozenset(
            (*_words(self._text), *_find_months(self._text), *_scales(self._text))
        )
        self._initials = _initials(self._text)
        dotless = re.sub(r"\b([A-Z])\.(?=[A-Z]\b|\s|$|\W)", r"\1", self._text)
        self._acronyms = frozenset(re.findall(r"\b[A-Z]{2,}\b", dotless))

    def find_missing(self, sentence: str) -> list[str]:
        """Return the numbers, names and identifiers of a sentence that are not in the passages."""
        codes = [code for code in identifiers(sentence) if not self._has_code(code)]
        absent = [sentence[n.start : n.end] for n in numbers(sentence) if not self._has_number(n)]
        strange = [name for name in names(sentence) if not self.has_name(name)]
        shortened = self._find_abbreviated(sentence) if strange else frozenset()
        return codes + absent + [name for name in strange if name not in shortened]

    def has_name(self, name: str) -> bool:
        """Return True if a name is in the passages, at most with another ending."""
        plain = _simplify(name)
        if plain in self._words or plain.replace("-", "") in self._words:
            return True
        parts = plain.split("-")
        if len(parts) > 1 and all(part in self._words or self.has_name(part) for part in parts):
            return True
        if name.isupper() and plain in self._initials:
            return True
        stems = {plain, *(plain[: -len(end)] for end in _ENDINGS if plain.endswith(end))}
        return any(
            stem + end in self._words
            for stem in stems
            for end in ("", *_ENDINGS)
            if len(stem) >= _LEAST_STEM
        )

    def _find_abbreviated(self, sentence: str) -> frozenset[str]:
        """Return the names of a sentence whose initials are in the passages: United States as US."""
        return frozenset(
            word
            for run in _runs(sentence)
            for start in range(len(run))
            for end in range(start + 2, min(len(run), start + _MOST_INITIALS) + 1)
            if "".join(name[0] for name in run[start:end]) in self._acronyms
            for word in run[start:end]
        )

    def _has_number(self, number: Number) -> bool:
        if number.vague:
            return True
        alike = [one for one in self._numbers if one.values & number.values]
        units = {one.unit for one in alike}
        if number.unit is None or number.unit in units:
            return bool(alike)
        if number.unit in _DEGREES and units & _DEGREES:
            return not {number.unit, *units} >= {"celsius", "fahrenheit"}
        return None in units and number.unit not in SHORT_MONTHS

    def _has_code(self, code: str) -> bool:
        bare = code.strip("`").strip()
        forms = {bare, bare.removesuffix("()"), re.sub(r"['’]?s$", "", bare)}
        return any(
            re.search(rf"(?<!\w){re.escape(form)}(?!\w)", self._text) for form in forms if form
        )


def identifiers(text: str) -> list[str]:
    """Return the words that look like code: options, paths, dotted and mixed names."""
    found = (match.group().rstrip(".-") for match in _IDENTIFIER.finditer(text))
    return [code for code in found if not _NOT_ONE.fullmatch(code)]


def names(text: str) -> list[str]:
    """Return the capitalised words of a sentence, except one capitalised only as its first word."""
    opening = {match.end() for match in _SENTENCE_START.finditer(text)}
    found = []
    for match in _NAME_WORD.finditer(text):
        word = match.group()
        if not word[0].isupper() or len(word) < 2 or word[:2] in {"I'", "I’"}:
            continue
        if match.start() not in opening or _opens_as_name(text, match):
            found.append(word)
    return found


def _opens_as_name(text: str, match: re.Match[str]) -> bool:
    """Return True if a sentence's first word is a name, by its case, its possessive or the next word."""
    word, following = match.group(), text[match.end() : match.end() + 2]
    if re.search(r"['’]s$", word) or (len(word) > 1 and word[1:] != word[1:].lower()):
        return word.lower() not in {
            "it's",
            "that's",
            "there's",
            "here's",
            "let's",
            "it’s",
            "that’s",
        }
    return (
        len(following) > 1
        and following[0] == " "
        and following[1].isupper()
        and word.lower() not in OPENERS
    )


def _words(text: str) -> Iterator[str]:
    for match in _NAME_WORD.finditer(text):
        plain = _simplify(match.group())
        yield plain
        if "-" in plain:
            yield from plain.split("-")
            yield plain.replace("-", "")
    for dotted in re.findall(r"\b(?:[A-Z]\.){2,}", text):
        yield dotted.replace(".", "").lower()


def _simplify(word: str) -> str:
    """Remove a word's case, accents and possessive."""
    word = re.sub(r"['’]s?$", "", word.replace("’", "'").removesuffix("'s"))
    letters = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _initials(text: str) -> frozenset[str]:
    """Return the acronyms of neighbouring capitalised words: NASA, US."""
    return frozenset(
        "".join(word[0] for word in run[start:end]).lower()
        for run in _runs(text)
        for start in range(len(run))
        for end in range(start + 2, min(len(run), start + _MOST_INITIALS) + 1)
    )


def _runs(text: str) -> Iterator[list[str]]:
    """Yield runs of capitalised words, also across an "of" or "and"."""
    run: list[str] = []
    for word in _NAME_WORD.findall(text):
        if word[0].isupper():
            run.append(word)
        elif word not in _WITHIN_NAMES:
            yield run
            run = []
    yield run


def _scales(text: str) -> Iterator[str]:
    """Yield the temperature scales that are written by their letter."""
    for letter, name in (("C", "celsius"), ("F", "fahrenheit")):
        if re.search(rf"(?:°|\bdegrees?|\bdeg\.?)\s?{letter}\b", text):
            yield name


def _find_months(text: str) -> Iterator[str]:
    """Yield the names of a text's months, also if abbreviated or in an ISO date."""
    for number in _ISO_DATE.findall(text):
        if 1 <= int(number) <= len(MONTHS):
            yield MONTHS[int(number) - 1]
    for short in re.findall(r"\b([A-Z][a-z]{2,3})\b", text):
        yield from (month for month in MONTHS if month.startswith(short.lower()))
