"""The data extracted from a PDF, as the rest of the reader uses it."""

import json
import unicodedata
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_ENTRIES = 20_000  # of an outline
_WIDTH = 600.0  # points; any number would do to mirror a page
_BRACKETS = str.maketrans("()[]{}", ")(][}{")
_BOLD = 1
_MONOSPACED = 2


class Run(NamedTuple):
    """Words on one baseline with no wide gap between them; measures in points."""

    left: float
    right: float
    base: float
    size: float
    bold: bool
    monospaced: bool
    turned: bool  # rotated relative to the page's other text
    text: str


class Rule(NamedTuple):
    """A thin straight line; measures in points."""

    left: float
    right: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry of the book's outline, and its target."""

    level: int  # counted from 0
    title: str
    page: int  # counted from 0
    height: float


@dataclass(frozen=True, slots=True)
class ExtractedPage:
    """A page as printed by the extracting process, parsed when needed to save memory."""

    number: int  # counted from 0
    label: str
    printed: bytes
    picture: bool = False  # hardly any text, but an image: probably a scan

    def runs(self) -> list[Run]:
        """Return the runs in the order they were drawn; a page read from the right is mirrored."""
        runs = [_run(record) for record in json.loads(self.printed)["runs"]]
        return [_mirror(run) for run in runs] if self._is_read_from_right else runs

    @property
    def _is_read_from_right(self) -> bool:
        if self.printed.isascii() and b"\\u05" not in self.printed and b"\\u06" not in self.printed:
            return False
        texts = [record[-1] for record in json.loads(self.printed)["runs"]]
        letters = [letter for text in texts for letter in text if letter.isalpha()]
        return 2 * sum(map(is_right_to_left, letters)) > len(letters)

    @property
    def is_scan(self) -> bool:
        """Whether it contains an image and no text."""
        return self.picture and b'"runs":[]' in self.printed

    def rules(self) -> list[Rule]:
        """Return the lines that may be borders of cells."""
        records = json.loads(self.printed)["rules"]
        rules = [Rule(*(measure / 10 for measure in record)) for record in records]
        if not self._is_read_from_right:
            return rules
        return [rule._replace(left=_WIDTH - rule.right, right=_WIDTH - rule.left) for rule in rules]


@dataclass(slots=True)
class Extraction:
    """Everything extracted from a book."""

    title: str = ""
    claimed: int = 0  # pages that the file says it has
    pages: list[ExtractedPage] = field(default_factory=list)
    outline: list[OutlineEntry] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)  # numbers of pages, counted from 0
    bombs: list[int] = field(default_factory=list)  # pages that unpack beyond all measure
    cut: list[int] = field(default_factory=list)  # pages with more text than is read of one
    unread: int = 0  # pages at the end that there was no time for
    characters: int = 0
    runs: int = 0


def is_right_to_left(text: str) -> bool:
    """Return True for text that starts with a letter of a script that is written to the left."""
    return text[:1] >= "\u0590" and unicodedata.bidirectional(text[0]) in {"R", "AL"}


def _mirror(run: Run) -> Run:
    """Mirror a run, so that reading order is from left to right; its brackets are drawn mirrored."""
    letters = [letter for letter in run.text if letter.isalpha()]
    is_foreign = bool(letters) and not any(map(is_right_to_left, letters))
    text = run.text if is_foreign else run.text.translate(_BRACKETS)
    return run._replace(left=_WIDTH - run.right, right=_WIDTH - run.left, text=text)


def _run(record: tuple[int, int, int, int, int, int, str]) -> Run:
    left, right, base, size, style, turned, text = record
    return Run(
        left / 10, right / 10, base / 10, size / 10,
        bool(style & _BOLD), bool(style & _MONOSPACED), bool(turned), text,
    )  # fmt: skip
