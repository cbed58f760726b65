"""Parses pages of MkDocs: Markdown with the blocks and the inline markup of its extensions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.attrs import attrs_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from bythebook.adapters.readers.markdown.pages import SourceFile, find_first_title
from bythebook.adapters.readers.markdown.syntax.mdx import Flavour, split_code_runs
from bythebook.adapters.readers.markdown.syntax.rewriter import Rewriter, make_parser
from bythebook.adapters.readers.mkdocs.blocks import mkdocs_blocks_plugin, write_block

_HEADING_ATTRIBUTES = re.compile(
    r"^(#{1,6}[ \t].*?)[ \t]*\{:?[ \t]*((?:[#.][\w:.-]+|[\w-]+=(?:\"[^\"\n]*\"|\S+)|[ \t])*)\}[ \t]*$",
    re.MULTILINE,
)
_BLOCK_ATTRIBUTES = re.compile(r"^[ \t]*\{:[^{}\n]*\}[ \t]*$", re.MULTILINE)
_INLINE_ATTRIBUTES = re.compile(r"(?<=[)\]`*_])\{:?[ \t]*(?=[#.\w])([^{}\n]*?)[ \t]*\}")
_CROSS_REFERENCE = re.compile(r"\[((?:`[^`\n]+`|[^\[\]`\n])+)\]\[([\w./-]*)\]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]\n]+)\]:", re.MULTILINE)
_LOOP = re.compile(r"\{%-?[ \t]*(for|if)\b.*?\{%-?[ \t]*end\1[ \t]*-?%\}", re.DOTALL)
_RAW = re.compile(r"\{%-?[ \t]*(?:end)?raw[ \t]*-?%\}")
_STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
_VARIABLE = re.compile(r"\{\{[ \t]*([^{}]*?)[ \t]*\}\}")
_KEYS = re.compile(r"\+\+([\w-]+(?:\+[\w-]+)*)\+\+")
_MARKED = re.compile(r"(?<![=^])(==|\^\^)(?=\S)([^=^\n]+?)(?<=\S)\1(?![=^])")
_ICON = re.compile(r":(?:material|fontawesome|octicons|simple)-[\w-]+:|:[a-z][a-z0-9_]+:")
_FENCE_INFO = re.compile(r"^\{[ \t]*\.([\w+#-]+)([^{}]*)\}$")


@cache
def _get_parser() -> MarkdownIt:
    parser = make_parser().use(dollarmath_plugin, allow_space=False, double_inline=True)
    parser = parser.use(deflist_plugin).use(mkdocs_blocks_plugin)
    after = ("image", "code_inline", "link_close", "em_close", "strong_close")
    return parser.use(attrs_plugin, after=after)


@dataclass(frozen=True, slots=True)
class MkDocsSyntax:
    """The syntax of a site's pages, as its settings have it."""

    extensions: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=dict)  # for templates
    has_templates: bool = False
    flavour: Flavour = "commonmark"

    def tokenize(self, file: SourceFile) -> list[Token]:
        """Parse a page."""
        rewriter = Rewriter(
            _get_parser(),
            {"mkdocs_block": write_block, "fence": _read_fence},
            {"text": self._write},
        )
        return rewriter.parse(self._prepare(file.body))

    def find_title(self, file: SourceFile) -> str | None:
        """Return the text of the first level-one heading."""
        return find_first_title(self._prepare(file.body))

    def list_dependencies(self, file: SourceFile) -> Iterable[str]:  # noqa: ARG002 - of the port
        """List what templates may show; included files are in the body already."""
        return (f"{name}={value}" for name, value in sorted(self.variables.items()))

    def _prepare(self, body: str) -> str:
        """Write attributes and templates as the parser reads them; code is unchanged."""
        if self.has_templates and "{%" in body:
            body = _drop_loops(body)
        known = {name.casefold() for name in _DEFINITION.findall(body)}
        return "\n".join(
            run if is_code else self._prepare_prose(run, known)
            for is_code, run in split_code_runs(body)
        )

    def _prepare_prose(self, text: str, known: set[str]) -> str:
        if "{" in text:
            text = _HEADING_ATTRIBUTES.sub(_write_anchor, _BLOCK_ATTRIBUTES.sub("", text))
            text = _INLINE_ATTRIBUTES.sub(r"{\1}", text)
        if self.has_templates and "{{" in text:
            text = _VARIABLE.sub(lambda found: self.variables.get(found.group(1), ""), text)
        if "][" in text:
            text = _CROSS_REFERENCE.sub(lambda found: _write_reference(found, known), text)
        return text

    def _write(self, token: Token, _rewriter: Rewriter) -> Sequence[Token]:
        text = token.content
        if "++" in text and "pymdownx.keys" in self.extensions:
            text = _KEYS.sub(lambda found: _write_keys(found.group(1)), text)
        if "==" in text or "^^" in text:
            text = _MARKED.sub(r"\2", text)
        if ":" in text and self.extensions & {"pymdownx.emoji", "material.extensions.emoji"}:
            text = _ICON.sub("", text)
        return [token.copy(content=text)]


def _drop_loops(body: str) -> str:
    """Remove what a template repeats or chooses: only the site's own code can fill it in."""
    parts = []
    for is_code, run in split_code_runs(body):
        if is_code or _RAW.search(run):
            parts.append(run if is_code else _RAW.sub("", run))
            continue
        parts.append(run)
    text = "\n".join(parts)
    return _STATEMENT.sub("", _LOOP.sub("", text)) if not _RAW.search(body) else text


def _write_anchor(found: re.Match[str]) -> str:
    anchor = re.search(r"#([\w:.-]+)", found.group(2))
    return f"{found.group(1)} {{#{anchor.group(1)}}}" if anchor else found.group(1)


def _write_reference(found: re.Match[str], known: set[str]) -> str:
    """Return a reference to generated pages as its words; references of the page stay."""
    words, name = found.groups()
    return found.group() if (name or words).casefold() in known else words


def _write_keys(keys: str) -> str:
    return "+".join(key.replace("-", " ").capitalize() for key in keys.split("+"))


def _read_fence(token: Token, _rewriter: Rewriter) -> Sequence[Token] | None:
    """Read the language of code from braces: ``` {.python title="a.py"}."""
    found = _FENCE_INFO.match(token.info.strip())
    return [token.copy(info=f"{found.group(1)} {found.group(2)}", level=0)] if found else None
