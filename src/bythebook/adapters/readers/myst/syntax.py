"""Parses pages of MyST, with what other pages of the project tell about their references."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from docutils import nodes
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from mdit_py_plugins.substitution import substitution_plugin

from bythebook.adapters.readers.markdown.kinds.includes import MAX_DEPTH, IncludedFiles
from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour
from bythebook.adapters.readers.markdown.syntax.rewriter import (
    BlockRule,
    InlineRule,
    Rewriter,
    make_parser,
)
from bythebook.adapters.readers.markdown.syntax.tokens import (
    make_anchor_mark,
    make_formula,
    make_text,
)
from bythebook.adapters.readers.myst.citations import Reference, cite, list_cited
from bythebook.adapters.readers.myst.directives import DirectiveWriter, resolve_include
from bythebook.adapters.readers.myst.labels import ProjectLabels, find_title, iterate_directives
from bythebook.adapters.readers.myst.roles import RoleWriter
from bythebook.adapters.readers.notebook.cells import CELL_END, split_cells

_CITED = re.compile(r"(?<![\w@/.])\[?@([A-Za-z][\w:.+-]*\w)\]?")
_SCHEMES = ("project:", "path:", "doc:", "inv:")


@cache
def get_parser() -> MarkdownIt:
    """Return the parser of MyST."""
    parser = make_parser().use(dollarmath_plugin, allow_space=True, double_inline=True)
    for plugin in (amsmath_plugin, colon_fence_plugin, myst_block_plugin, myst_role_plugin):
        parser = parser.use(plugin)
    return parser.use(deflist_plugin).use(substitution_plugin).use(attrs_plugin)


@dataclass(slots=True)
class MystSyntax:
    """The syntax of a project's pages."""

    included: IncludedFiles
    substitutions: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, Reference] = field(default_factory=dict)
    labels: ProjectLabels = field(default_factory=ProjectLabels)
    bodies: Sequence[str] = ()  # of all pages: they decide which works are listed as cited
    flavour: Flavour = "commonmark"

    def collect(self, files: Sequence[SourceFile]) -> None:
        """Learn what the pages of the project may refer to."""
        self.labels.collect(files)
        self.bodies = [file.body for file in files]

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page, or the cells of a notebook one by one."""
        rewriter = self._make_rewriter(file)
        cells = split_cells(file.body)
        return _drop_logo([token for cell in cells for token in rewriter.parse(cell)])

    def find_title(self, file: SourceFile) -> str | None:
        """Return the first heading of the first level."""
        return find_title(file.body.replace(CELL_END, "\n"))

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:
        """List the words of labels that the page may refer to, and the files that it includes."""
        yield from self.labels.list_used(file)
        yield from self._list_includes(file, file.body, (file.path,))
        keys = re.findall(r"\{(?:foot)?cite[\w:]*\}`([^`]+)`", file.body)
        for key in sorted({part.strip() for found in keys for part in found.split(",")}):
            if work := self.references.get(key):
                yield f"{key} {work.write_entry()}"
        if "{bibliography}" in file.body:
            yield from (work.write_entry() for work in self._list_cited())
        yield from (f"{key}={value}" for key, value in sorted(self.substitutions.items()))

    def _list_includes(self, file: SourceFile, body: str, trail: tuple[Path, ...]) -> Iterator[str]:
        for directive in iterate_directives(body):
            if directive.name not in {"include", "literalinclude"}:
                continue
            path = resolve_include(trail[-1], self.included.root, directive.argument)
            text = self.included.load(path)
            if text is None or path in trail or len(trail) > MAX_DEPTH:
                self.included.record_missing(directive.argument, file)
            else:
                yield text
                if directive.name == "include":
                    yield from self._list_includes(file, text, (*trail, path))

    def _list_cited(self) -> list[Reference]:
        return list_cited(self.references, self.bodies)

    def _make_rewriter(self, file: SourceFile) -> Rewriter:
        roles = RoleWriter(file, self.labels, self.references)
        directives = DirectiveWriter(file, self.included, self._list_cited, (file.path,))

        def substitute(token: Token, rewriter: Rewriter) -> Sequence[Token]:
            return rewriter.parse_inline(self.substitutions.get(token.content.strip(), ""))

        def substitute_block(token: Token, rewriter: Rewriter) -> Sequence[Token]:
            return rewriter.parse(self.substitutions.get(token.content.strip(), ""))

        def write_text(token: Token, _rewriter: Rewriter) -> Sequence[Token]:
            return [token.copy(content=self._write_citations(token.content))]

        blocks: Mapping[str, BlockRule] = {
            "fence": directives.write,
            "colon_fence": directives.write,
            "amsmath": lambda token, _rewriter: [make_formula(token.content)],
            "math_block_label": lambda token, _rewriter: [
                make_anchor_mark(f"equation-{nodes.make_id(token.info)}"),
                make_anchor_mark(nodes.make_id(token.info)),
                make_formula(token.content),
            ],
            "myst_target": lambda token, _rewriter: [
                make_anchor_mark(nodes.make_id(token.content))
            ],
            "myst_line_comment": lambda _token, _rewriter: [],
            "myst_block_break": lambda _token, _rewriter: [],
            "substitution_block": substitute_block,
        }
        inlines: Mapping[str, InlineRule] = {
            "myst_role": roles.write,
            "substitution_inline": substitute,
            "text": write_text,
        }
        return Rewriter(
            get_parser(), blocks, inlines, finish=lambda children: _fill_links(children, roles)
        )

    def _write_citations(self, text: str) -> str:
        """Write the citations of MyST Markdown: @key in the text, [@key] in parentheses."""
        if "@" not in text:
            return text
        return _CITED.sub(
            lambda found: (
                cite(self.references, found.group(1), textual=not found.group().startswith("["))
                if found.group(1) in self.references
                else found.group()
            ),
            text,
        )


def _drop_logo(tokens: list[Token]) -> list[Token]:
    """Drop pictures in raw HTML above the title of a page: they are its decoration."""
    title = next((at for at, token in enumerate(tokens) if token.type == "heading_open"), 0)
    return [
        token
        for at, token in enumerate(tokens)
        if at >= title
        or token.type != "html_block"
        or "<img" not in token.content
        or re.search(r"\w", re.sub(r"<[^<>]*>", "", token.content))
    ]


def _fill_links(children: Sequence[Token], roles: RoleWriter) -> list[Token]:
    """Lead links by label to their places, and give links without text the words of their targets."""
    found: list[Token] = []
    for place, child in enumerate(children):
        if child.type != "link_open":
            found.append(child)
            continue
        target = str(child.attrs.get("href", ""))
        bare = target
        for scheme in _SCHEMES:
            bare = bare.removeprefix(scheme)
        label = roles.find(bare) if bare.startswith("#") or bare != target else None
        if label:
            child = child.copy(attrs={**child.attrs, "href": label.target})
        found.append(child)
        if place + 1 < len(children) and children[place + 1].type == "link_close":
            label = label or roles.find(bare, is_page=True)
            found.extend(make_text(label.words if label else bare.removeprefix("doi:").lstrip("#")))
    return found
