"""Parses pages of Quarto and R Markdown."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bythebook.adapters.readers.markdown.pages import SourceFile, find_first_title
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour, split_code_runs
from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter, make_parser
from bythebook.adapters.readers.markdown.syntax.tokens import make_formula, make_link, make_text
from bythebook.adapters.readers.myst.citations import Reference, cite
from bythebook.adapters.readers.notebook.cells import CELL_END, split_cells
from bythebook.adapters.readers.quarto.attributes import parse_attributes
from bythebook.adapters.readers.quarto.cells import write_cell
from bythebook.adapters.readers.quarto.divs import fenced_div_plugin, write_div
from bythebook.adapters.readers.quarto.labels import QuartoLabels

_HEADING = re.compile(r"^(#{1,6}[ \t].*?)[ \t]*\{([^{}\n]*)\}[ \t]*$", re.MULTILINE)
_EQUATION = re.compile(r"^(.*\$\$)[ \t]*\{#[^{}\n]*\}[ \t]*$", re.MULTILINE)
_CAPTION = re.compile(r"^(?::|Table:)[ \t]+(.*?)[ \t]*(?:\{[^{}\n]*\})?[ \t]*$", re.MULTILINE)
_COMMAND = re.compile(r"^\\(?:newpage|pagebreak|clearpage|index\{[^{}\n]*\})[ \t]*$", re.MULTILINE)
_SHORTCODE = re.compile(r"\{\{<[ \t]*(/?[\w-]+)[ \t]*(.*?)[ \t]*>\}\}", re.DOTALL)
_GROUP = re.compile(r"\[([^\[\]@]*-?@[\w:.-]+[^\[\]]*)\]|(?<![\w.@/])-?@([A-Za-z][\w:.-]*\w)")
_KEY = re.compile(r"-?@([A-Za-z][\w:.-]*\w)")
_COMPUTED = re.compile(r"^\{?(?:r|python|julia)\}? +\S", re.DOTALL)


@cache
def _get_parser() -> MarkdownIt:
    parser = make_parser().use(dollarmath_plugin, allow_space=False, double_inline=True)
    parser = parser.use(amsmath_plugin).use(deflist_plugin).use(fenced_div_plugin)
    return parser.use(attrs_plugin, spans=True)


@dataclass(slots=True)
class QuartoSyntax:
    """The syntax of a project's pages."""

    labels: QuartoLabels = field(default_factory=QuartoLabels)
    references: Mapping[str, Reference] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    flavour: Flavour = "commonmark"

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page."""
        rewriter = Rewriter(
            _get_parser(),
            {
                "fence": write_cell,
                "fenced_div": write_div,
                "amsmath": lambda token, _rewriter: [make_formula(token.content)],
            },
            {"text": self._write_text, "code_inline": _write_code},
        )
        cells = split_cells(file.body)
        return [token for cell in cells for token in rewriter.parse(self._prepare(cell))]

    def find_title(self, file: SourceFile) -> str | None:
        """Return the text of the first level-one heading."""
        return find_first_title(self._prepare(file.body.replace(CELL_END, "\n")))

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:
        """List what the labels and works that a page refers to show."""
        yield from self.labels.list_used(file)
        for key in sorted(set(_KEY.findall(file.body)) & self.references.keys()):
            yield f"{key} {self.references[key].write_entry()}"
        yield from (f"{name}={value}" for name, value in sorted(self.variables.items()))

    def _prepare(self, body: str) -> str:
        """Write attributes and shortcodes as the parser reads them; code is unchanged."""
        return "\n".join(
            run if is_code else self._prepare_prose(run) for is_code, run in split_code_runs(body)
        )

    def _prepare_prose(self, text: str) -> str:
        if "{" in text:
            text = _SHORTCODE.sub(self._write_shortcode, _HEADING.sub(_write_anchor, text))
            text = _EQUATION.sub(r"\1", text)
        if "\n:" in text or "Table:" in text:
            text = _CAPTION.sub(_write_caption, text)
        return _COMMAND.sub("", text) if "\\" in text else text

    def _write_shortcode(self, found: re.Match[str]) -> str:
        name, rest = found.groups()
        match name:
            case "meta" | "var":
                return self.variables.get(rest.strip(), "")
            case "kbd":
                return rest.partition(" ")[0].replace("-", "+")
            case _:  # videos, icons, breaks
                return ""

    def _write_text(self, token: Token, _rewriter: Rewriter) -> Sequence[Token]:
        """Write cross references as links and citations as words."""
        text = token.content
        if "@" not in text:
            return [token]
        found: list[Token] = []
        at = 0
        for group in _GROUP.finditer(text):
            written = self._write_references(group)
            if written is not None:
                found.extend([*make_text(text[at : group.start()]), *written])
                at = group.end()
        return [*found, *make_text(text[at:])]

    def _write_references(self, group: re.Match[str]) -> list[Token] | None:
        inside = group.group(1)
        if inside is None:
            return self._write_key(group.group(2), textual=True)
        parts: list[Token] = []
        keys = _KEY.findall(inside)
        if all(key in self.references for key in keys):
            return make_text(cite(self.references, ",".join(keys), textual=False))
        for place, key in enumerate(keys):
            written = self._write_key(key, textual=True)
            if written is None:
                return None
            parts.extend([*(make_text(", ") if place else []), *written])
        before = inside.partition("@")[0].rstrip("-").strip()
        return [*make_text(f"{before} " if before else ""), *parts]

    def _write_key(self, key: str, *, textual: bool) -> list[Token] | None:
        if label := self.labels.find(key):
            return make_link(label.target, make_text(label.words))
        if key in self.references:
            return make_text(cite(self.references, key, textual=textual))
        if re.match(r"(?:sec|fig|tbl|eq|lst)-", key):  # a label that the book does not have
            return make_text(key.partition("-")[2].replace("-", " "))
        return None


def _write_code(token: Token, _rewriter: Rewriter) -> Sequence[Token]:
    """Leave a gap where a page computes a value: only running its code can tell it."""
    return make_text("…") if _COMPUTED.match(token.content) else [token]


def _write_anchor(found: re.Match[str]) -> str:
    anchor = parse_attributes(found.group(2)).anchor
    return f"{found.group(1)} {{#{anchor}}}" if anchor else found.group(1)


def _write_caption(found: re.Match[str]) -> str:
    """Write the caption of a table as a paragraph; a definition of a list stays."""
    is_caption = found.group().startswith("Table:") or "{#tbl-" in found.group()
    return f"\n{found.group(1)}\n" if is_caption else found.group()
