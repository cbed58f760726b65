"""Visible text of Markdown pages on the site made from them, by mistune and own rules."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import mistune

from evals.visible_text.html_pages import extract_html_text
from evals.visible_text.mdx_tags import strip_tags
from evals.visible_text.shortcodes import expand_shortcodes

Flavour = Literal["docusaurus", "mdbook", "hugo"]

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"^(?:>[ ]?)+")
_FENCE = re.compile(r"^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(`{3,}|~{3,})([^`\n]*)$")
_DIRECTIVE = re.compile(r"\{\{\s*#\w+[^}]*\}\}")
_DEFINITION = re.compile(
    r"""^[ \t]*\[(?!\^)[^\]]+\]:[ \t]*\S+(?:[ \t]+["'(<].*)?[ \t]*$""", re.MULTILINE
)
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MDX_COMMENT = re.compile(r"\{/\*.*?\*/\}", re.DOTALL)
_MODULE_CODE = re.compile(r"^(?:import|export)\s.*?(?=\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_IMPORTED = re.compile(r"""^import\s+(\w+)\s+from\s+['"](\.[^'"]+\.mdx?)['"]""", re.MULTILINE)
_HEADING_ID = re.compile(r"\s*\{#[^{}\n]*\}[ \t]*$", re.MULTILINE)
_ADMONITION = re.compile(r"^:{3,}[ \t]*(?:[\w-]+)?(.*)$", re.MULTILINE)
_BRACED = re.compile(r"\{[^{}\n]*\}")
_FORMULA = re.compile(r"\$\$.+?\$\$|\$(?=\S)[^$\n]+?(?<=\S)\$(?!\d)", re.DOTALL)
_COMMAND = re.compile(r"\\(?:begin|end)\{\w+\}|\\[A-Za-z]+|\\.")
_HIGHLIGHT = re.compile(r"^.*\bhighlight-(?:next-line|start|end)\b.*$", re.MULTILINE)
_RUST_HIDDEN = re.compile(r"^[ \t]*#(?:[ \t].*)?$\n?", re.MULTILINE)
_CODE_TITLE = re.compile(r"""title=(["'])(.*?)\1""")
_LABEL = re.compile(r"""\blabel:\s*(['"])(.*?)\1""")
_ATTRIBUTE = re.compile(r"""([\w-]+)=(?:"([^"]*)"|'([^']*)'|\{\s*['"`]([^'"`]*)['"`]\s*\})""")


@dataclass(frozen=True, slots=True)
class Run:
    """Lines of a page that are all prose or all code."""

    is_code: bool
    text: str
    is_quoted: bool = False
    info: str = ""  # of a fence


@dataclass(slots=True)
class MarkdownPage:
    """A Markdown file, split into front matter, prose and code."""

    path: Path
    flavour: Flavour
    front: str = ""
    body: str = ""
    partials: Mapping[str, Path] = field(default_factory=dict)
    definitions: str = ""  # of link targets

    @classmethod
    def load(cls, path: Path, flavour: Flavour) -> "MarkdownPage":
        """Read a file, with the files that it includes."""
        text = path.read_text("utf-8-sig").replace("\r\n", "\n")
        match = _FRONT.match(text)
        front, body = (match.group(1), text[match.end() :]) if match else ("", text)
        if flavour == "hugo":
            body = expand_shortcodes(body, lambda name: _read_include(path, name))
        imported = _IMPORTED.findall(body)
        partials = {name: path.parent / file for name, file in imported}
        prose = (run.text for run in _split_runs(body) if not run.is_code)
        definitions = "\n".join(line for text in prose for line in _DEFINITION.findall(text))
        return cls(path, flavour, front, body, partials, definitions)

    def get_entry(self, key: str) -> str:
        """Return a plain entry of the front matter."""
        found = re.search(rf"^{key}:[ \t]*(.*?)[ \t]*$", self.front, re.MULTILINE)
        value = found.group(1) if found else ""
        return value[1:-1] if value[:1] in {'"', "'"} and value[-1:] == value[:1] else value

    def get_visible_title(self) -> str:
        """Return the title that the site puts above the text of the page."""
        has_own = any(
            re.match(r"# ", line)
            for run in self.list_runs()
            if not run.is_code
            for line in run.text.split("\n")
        )
        return "" if has_own and self.flavour != "hugo" else self.get_entry("title")

    def list_runs(self) -> Iterator[Run]:
        """Split the page into prose and code; indents are dropped, as only words are compared."""
        for run in _split_runs(self.body):
            if run.is_code and not run.info.startswith("mdx-code-block"):
                yield replace(run, text=_extract_code(run, self.flavour))
                continue
            for text in self._split_at_partials(run.text):
                if isinstance(text, MarkdownPage):
                    yield from text.list_runs()
                else:
                    yield Run(is_code=False, text=self._clean_prose(text), is_quoted=run.is_quoted)

    def _split_at_partials(self, text: str) -> Iterator["str | MarkdownPage"]:
        """Split prose where it includes another file."""
        names = [name for name, path in self.partials.items() if path.is_file()]
        pattern = rf"^\s*<({'|'.join(names)})\b[^>]*/>" if names else r"(?!)()"
        end = 0
        for match in re.finditer(pattern, text, re.MULTILINE):
            yield text[end : match.start()]
            yield MarkdownPage.load(self.partials[match.group(1)], self.flavour)
            end = match.end()
        yield text[end:]

    def extract_text(self) -> str:
        """Extract all visible text of the page."""
        seen = (
            run.text if run.is_code else self.render_prose(run.text) for run in self.list_runs()
        )
        return "\n\n".join((self.get_visible_title(), *seen))

    def render_prose(self, prose: str) -> str:
        """Extract the visible text of Markdown; link targets may be defined anywhere on the page."""
        return extract_html_text(str(_RENDER(f"{prose}\n\n{self.definitions}"))).strip()

    def _clean_prose(self, text: str) -> str:
        text = _HTML_COMMENT.sub("", _DIRECTIVE.sub("", text))
        if self.flavour == "docusaurus":
            text = _MODULE_CODE.sub("", _MDX_COMMENT.sub("", _HEADING_ID.sub("", text)))
            text = _FORMULA.sub(lambda match: _COMMAND.sub(" ", match.group()), text)
            text = strip_tags(text, self._describe_tag, expressions=True)
            text = _ADMONITION.sub(lambda match: _BRACED.sub("", match.group(1)), text)
        else:
            text = strip_tags(_HEADING_ID.sub("", text), self._describe_tag, expressions=False)
        return "\n".join(line.lstrip() for line in text.split("\n"))

    def _describe_tag(self, name: str, tag: str) -> str:
        if name[0].islower():
            return ""
        given = {
            m.group(1): m.group(2) or m.group(3) or m.group(4) for m in _ATTRIBUTE.finditer(tag)
        }
        keys = ["number", "file-name", "caption", "label", "title", "summary"]
        if name == "TabItem" and not given.get("label"):
            keys.append("value")
        shown = [given.get(key) or "" for key in keys]
        return "\n\n".join((*shown, *(match.group(2) for match in _LABEL.finditer(tag))))


_RENDER = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url"])


def _split_runs(body: str) -> Iterator[Run]:
    """Split a text at its fences, and where quotations begin and end."""
    lines: list[str] = []
    fence = info = ""
    was_quoted = False
    for line in body.split("\n"):
        is_quoted = line.startswith(">")
        line = _QUOTE.sub("", line)
        mark = _FENCE.match(line)
        if not fence and (mark or is_quoted != was_quoted):
            yield Run(is_code=False, text="\n".join(lines), is_quoted=was_quoted)
            lines, was_quoted = ([], is_quoted) if mark else ([line], is_quoted)
            fence, info = (mark.group(1), mark.group(2).strip()) if mark else ("", "")
        elif fence and mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
            yield Run(is_code=True, text="\n".join(lines), is_quoted=was_quoted, info=info)
            lines, fence = [], ""
        else:
            lines.append(line)
    yield Run(is_code=bool(fence), text="\n".join(lines), is_quoted=was_quoted, info=info)


def _extract_code(run: Run, flavour: Flavour) -> str:
    text = run.text
    if flavour == "mdbook":
        text = _DIRECTIVE.sub("", text)
        if run.info.startswith("rust"):
            text = _RUST_HIDDEN.sub("", text)
    if flavour == "docusaurus":
        text = _HIGHLIGHT.sub("", text)
    title = _CODE_TITLE.search(run.info)
    return f"{title.group(2)}\n{text}" if title else text


def _read_include(page: Path, name: str) -> str:
    for folder in (page.parent, *page.parents):
        path = folder / name
        if path.is_file():
            return MarkdownPage.load(path, "hugo").body
    return ""
