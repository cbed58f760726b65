"""Rewrites the directives of MyST as Markdown: boxes, figures, formulas, code and tables."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from markdown_it.token import Token

from bythebook.adapters.readers.markdown.kinds.includes import MAX_DEPTH, IncludedFiles
from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.front_matter import split_front_matter
from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter
from bythebook.adapters.readers.markdown.syntax.tokens import (
    demote_headings,
    make_admonition,
    make_anchor_mark,
    make_code,
    make_formula,
    make_image,
    make_list,
    make_paragraph,
    make_table,
    make_text,
)
from bythebook.adapters.readers.myst.citations import Reference
from bythebook.adapters.readers.myst.directive import Directive, parse_directive
from bythebook.adapters.readers.myst.tables import read_list_table

_BOXES = {
    "note": "Note", "tip": "Tip", "hint": "Hint", "warning": "Warning", "caution": "Caution",
    "attention": "Attention", "danger": "Danger", "error": "Error", "important": "Important",
    "seealso": "See also", "todo": "Todo", "solution": "Solution", "exercise": "Exercise",
    "versionadded": "New in version", "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}  # fmt: skip
# Boxes whose title is their argument; without one they have none.
_TITLED = frozenset(
    """admonition dropdown details card grid-item-card tab-item tab tabbed topic sidebar margin
    rubric toggle expander grid grid-item tab-set tabs panels container div aside epigraph
    pull-quote highlights compound blockquote hlist centered line-block only figure-md""".split()
)
_CODE = frozenset("code code-block sourcecode ipython ipython3 prompt parsed-literal".split())
_CELLS = frozenset({"code-cell", "jupyter-execute"})
_HIDDEN_CELLS = ("remove-cell", "remove_cell", "remove-input", "remove_input")
_DROPPED = frozenset(
    """toctree tableofcontents contents index meta iframe video youtube embed nb-exec-table
    currentmodule module default-role highlight tabularcolumns role sectionauthor codeauthor
    margin-toc list-of-figures autosummary automodule autoclass autofunction graphviz
    exercise-end solution-end gated-end mermaid anywidget""".split()
)
_HTML = frozenset({"html", ""})
_LIST_OF_FIELDS = re.compile(r"\A\s*- [\w-]+: ")  # data for a plugin, not text


@dataclass(frozen=True, slots=True)
class DirectiveWriter:
    """Writes the directives of one page; included files are read from inside the project only."""

    file: SourceFile
    included: IncludedFiles
    references: Callable[[], Sequence[Reference]]
    trail: tuple[Path, ...]

    def write(self, token: Token, rewriter: Rewriter) -> Sequence[Token] | None:
        """Return what a reader sees of a directive; None for plain code."""
        directive = parse_directive(token.info, token.content)
        if directive is None:
            if token.type == "fence":
                return None
            return demote_headings(rewriter.parse(token.content))  # a div without a name
        named = directive.get_option("label", "name") or _find_figure_name(directive)
        anchors = dict.fromkeys((named, nodes.make_id(named))) if named else ()
        return [*map(make_anchor_mark, anchors), *self._write(directive, rewriter)]

    def _write(self, directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
        name = directive.name
        if name in _DROPPED:
            return []
        if name in _CELLS:
            return _write_cell(directive, rewriter)
        if name in _CODE:
            caption = directive.get_option("caption")
            return [make_code(directive.body, _read_language(directive.argument), caption)]
        if rule := _RULES.get(name):
            return rule(directive, rewriter)
        match name:
            case "include" | "literalinclude":
                return self._include(directive, rewriter)
            case "bibliography":
                works = (work.write_entry() for work in self.references())
                return make_list([make_paragraph(make_text(entry)) for entry in works])
        return self._write_box(directive, rewriter)

    def _write_box(self, directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
        name = directive.name.removesuffix("-start").removeprefix("prf:")
        body = directive.body
        if directive.name == "only" and "html" not in directive.argument:
            return []
        if name in _BOXES or directive.name.startswith("prf:"):
            title = _BOXES.get(name, name.replace("-", " ").capitalize())
            given = directive.argument
            if name.startswith(("version", "deprecated")):
                title, given = f"{title} {given}", ""
            elif name == "solution":
                given = ""  # the label of the exercise
            elif given and directive.name == name and name != "exercise":
                body, given = f"{given}\n{body}", ""  # text that starts in the first line
            title = f"{title} ({given})" if given else title
        elif name in _TITLED:
            title = "" if name == "only" else directive.argument
        else:  # of a plugin: show what it was given
            texts = [text for text in directive.options.values() if isinstance(text, str)]
            title = directive.argument
            own = "" if _LIST_OF_FIELDS.match(body) else body
            body = "\n\n".join((*(text for text in texts if " " in text.strip()), own))
        inner = demote_headings(rewriter.parse(body))
        return make_admonition(name, rewriter.parse_inline(title) if title else [], inner)

    def _include(self, directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
        path = resolve_include(self.trail[-1], self.included.root, directive.argument)
        text = self.included.load(path)
        if text is None or path in self.trail or len(self.trail) > MAX_DEPTH:
            return []
        text = _select(text, directive)
        language = directive.get_option("language", "code")
        if directive.name == "literalinclude" or "literal" in directive.options or language:
            return [make_code(text, language, directive.get_option("caption"))]
        inner = DirectiveWriter(self.file, self.included, self.references, (*self.trail, path))
        blocks = {**rewriter.blocks, "fence": inner.write, "colon_fence": inner.write}
        nested = Rewriter(
            rewriter.parser,
            blocks,
            rewriter.inlines,
            rewriter.finish,
            rewriter.env,
            rewriter.depth,
            rewriter.count,
        )
        found = nested.parse(split_front_matter(text, path)[1])
        rewriter.count = nested.count
        return found


def resolve_include(page: Path, root: Path, target: str) -> Path:
    """Return the path of an included file: from the page, or from the root if it starts with a slash."""
    return Path(root, target.lstrip("/")) if target.startswith("/") else Path(page.parent, target)


def _select(text: str, directive: Directive) -> str:
    if start := directive.get_option("start-after"):
        text = text.partition(start)[2]
    if end := directive.get_option("end-before"):
        text = text.partition(end)[0]
    lines = text.split("\n")
    first, last = directive.get_option("start-line"), directive.get_option("end-line")
    if first.isdecimal() or last.isdecimal():
        start_at = int(first) if first.isdecimal() else 0
        lines = lines[start_at : int(last) if last.isdecimal() else None]
    if wanted := directive.get_option("lines"):
        lines = list(_select_lines(lines, wanted))
    return "\n".join(lines)


def _select_lines(lines: Sequence[str], wanted: str) -> Sequence[str]:
    chosen: list[str] = []
    for part in wanted.split(","):
        if found := re.fullmatch(r"\s*(\d+)?\s*(-)?\s*(\d+)?\s*", part[:50]):
            first, dash, last = found.groups()
            start = int(first) - 1 if first else 0
            chosen.extend(lines[max(start, 0) : int(last) if last else None if dash else start + 1])
    return chosen


def _write_cell(directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
    tags = directive.options.get("tags", "")
    if any(tag in str(tags) for tag in _HIDDEN_CELLS):
        code = []
    else:
        code = [make_code(directive.body, _read_language(directive.argument))]
    caption = directive.find_caption()
    return [*code, *make_paragraph(rewriter.parse_inline(caption) if caption else [])]


def _read_language(argument: str) -> str:
    found = re.match(r"[\w+#-]*", argument)
    language = found.group() if found else ""
    return "python" if language in {"ipython", "ipython3", "python3"} else language


def _write_math(directive: Directive, _rewriter: Rewriter) -> Sequence[Token]:
    text = "\n".join(part for part in (directive.argument, directive.body) if part.strip())
    return [make_formula(text)] if text.strip() else []


def _write_figure(directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
    alt = directive.get_option("alt")
    picture = make_paragraph([make_image(directive.argument, alt)]) if directive.argument else []
    caption = directive.body if directive.body.strip() else directive.get_option("caption")
    return [*picture, *demote_headings(rewriter.parse(caption))]


def _write_table(directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
    caption = directive.argument or directive.get_option("caption")
    title = make_paragraph(rewriter.parse_inline(caption) if caption else [])
    inner = rewriter.parse(directive.body)
    return [*title, *(read_list_table(inner) if directive.name == "list-table" else inner)]


def _write_csv(directive: Directive, rewriter: Rewriter) -> Sequence[Token]:
    title = rewriter.parse_inline(directive.argument) if directive.argument else []
    header = directive.get_option("header")
    lines = [line for line in (header, *directive.body.split("\n")) if line.strip()]
    rows = csv.reader(lines, skipinitialspace=True)
    cells = [[rewriter.parse_inline(cell) for cell in row] for row in rows]
    return [*make_paragraph(title), *make_table(cells)]


def _write_raw(directive: Directive, _rewriter: Rewriter) -> Sequence[Token]:
    if directive.argument.lower() not in _HTML:
        return []
    return [Token("html_block", "", 0, content=directive.body, block=True)]


_RULES: Mapping[str, Callable[[Directive, Rewriter], Sequence[Token]]] = {
    "math": _write_math,
    "figure": _write_figure,
    "image": _write_figure,
    "table": _write_table,
    "list-table": _write_table,
    "csv-table": _write_csv,
    "raw": _write_raw,
    "glossary": lambda directive, rewriter: rewriter.parse(directive.body),
}


def _find_figure_name(directive: Directive) -> str:
    """Return the name of the figure that a cell draws."""
    value: object = directive.options.get("mystnb")
    for key in ("figure", "name"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""
