"""Joins the characters of a page into runs of words by their positions."""

import ctypes
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from bythebook.adapters.readers.pdf.extraction import is_right_to_left
from bythebook.adapters.readers.pdf.fonts import read_style

# A run: left, right, baseline and font size in tenths of a point, style, rotated or not, words.
RunRecord = tuple[int, int, int, int, int, int, str]

Space = Literal[0, 1, 2]  # none, inserted by PDFium, or present in the file

MAX_CHARACTERS = 200_000  # per page
MAX_COORDINATE = 20_000.0  # points; a page is at most 14,400 high

_ACCENTS = frozenset("´`¨ˆ˜ˇ˘˚¯¸˙˝")
# Shares of the line height, which is about the font size:
_RUN_GAP = 0.7  # of the font size: a wider gap may be a gutter or separate two cells
_WORD_GAP = 0.2  # a wider gap separates words
_GUESSED_GAP = 0.12  # the minimum for a space that PDFium inserted
_NO_GAP = 0.035  # a space in a narrower gap is invisible
_GAP_THRESHOLDS = (_WORD_GAP, _GUESSED_GAP, _NO_GAP)  # by the kind of space between two letters
_MIN_GAP = -0.6
_SAME_LINE = 0.35
_RAISED = 0.85  # the height of raised characters, as a share of those before them
_NOTE_MARKS = frozenset("0123456789*\u2020\u2021\u00a7")
_NOTE_WORD = 3  # letters before the mark of a footnote; an exponent follows fewer


@dataclass(frozen=True, slots=True)
class PageText:
    """The runs of a page in the order they were drawn."""

    runs: list[RunRecord]
    turn: int  # quarter turns of most of the text
    cut: bool  # whether the page has more text than is read


@dataclass(slots=True)
class _Appearance:
    """How the characters of a text object look."""

    size: float
    style: int
    turn: int


@dataclass(slots=True)
class _Word:
    text: str
    gap: float
    base: float
    appearance: _Appearance
    is_note: bool = False  # the mark of a footnote
    is_glued: bool = False  # to the mark before it


@dataclass(slots=True)
class _Run:
    left: float
    right: float
    low: float
    high: float
    words: list[_Word] = field(default_factory=list)


def read_runs(page: pdfium.FPDF_TEXTPAGE) -> PageText:
    """Read all text of a page."""
    count = pdfium.FPDFText_CountChars(page)
    collector = _RunCollector(page)
    box = pdfium.FS_RECTF()
    unicode_of, box_of = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox
    high_half = 0
    for index in range(min(count, MAX_CHARACTERS)):
        code = unicode_of(page, index)
        if (code <= 32 and code != 2) or code == 0xA0 or 0x2000 <= code <= 0x200A:
            collector.space = max(collector.space, _classify_space(page, index))
            continue
        if 0xD800 <= code < 0xDC00:
            high_half = code
            continue
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((high_half - 0xD800) << 10) + (code - 0xDC00) if high_half else 0
            high_half = 0
        letter = _map_character(code)
        if letter and box_of(page, index, box):
            collector.add(index, letter, box)
    collector.close_run()
    turn = _find_main_turn(collector.runs)
    records = [_make_record(run, turn) for run in collector.runs]
    return PageText([r for r in records if r[-1]], turn, count > MAX_CHARACTERS)


class _RunCollector:
    """Collects characters in order, and joins each to the run before it or starts a new run."""

    def __init__(self, page: pdfium.FPDF_TEXTPAGE) -> None:
        self.runs: list[_Run] = []
        self.space: Space = 0
        self._page = page
        self._run: _Run | None = None
        self._word: list[str] = []
        self._turn = 0
        self._left = 0.0
        self._size = 10.0
        self._after_accent = False
        self._note_low = 0.0  # where the mark of a footnote stands
        self._appearances: dict[int, _Appearance] = {}
        self._matrix = pdfium.FS_MATRIX()
        self._origin = (ctypes.c_double(), ctypes.c_double())

    def add(self, index: int, letter: str, box: pdfium.FS_RECTF) -> None:
        """Add the next character."""
        left, right, low, high = box.left, box.right, box.bottom, box.top
        if not self._turn and not self.space and self._extend_run(letter, left, right, low, high):
            return
        if not all(abs(edge) < MAX_COORDINATE for edge in (left, right, low, high)):
            return
        if self._turn:
            left, right, low, high = _rotate(self._turn, left, right, low, high)
        if not self._join(index, letter, (left, right, low, max(high, low + 1.0))):
            self.close_run()
            self._open_run(index, letter, box)

    def _extend_run(self, letter: str, left: float, right: float, low: float, high: float) -> bool:
        """Add a letter directly after the previous one, the most common case, without further checks."""
        run = self._run
        if run is None or low != run.low or high != run.high or letter in _ACCENTS:
            return False
        if not -0.5 < left - run.right < 0.5 or right < run.right or self._after_accent:
            return False
        self._word.append(letter)
        run.right = right
        self._left = left
        return True

    def _join(self, index: int, letter: str, box: tuple[float, float, float, float]) -> bool:
        """Add a character to the current run if it belongs there."""
        left, right, low, high = box
        run = self._run
        if run is None or not self._word:
            return False
        height = high - low
        if letter in _ACCENTS and run.left < right and left < run.right + height:
            self._add_accent(index, letter, left, height)
            return True
        gap = left - run.right
        overlap = min(high, run.high) - max(low, run.low)
        if left == self._left and overlap > 0:  # part of a ligature
            self._word.append(letter)
            return True
        near = overlap > _SAME_LINE * min(height, run.high - run.low)
        if is_right_to_left(letter) or is_right_to_left(run.words[-1].text or self._word[0]):
            return near and self._join_leftwards(index, letter, box)
        if near and self._join_note(index, letter, box):
            return True
        if not near or not _MIN_GAP * height < gap < _RUN_GAP * self._size:
            return False
        if gap > _GAP_THRESHOLDS[self.space] * height and not self._after_accent:
            self._close_word()
            self._open_word(index, gap)
        self._after_accent = False
        self._word.append(letter)
        self._left = left
        run.right = max(run.right, right)
        run.low, run.high = low, high
        self.space = 0
        return True

    def _join_leftwards(
        self, index: int, letter: str, box: tuple[float, float, float, float]
    ) -> bool:
        """Add a character to a run that goes from right to left, in the order of reading."""
        left, right, low, high = box
        run = self._run
        if run is None or letter.isdecimal() or (letter.isalpha() and not is_right_to_left(letter)):
            return False
        if not is_right_to_left(self._word[-1]) and not is_right_to_left(letter):
            return False
        gap = run.left - right
        height = high - low
        if not _MIN_GAP * height < gap < _RUN_GAP * self._size:
            return False
        if gap > _GAP_THRESHOLDS[self.space] * height:
            self._close_word()
            self._open_word(index, gap)
        self._word.append(letter)
        self._left = left
        run.left = min(run.left, left)
        run.low, run.high = low, high
        self.space = 0
        return True

    def _join_note(self, index: int, letter: str, box: tuple[float, float, float, float]) -> bool:
        """Add the mark of a footnote, or what follows it; other raised text stays as it is."""
        left, right, low, high = box
        run = self._run
        if run is None:
            return False
        word = run.words[-1]
        is_raised = high - low < _RAISED * (run.high - run.low) and low > run.low
        if word.is_note:
            if letter in _NOTE_MARKS and low == self._note_low:
                self._word.append(letter)
            else:
                is_apart = left - run.right > _GAP_THRESHOLDS[self.space] * (high - low)
                self._close_word()
                self._open_word(index, left - run.right)
                run.words[-1].is_glued = not is_apart
                self._word.append(letter)
                run.low, run.high = low, high
        elif is_raised and letter in _NOTE_MARKS and not self.space and _ends_word(self._word):
            self._close_word()
            self._open_word(index, 0.0)
            run.words[-1].is_note = True
            self._note_low = low
            self._word.append(letter)
        else:
            return False
        self._left = left
        run.right = max(run.right, right)
        self.space = 0
        return True

    def _add_accent(self, index: int, letter: str, left: float, height: float) -> None:
        """Add an accent that is drawn separately from its letter and takes no space."""
        run = self._run
        gap = left - run.right if run else 0.0
        if self.space and gap > _GUESSED_GAP * height:
            self._close_word()
            self._open_word(index, gap)
        self._word.append(letter)
        self._after_accent = True

    def close_run(self) -> None:
        """End a run."""
        self._close_word()
        if self._run is not None and self._run.words:
            self.runs.append(self._run)
        self._run = None

    def _open_run(self, index: int, letter: str, box: pdfium.FS_RECTF) -> None:
        appearance = self._get_appearance(index)
        self._turn = appearance.turn
        left, right, low, high = _rotate(appearance.turn, box.left, box.right, box.bottom, box.top)
        self._run = _Run(left, right, low, max(high, low + 1.0))
        self._left = left
        self._after_accent = letter in _ACCENTS
        self._open_word(index, 0.0)
        self._word.append(letter)
        self.space = 0

    def _open_word(self, index: int, gap: float) -> None:
        appearance = self._get_appearance(index)
        self._size = appearance.size
        across, up = self._origin
        pdfium.FPDFText_GetCharOrigin(self._page, index, across, up)
        x, y = across.value, up.value
        base = (y, -x, -y, x)[self._turn]
        if self._run is not None:
            self._run.words.append(_Word("", gap, base, appearance))

    def _close_word(self) -> None:
        if self._run is not None and self._run.words:
            self._run.words[-1].text = "".join(self._word)
        self._word = []

    def _get_appearance(self, index: int) -> _Appearance:
        thing = pdfium.FPDFText_GetTextObject(self._page, index)
        address = ctypes.addressof(thing.contents) if thing else 0
        known = self._appearances.get(address)
        if known is None:
            known = self._appearances[address] = self._read_appearance(index, thing)
        return known

    def _read_appearance(self, index: int, thing: pdfium.FPDF_PAGEOBJECT) -> _Appearance:
        matrix = self._matrix
        size = pdfium.FPDFText_GetFontSize(self._page, index)
        turn = 0
        if pdfium.FPDFText_GetMatrix(self._page, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
            turn = round(math.atan2(matrix.b, matrix.a) / (math.pi / 2)) % 4
        size = size if 0.5 < size < 2_000 else 10.0
        return _Appearance(size, read_style(thing), turn)


def _classify_space(page: pdfium.FPDF_TEXTPAGE, index: int) -> Space:
    return 1 if pdfium.FPDFText_IsGenerated(page, index) == 1 else 2


def _rotate(
    turn: int, left: float, right: float, low: float, high: float
) -> tuple[float, float, float, float]:
    """Rotate a box so that its text runs from left to right."""
    match turn:
        case 1:
            return low, high, -right, -left
        case 2:
            return -right, -left, -high, -low
        case 3:
            return -high, -low, left, right
        case _:
            return left, right, low, high


@cache
def _map_character(code: int) -> str:
    """Return the character to show; empty for characters without a shape."""
    if code in (2, 0xFFFE):  # how PDFium marks a hyphen at the end of a line
        return "-"
    if code in (0xF0B7, 0xF0A7, 0xF0A8, 0xF076, 0xF0D8):  # bullets of Symbol and Wingdings
        return "•"
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xF900 or code >= 0xF0000:
        return ""
    if code in (0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xFFFF):
        return ""
    return chr(code)


def _find_main_turn(runs: list[_Run]) -> int:
    counts = Counter[int]()
    for run in runs:
        counts[run.words[0].appearance.turn] += sum(len(word.text) for word in run.words)
    return max(counts, key=counts.__getitem__) if counts else 0


def _make_record(run: _Run, turn: int) -> RunRecord:
    weights = Counter[tuple[float, int]]()
    for word in run.words:
        weights[round(word.appearance.size, 1), word.appearance.style] += len(word.text)
    size, style = max(weights, key=weights.__getitem__)
    base = next(word.base for word in run.words if round(word.appearance.size, 1) == size)
    return (
        round(run.left * 10), round(run.right * 10), round(base * 10), round(size * 10), style,
        int(run.words[0].appearance.turn != turn), _join_words(run.words),
    )  # fmt: skip


def _join_words(words: list[_Word]) -> str:
    """Join words with spaces; letters spaced out to fill a line are one word."""
    single = sum(len(word.text) == 1 and word.text.isalpha() for word in words)
    threshold = 0.0
    if len(words) >= 5 and single >= 0.8 * len(words):
        gaps = sorted(word.gap for word in words[1:])
        threshold = 1.5 * gaps[len(gaps) // 2]
        if gaps[-1] < threshold and gaps[0] < 0.12 * words[0].appearance.size:
            threshold = 0.0
    rest = (_join_word(word, threshold) for word in words[1:])
    return "".join((words[0].text, *rest)).strip()


def _join_word(word: _Word, threshold: float) -> str:
    if word.is_note:
        return f"[{word.text}]"
    return word.text if word.gap < threshold or word.is_glued else f" {word.text}"


def _ends_word(letters: list[str]) -> bool:
    """Return True after a word or the end of a sentence: what is raised there is no exponent."""
    text = "".join(letters)
    words = text.rstrip(".,;:!?)\"'\u2019\u201d")
    return len(words) >= _NOTE_WORD and words[-_NOTE_WORD:].isalpha()
