"""Collects text in page order: runs become lines, lines become blocks."""

import re
from dataclasses import dataclass, field
from typing import Literal

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.visible import remove_invisible
from bythebook.adapters.readers.plain_text import PlainText

ContainerKind = Literal["paragraph", "caption", "verse", "heading", "list", "table", "cell"]


@dataclass(slots=True)
class TextContainer:
    """An element that collects its own lines."""

    element: Element
    kind: ContainerKind
    lines: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)  # of the current table row
    level: int = 0  # of a heading
    anchor: str | None = None  # of a heading
    ordered: bool = False  # of a list
    term: str = ""  # the term that the next glossary line explains


class Flow:
    """The text since the last block, and the container that it belongs to."""

    def __init__(self, plain: PlainText, root: Element, cuts: frozenset[str] = frozenset()) -> None:
        self.plain = plain
        self.texts = {"": plain}
        self.cuts = cuts
        self.containers = [TextContainer(root, "paragraph")]
        self.runs: list[str] = []
        self.has_words = False
        self.has_formula = False
        self.pending_anchor: str | None = None  # the id directly before the next text

    @property
    def container(self) -> TextContainer:
        """The innermost element that collects lines."""
        return self.containers[-1]

    @property
    def is_line(self) -> bool:
        """Whether no block can start here: headings and cells are single lines."""
        return self.container.kind in {"heading", "cell"}

    def add_text(self, text: str | None) -> None:
        """Add a run of text with its white space collapsed."""
        if text:
            self.runs.append(re.sub(r"[ \t\n\r\f]+", " ", remove_invisible(text)))
            self.has_words = self.has_words or not text.isspace()

    def add_image_text(self, words: str) -> None:
        """Add the text that describes an image."""
        self.runs.append(f" {' '.join(words.split())} ")
        self.pending_anchor = None

    def add_formula(self, text: str, inline: str, *, is_block: bool) -> None:
        """Add a formula, as a separate block or inside the sentence."""
        if is_block and not self.is_line:
            self.end_lines()
            self.plain.add("formula", text)
        else:
            self.runs.append(inline)
            self.has_formula = True
        self.pending_anchor = None

    def add_anchor(self, anchor: str) -> None:
        """Record an id; start a new text here if the id is one of the cuts."""
        if anchor in self.cuts and anchor not in self.texts:
            if not self.has_words and not self.is_line:
                self.end_block()
            self._flush_lines()
            self.plain = self.texts[anchor] = PlainText()
        self.plain.anchors.append(anchor)
        self.pending_anchor = anchor
        if self.container.kind == "heading" and self.container.anchor is None:
            self.container.anchor = anchor

    def open_container(self, element: Element, kind: ContainerKind, *, level: int = 0) -> None:
        """Open an element that collects lines."""
        if kind in {"heading", "table", "caption"}:
            self.end_lines()
        ordered = kind == "list" and element.tag == "ol"
        anchor = self.pending_anchor if kind == "heading" else None
        self.containers.append(
            TextContainer(element, kind, level=level, anchor=anchor, ordered=ordered)
        )

    def close_container(self) -> None:
        """Close the innermost element: its lines become a block, or a cell of a row."""
        self.end_block()
        container = self.containers.pop()
        if container.kind == "heading":
            self.plain.add_heading(" ".join(container.lines), container.level, container.anchor)
            self.pending_anchor = None
        elif container.kind == "cell":
            self.container.cells.append(" ".join(container.lines))
        else:
            self._flush(container)

    def end_row(self) -> None:
        """End a row of a table."""
        if any(self.container.cells):
            self.container.lines.append(" | ".join(self.container.cells))
        self.container.cells = []

    def end_block(self) -> None:
        """Turn the collected runs into a line or a block."""
        text = _collapse_spaces("".join(self.runs))
        has_words, has_formula = self.has_words, self.has_formula
        self.runs, self.has_words, self.has_formula = [], False, False
        if not text:
            return
        self.pending_anchor = None
        container = self.container
        if container.kind == "caption" or (container.kind == "paragraph" and not has_words):
            self._add_caption(text, is_formula=has_formula and not has_words)
        elif container.kind == "paragraph":
            for paragraph in re.split(r"\n{2,}", text):
                self.plain.add("paragraph", paragraph)
        else:
            line = text if container.kind == "verse" else text.replace("\n", " ")
            container.lines.append(
                f"{container.term.rstrip(':')}: {line}" if container.term else line
            )
            container.term = ""

    def end_lines(self) -> None:
        """End the collected lines: what follows does not belong to them."""
        self.end_block()
        self._flush_lines()

    def _flush_lines(self) -> None:
        # Outer containers were flushed before this one was opened.
        if self.container.kind in {"list", "verse"}:
            self._flush(self.container)

    def _flush(self, container: TextContainer) -> None:
        text = "\n".join(container.lines)
        container.lines = []
        if container.kind == "list":
            self.plain.add("list", text, ordered=container.ordered)
        else:
            self.plain.add("table" if container.kind == "table" else "paragraph", text)

    def _add_caption(self, text: str, *, is_formula: bool) -> None:
        if is_formula:
            self.plain.add("formula", text.strip("$") if text.count("$") == 2 else text)
            return
        before = self.plain.parts[-1].strip() if self.plain.parts else ""
        if before == text and self.plain.blocks[-1].kind == "caption":
            self.plain.leave_out("duplicate", text)
        else:
            self.plain.add("caption", text)


def _collapse_spaces(text: str) -> str:
    """Collapse white space as a browser does, but keep line breaks."""
    return "\n".join(re.sub(" {2,}", " ", line).strip() for line in text.split("\n")).strip()
