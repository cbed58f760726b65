"""Collects text in page order: runs become lines, lines become blocks."""

import re
from dataclasses import dataclass, field
from typing import Literal

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.visible import remove_invisible
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichBuilder, RichText, join_rich
from bythebook.domain.marks import Alignment, Cell, Formula, Item, Mark, Picture

ContainerKind = Literal["paragraph", "caption", "verse", "heading", "list", "table", "cell"]


@dataclass(slots=True)
class TextContainer:
    """An element that collects its own lines."""

    element: Element
    kind: ContainerKind
    lines: list[RichText] = field(default_factory=list)
    cells: list[RichText] = field(default_factory=list)  # of the current table row
    level: int = 0  # of a heading
    anchor: str | None = None  # of a heading
    ordered: bool = False  # of a list
    term: RichText = field(
        default_factory=lambda: RichText("")
    )  # the term that the next glossary line explains


class Flow:
    """The text since the last block, and the container that it belongs to."""

    def __init__(self, plain: PlainText, root: Element, cuts: frozenset[str] = frozenset()) -> None:
        self.plain = plain
        self.texts = {"": plain}
        self.cuts = cuts
        self.containers = [TextContainer(root, "paragraph")]
        self.runs = RichBuilder()
        self.open_marks: list[tuple[Element, Mark, int]] = []  # with where each begins in the runs
        self.next_item: Item | None = None  # which the next line of a list begins
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
            self.runs.add(re.sub(r"[ \t\n\r\f]+", " ", remove_invisible(text)))
            self.has_words = self.has_words or not text.isspace()

    def add_image_text(self, words: str, picture: Picture | None = None) -> None:
        """Add the text that describes an image, marked by the picture."""
        self.runs.add(" ")
        self.runs.add(" ".join(words.split()), picture)
        self.runs.add(" ")
        self.pending_anchor = None

    def add_formula(self, text: str, inline: str, mathml: str, *, is_block: bool) -> None:
        """Add a formula, as a separate block or inside the sentence."""
        mark = Formula(0, 0, mathml, display=is_block)
        if is_block and not self.is_line:
            self.end_lines()
            self.plain.add("formula", RichText(text).strip().mark(mark))
        else:
            self.runs.add(inline, mark)
            self.has_formula = True
        self.pending_anchor = None

    def open_mark(self, element: Element, mark: Mark) -> None:
        """Begin a mark over the words of an element."""
        self.open_marks.append((element, mark, self.runs.length))

    def close_mark(self, element: Element) -> None:
        """End the mark of an element, if it has one."""
        if self.open_marks and self.open_marks[-1][0] is element:
            _, mark, start = self.open_marks.pop()
            if start < self.runs.length:
                self.runs.marks.append(mark.move(start, self.runs.length))

    def add_anchor(self, anchor: str) -> None:
        """Record an id; start a new text here if the id is one of the cuts."""
        if anchor in self.cuts and anchor not in self.texts:
            if not self.has_words and not self.is_line:
                self.end_block()
            self._flush_lines()
            self.plain = self.texts[anchor] = PlainText()
        self.plain.add_anchor(anchor)
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
            title = join_rich(" ", container.lines)
            self.plain.add_heading(title, container.level, container.anchor)
            self.pending_anchor = None
        elif container.kind == "cell":
            cell = Cell(0, 0, container.element.tag == "th", _find_alignment(container.element))
            self.container.cells.append(join_rich(" ", container.lines).mark(cell))
        else:
            self._flush(container)

    def end_row(self) -> None:
        """End a row of a table."""
        if any(cell.text for cell in self.container.cells):
            self.container.lines.append(join_rich(" | ", self.container.cells))
        self.container.cells = []

    def end_block(self) -> None:
        """Turn the collected runs into a line or a block."""
        text = _collapse_spaces(self._take_runs())
        has_words, has_formula = self.has_words, self.has_formula
        self.has_words, self.has_formula = False, False
        if not text.text:
            self.plain.add("caption", text)  # pictures without words
            return
        self.pending_anchor = None
        container = self.container
        if container.kind == "caption" or (container.kind == "paragraph" and not has_words):
            self._add_caption(text, is_formula=has_formula and not has_words)
        elif container.kind == "paragraph":
            for paragraph in _split(text, _BLANK_LINES):
                self.plain.add("paragraph", paragraph)
        else:
            self._add_line(container, text)

    def _take_runs(self) -> RichText:
        """Take the collected runs; marks that are still open go on in the next ones."""
        runs, self.runs = self.runs, RichBuilder()
        for _, mark, start in self.open_marks:
            if start < runs.length:
                runs.marks.append(mark.move(start, runs.length))
        self.open_marks = [(element, mark, 0) for element, mark, _ in self.open_marks]
        return runs.finish()

    def _add_line(self, container: TextContainer, text: RichText) -> None:
        line = text if container.kind == "verse" else text.edit(_LINE_END, " ")
        if container.term.text:
            line = join_rich(": ", (container.term.edit(_LAST_COLONS, ""), line))
            container.term = RichText("")
        elif container.kind == "list" and self.next_item is not None:
            line, self.next_item = line.mark(self.next_item), None
        container.lines.append(line)

    def end_lines(self) -> None:
        """End the collected lines: what follows does not belong to them."""
        self.end_block()
        self._flush_lines()

    def _flush_lines(self) -> None:
        # Outer containers were flushed before this one was opened.
        if self.container.kind in {"list", "verse"}:
            self._flush(self.container)

    def _flush(self, container: TextContainer) -> None:
        text = join_rich("\n", container.lines)
        container.lines = []
        if container.kind == "list":
            self.plain.add("list", text, ordered=container.ordered)
        else:
            self.plain.add("table" if container.kind == "table" else "paragraph", text)

    def _add_caption(self, text: RichText, *, is_formula: bool) -> None:
        if is_formula:
            self.plain.add("formula", text.strip("$") if text.text.count("$") == 2 else text)
            return
        before = self.plain.parts[-1].strip() if self.plain.parts else ""
        if before == text.text and self.plain.blocks[-1].kind == "caption":
            self.plain.leave_out("duplicate", text.text)
        else:
            self.plain.add("caption", text)


_BLANK_LINES = re.compile(r"\n{2,}")
_LINE_END = re.compile(r"\n")
_LAST_COLONS = re.compile(r":+\Z")
_SPACES = re.compile(" {2,}")
_MAX_STEPS = 1_000_000  # lines times marks in one run of text; beyond, it stays plain


def _collapse_spaces(rich: RichText) -> RichText:
    """Collapse white space as a browser does, but keep line breaks."""
    text = rich.text
    if not rich.marks or text.count("\n") * len(rich.marks) > _MAX_STEPS:
        lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
        return RichText("\n".join(lines).strip())
    if "\n" not in text:
        return rich.edit(_SPACES, " ").strip()
    parts = (line.edit(_SPACES, " ").strip() for line in _split(rich, _LINE_END))
    return join_rich("\n", parts).strip()


def _split(rich: RichText, at: re.Pattern[str]) -> list[RichText]:
    """Split a text with its marks."""
    if not rich.marks:
        return [RichText(part) for part in at.split(rich.text)]
    places = [(0, 0), *(found.span() for found in at.finditer(rich.text))]
    ends = [*(start for start, _ in places[1:]), len(rich.text)]
    return [rich.cut(start, end) for (_, start), end in zip(places, ends, strict=True)]


def _find_alignment(cell: Element) -> Alignment:
    given = f"{cell.get('align') or ''} {cell.get('style') or ''} {cell.get('class') or ''}".lower()
    found = _ALIGNMENT.search(given)
    return _ALIGNMENTS.get(found.group(1), "") if found else ""


_ALIGNMENT = re.compile(r"(?:^|text-align:|text-|align-)\s*(left|center|right)\b")
_ALIGNMENTS: dict[str, Alignment] = {"left": "left", "center": "center", "right": "right"}
