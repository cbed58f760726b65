"""Numbers what cross references lead to: chapters, sections, figures, tables and equations."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.mdx import split_code_runs
from bythebook.adapters.readers.quarto.attributes import parse_attributes
from bythebook.adapters.readers.quarto.cells import read_cell

_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t]*(\{[^{}\n]*\})?[ \t]*$")
_LABEL = re.compile(r"\{[^{}\n]*#((?:fig|tbl|eq|lst|thm|lem|cor|prp|def|exm|exr|rem)-[\w-]+)")
_NAMES = {
    "fig": "Figure", "tbl": "Table", "eq": "Equation", "lst": "Listing", "thm": "Theorem",
    "lem": "Lemma", "cor": "Corollary", "prp": "Proposition", "def": "Definition",
    "exm": "Example", "exr": "Exercise", "rem": "Remark",
}  # fmt: skip
_REFERENCE = re.compile(r"@((?:sec|fig|tbl|eq|lst|thm|lem|cor|prp|def|exm|exr|rem)-[\w-]+)", re.I)


@dataclass(frozen=True, slots=True)
class QuartoLabel:
    """Where a label leads, and what is shown for it."""

    words: str
    target: str


@dataclass(slots=True)
class QuartoLabels:
    """Every label of a project."""

    is_book: bool = False  # whose chapters are numbered
    labels: dict[str, QuartoLabel] = field(default_factory=dict)

    def collect(self, files: Sequence[SourceFile]) -> None:
        """Number the chapters in order, and what each of them holds."""
        chapter = 0
        for file in files:
            numbering = _Numbering(self.is_book)
            own = list(_list_labels(file))
            if self.is_book and not _is_unnumbered(file):
                chapter += 1
                numbering.chapter = chapter
            path = file.relative.as_posix()
            for kind, name, title, level in own:
                words = numbering.count(kind, title, level)
                if name:
                    target = f"/{path}" if level == 1 else f"/{path}#{name}"
                    self.labels.setdefault(name, QuartoLabel(words, target))

    def list_used(self, file: SourceFile) -> Iterator[str]:
        """List the labels that a page refers to, with what they show."""
        for name in sorted(set(_REFERENCE.findall(file.body))):
            if label := self.find(name):
                yield f"{name} {label.words} {label.target}"

    def find(self, name: str) -> QuartoLabel | None:
        """Find a label; a capital letter only starts a sentence."""
        return self.labels.get(name) or self.labels.get(name[:1].lower() + name[1:])


@dataclass(slots=True)
class _Numbering:
    """The numbers within one page."""

    is_book: bool
    chapter: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    sections: list[int] = field(default_factory=list)

    def count(self, kind: str, title: str, level: int) -> str:
        if kind != "sec":
            self.counts[kind] += 1
            number = self.counts[kind]
            shown = f"{self.chapter}.{number}" if self.chapter else str(number)
            return f"{_NAMES[kind]} {shown}"
        if level == 1:
            return f"Chapter {self.chapter}" if self.chapter else title
        depth = level - 1
        self.sections = [*self.sections[:depth], *[0] * (depth - len(self.sections))]
        self.sections[-1] += 1
        if not self.chapter:
            return title
        return f"Section {'.'.join(map(str, (self.chapter, *self.sections)))}"


def _is_unnumbered(file: SourceFile) -> bool:
    for line in file.body.split("\n"):
        if found := _HEADING.match(line):
            given = parse_attributes(found.group(3) or "")
            return given.has_class("unnumbered") or (found.group(3) or "") == "{-}"
    return file.relative.stem == "index"


def _list_labels(file: SourceFile) -> Iterator[tuple[str, str, str, int]]:
    """Yield kind, label, title and level of all that is numbered."""
    for is_code, run in split_code_runs(file.body):
        if is_code:
            opening, _, rest = run.partition("\n")
            cell = read_cell(opening.strip().lstrip("`~").strip(), rest)
            label = cell.options.get("label") if cell else None
            if isinstance(label, str) and (kind := label.partition("-")[0]) in _NAMES:
                yield kind, label, "", 0
            continue
        for line in run.split("\n"):
            if found := _HEADING.match(line):
                given = parse_attributes(found.group(3) or "")
                if not given.has_class("unnumbered"):
                    title = re.sub(r"[`*_]", "", found.group(2))
                    yield "sec", given.anchor, title, len(found.group(1))
            for label in _LABEL.findall(line):
                yield label.partition("-")[0], label, "", 0
