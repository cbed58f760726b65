"""Reads an answer as it arrives: lines that end in the numbers of the sentences they rest on."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_LINES = 60  # of an answer; more is a model that does not come to an end
MOST_REPEATED = 3  # times the same line; more is a model that has lost itself
MOST_CITED = 6  # numbers of a line that count
_RUNAWAY = 40  # numbers at the end of a line: more is a model that only counts on
_LONGEST = 2000  # characters of a line that are kept
_THINKING, _THOUGHT = "<think>", "</think>"

_WORD = r"(?:sentences?|lines?|numbers?|nos?\.?)?[\s:#]*"
_LIST = r"\d{1,4}(?:[\s,;&–-]+(?:(?:and|to)\s+)?\d{1,4})*"
_SQUARE = rf"[\[【]\s*{_WORD}{_LIST}\s*[\]】]"
# Not an index as in `a[0]`, unless a sentence ends there.
_CITED = re.compile(
    rf"(?:(?<!\w)|(?={_SQUARE}\s*(?:\Z|[.!?…,;\[【])))"
    rf"(?P<groups>\s*{_SQUARE}(?:[\s,;&]*(?:and\s*)?{_SQUARE})*)(?P<stop>\s*[.!?…]*)",
    re.IGNORECASE,
)
_AT_END = re.compile(
    rf"\s*\(\s*{_WORD}({_LIST})\s*\)[\s.]*\Z|(?<=[.!?…:])\s+{_WORD}({_LIST})[\s.]*\Z", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:sentences?|lines?|numbers?|nos?|answers?|and|to)\b", re.IGNORECASE)
_RANGE_OR_NUMBER = re.compile(r"(\d+)\s*(?:[–-]|to)\s*(\d+)|(\d+)")
_MARK = re.compile(r"(?:[-*•–>#]+|\d{1,2}[.)])\s+")
_NOTHING = re.compile(r"\W*(?:none)?\W*", re.IGNORECASE)
_STOPS = ".!?…"
_TAIL = "0123456789[]()【】,;&–- \t"


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """What a model wrote, and the numbers of the sentences it rests on; without text, they stand alone."""

    text: str
    numbers: tuple[int, ...]


class LineReader:
    """Reads plain lines piece by piece; reasoning before them is ignored."""

    def __init__(self) -> None:
        self.is_runaway = False  # True: the rest of the answer is not worth reading
        self._lines: Counter[WrittenLine] = Counter()
        self._open = ""  # the line that is being written, as much of it as is kept
        self._begun = False  # False: reasoning may come first, or goes on

    def feed(self, piece: str) -> list[WrittenLine]:
        """Add a piece, and return what the lines that it completes say."""
        self._open += piece
        self._begun = self._begun or self._begins()
        if not self._begun:
            return []
        *complete, rest = self._open.split("\n")
        self._open = rest[:_LONGEST]
        self.is_runaway |= _counts_on(self._open)
        return [line for one in complete for line in self._take(one[:_LONGEST])]

    def finish(self) -> list[WrittenLine]:
        """End the answer, and return what its last line says."""
        return list(self._take(self._open)) if self._begun else []

    def _begins(self) -> bool:
        """Return True once the answer itself has begun, which stands after any reasoning."""
        text = self._open.lstrip()
        if text.startswith(_THINKING):
            _, ended, after = text.partition(_THOUGHT)
            self._open = after if ended else _THINKING + text[-len(_THOUGHT) :]
            return bool(ended)
        return not _THINKING.startswith(text)

    def _take(self, line: str) -> Iterator[WrittenLine]:
        for written in read_line(line):
            self._lines[written] += 1
            self.is_runaway |= self._lines[written] > MOST_REPEATED
            self.is_runaway |= self._lines.total() > MOST_LINES or _counts_on(line)
            if self._lines[written] == 1 and self._lines.total() <= MOST_LINES:
                yield written


def read_line(line: str) -> Iterator[WrittenLine]:
    """Yield the sentences of a line, each with its numbers: `Nodes publish. [3][5]`, `(3)`, `3, 5`."""
    line = line.strip().strip("`")
    if _NOTHING.fullmatch(line):
        return
    cited = "".join(found["groups"] for found in _CITED.finditer(line))
    if not any(letter.isalpha() for letter in _BETWEEN.sub("", line)):
        if numbers := _expand(cited or line):
            yield WrittenLine("", numbers)
        return
    if not cited:
        line = _AT_END.sub(lambda found: f" [{found[1] or found[2]}]", line)
    yield from _part(_MARK.sub("", line, count=1) if _MARK.match(line) else line)


def _part(line: str) -> Iterator[WrittenLine]:
    """Part a line where a sentence has ended in its numbers; numbers may also come first."""
    words = ""
    first: tuple[int, ...] = ()  # numbers before any word
    numbers: tuple[int, ...] = ()
    at = 0
    for found in _CITED.finditer(line):
        words = f"{words} {line[at : found.start()].strip()}".strip()
        at = found.end()
        if not words:
            first = _expand(found["groups"])
            continue
        numbers += _expand(found["groups"])
        if found["stop"].strip() or words[-1] in _STOPS or at == len(line):
            words += "" if words[-1] in _STOPS else found["stop"].strip()
            yield WrittenLine(words, _limit_citations(numbers))
            words, numbers, first = "", (), ()
    words = f"{words} {line[at:].strip(' :;,')}".strip()
    if any(letter.isalnum() for letter in words):
        yield WrittenLine(words, _limit_citations(numbers or first))


def _expand(group: str) -> tuple[int, ...]:
    """Return the numbers of a group, with those of its ranges."""
    numbers: list[int] = []
    for first, last, alone in _RANGE_OR_NUMBER.findall(group):
        begin, end = int(first or alone), int(last or alone)
        numbers += range(begin, min(end, begin + MOST_CITED) + 1) if end >= begin else [begin, end]
    return _limit_citations(numbers)


def _limit_citations(numbers: Sequence[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))[:MOST_CITED]


def _counts_on(line: str) -> bool:
    """Return True if a line ends in more numbers than an answer can rest on."""
    tail = line[len(line.rstrip(_TAIL)) :]
    return len(re.findall(r"\d+", tail)) > _RUNAWAY
