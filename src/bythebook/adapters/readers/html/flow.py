"""Text as it flows down a page: runs become lines, lines become blocks."""

import re
from dataclasses import dataclass, field
from typing import Literal

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.visible import without_invisible
from bythebook.adapters.readers.plain_text import PlainText

FrameKind = Literal["paragraph", "caption", "verse", "heading", "list", "table", "cell"]


@dataclass(slots=True)
class Frame:
    """An element that gathers lines of its own."""

    element: Element
    kind: FrameKind
    lines: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)  # of a table's row so far
    level: int = 0  # of a heading
    anchor: str | None = None  # of a heading
    ordered: bool = False  # of a list
    term: str = ""  # what the next line of a glossary explains


class Flow:
    """What was said since the last block, and where it will stand."""

    def __init__(self, plain: PlainText, root: Element, cuts: frozenset[str] = frozenset()) -> None:
        self.plain = plain
        self.pieces = {"": plain}
        self.cuts = cuts
        self.frames = [Frame(root, "paragraph")]
        self.runs: list[str] = []
        self.has_words = False
        self.has_formula = False
        self.near: str | None = None  # the id that stands right before what comes next

    @property
    def frame(self) -> Frame:
        """The innermost element that gathers lines."""
        return self.frames[-1]

    @property
    def is_line(self) -> bool:
        """Whether no block can stand here: a heading and a cell are lines."""
        return self.frame.kind in {"heading", "cell"}

    def say(self, text: str | None) -> None:
        """Take a run of text, its white space collapsed."""
        if text:
            self.runs.append(re.sub(r"[ \t\n\r\f]+", " ", without_invisible(text)))
            self.has_words = self.has_words or not text.isspace()

    def show(self, words: str) -> None:
        """Take words that stand for a picture."""
        self.runs.append(f" {' '.join(words.split())} ")
        self.near = None

    def formula(self, text: str, inline: str, *, is_block: bool) -> None:
        """Take a formula: a block of its own, or a part of the sentence."""
        if is_block and not self.is_line:
            self.part()
            self.plain.add("formula", text)
        else:
            self.runs.append(inline)
            self.has_formula = True
        self.near = None

    def name(self, anchor: str) -> None:
        """Remember an id; a new text begins here if it is one of the cuts."""
        if anchor in self.cuts and anchor not in self.pieces:
            if not self.has_words and not self.is_line:
                self.end_block()
            self._give_lines()
            self.plain = self.pieces[anchor] = PlainText()
        self.plain.anchors.append(anchor)
        self.near = anchor
        if self.frame.kind == "heading" and self.frame.anchor is None:
            self.frame.anchor = anchor

    def open_frame(self, element: Element, kind: FrameKind, *, level: int = 0) -> None:
        """Begin an element that gathers lines."""
        if kind in {"heading", "table", "caption"}:
            self.part()
        ordered = kind == "list" and element.tag == "ol"
        anchor = self.near if kind == "heading" else None
        self.frames.append(Frame(element, kind, level=level, anchor=anchor, ordered=ordered))

    def close_frame(self) -> None:
        """End it: its lines are a block, or a cell of a row."""
        self.end_block()
        frame = self.frames.pop()
        if frame.kind == "heading":
            self.plain.add_heading(" ".join(frame.lines), frame.level, frame.anchor)
            self.near = None
        elif frame.kind == "cell":
            self.frame.cells.append(" ".join(frame.lines))
        else:
            self._give(frame)

    def end_row(self) -> None:
        """End a row of a table."""
        if any(self.frame.cells):
            self.frame.lines.append(" | ".join(self.frame.cells))
        self.frame.cells = []

    def end_block(self) -> None:
        """Make a line or a block of what was said."""
        text = _lines("".join(self.runs))
        has_words, has_formula = self.has_words, self.has_formula
        self.runs, self.has_words, self.has_formula = [], False, False
        if not text:
            return
        self.near = None
        frame = self.frame
        if frame.kind == "caption" or (frame.kind == "paragraph" and not has_words):
            self._add_caption(text, is_formula=has_formula and not has_words)
        elif frame.kind == "paragraph":
            for paragraph in re.split(r"\n{2,}", text):
                self.plain.add("paragraph", paragraph)
        else:
            line = text if frame.kind == "verse" else text.replace("\n", " ")
            frame.lines.append(f"{frame.term.rstrip(':')}: {line}" if frame.term else line)
            frame.term = ""

    def part(self) -> None:
        """End the lines so far: something follows that is no line of theirs."""
        self.end_block()
        self._give_lines()

    def _give_lines(self) -> None:
        if self.frame.kind in {"list", "verse"}:  # those further out gave theirs before this began
            self._give(self.frame)

    def _give(self, frame: Frame) -> None:
        text = "\n".join(frame.lines)
        frame.lines = []
        if frame.kind == "list":
            self.plain.add("list", text, ordered=frame.ordered)
        else:
            self.plain.add("table" if frame.kind == "table" else "paragraph", text)

    def _add_caption(self, text: str, *, is_formula: bool) -> None:
        if is_formula:
            self.plain.add("formula", text.strip("$") if text.count("$") == 2 else text)
            return
        before = self.plain.parts[-1].strip() if self.plain.parts else ""
        if before == text and self.plain.blocks[-1].kind == "caption":
            self.plain.leave_out("duplicate", text)
        else:
            self.plain.add("caption", text)


def _lines(text: str) -> str:
    """Collapse white space as a browser does, and keep the breaks."""
    return "\n".join(re.sub(" {2,}", " ", line).strip() for line in text.split("\n")).strip()
