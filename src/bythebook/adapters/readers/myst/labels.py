"""Finds what a project's labels name: headings, figures, equations, exercises and pages."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from docutils import nodes

from bythebook.adapters.readers.markdown.pages import SourceFile
from bythebook.adapters.readers.myst.directive import Directive, parse_directive

_TARGET = re.compile(r"^\(([^()\n]+)\)=[ \t]*$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_OPENING = re.compile(r"^[ \t]*(`{3,}|:{3,}|~{3,})[ \t]*(\S.*)?$")
_FORMULA_LABEL = re.compile(r"\$\$[ \t]*\(([^()\s]+)\)[ \t]*$")
_ROLE = re.compile(r"\{[\w:+-]+\}(`+)(.+?)\1")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^()\n]*\)")
_MAX_LABELS = 100_000
_BOXES = ("prf:", "exercise", "solution", "admonition")


@dataclass(frozen=True, slots=True)
class Label:
    """Where a label leads, and what is shown for it."""

    words: str
    path: str  # of the page, from the project's root
    anchor: str = ""

    @property
    def target(self) -> str:
        """The address of the place, as the link finder reads it."""
        return f"/{self.path}#{self.anchor}" if self.anchor else f"/{self.path}"


@dataclass(slots=True)
class ProjectLabels:
    """Every label and page title of a project."""

    labels: dict[str, Label] = field(default_factory=dict)
    titles: dict[str, Label] = field(default_factory=dict)  # by path without suffix

    def collect(self, files: Iterable[SourceFile]) -> None:
        """Add the labels and the title of each page."""
        for file in files:
            path = file.relative.as_posix()
            for name, words in _list_labels(file):
                if len(self.labels) < _MAX_LABELS:
                    self.labels.setdefault(name, Label(words, path, nodes.make_id(name) or name))
            title = file.get_text("title") or find_title(file.body) or file.relative.stem
            self.titles[file.relative.with_suffix("").as_posix()] = Label(title, path)

    def find_page(self, file: SourceFile, target: str) -> Label | None:
        """Find a page by a path from the page that names it, or from the root."""
        name = target.removeprefix("/")
        for above in ("",) if target.startswith("/") else (str(file.relative.parent), ""):
            path = PurePosixPath(posixpath.normpath(posixpath.join(above, name)))
            for known in (path.as_posix(), path.with_suffix("").as_posix() if path.name else ""):
                if found := self.titles.get(known):
                    return found
        return None

    def list_used(self, file: SourceFile) -> Iterator[str]:
        """List the labels that a page may refer to, with what they show."""
        words = set(re.findall(r"[^\s`<>(){}\[\]\"',#]+", file.body))
        for name in sorted(words & self.labels.keys()):
            label = self.labels[name]
            yield f"{name} {label.words} {label.target}"
        for name, label in sorted(self.titles.items()):
            if PurePosixPath(name).name in file.body:
                yield f"{name} {label.words}"


def find_title(body: str) -> str | None:
    """Return the first heading of the first level, outside directives and code."""
    for line, directive in _iterate_lines(body):
        if directive is None and re.match(r"#[ \t]", line) and (found := _HEADING.match(line)):
            return strip_markup(found.group(1)) or None
    return None


def iterate_directives(body: str) -> Iterator[Directive]:
    """Yield the directives of a page that are not inside code."""
    return (directive for _, directive in _iterate_lines(body) if directive is not None)


def strip_markup(text: str) -> str:
    """Return the words of a title or caption."""
    text = _ROLE.sub(lambda found: found.group(2).partition("<")[0].strip(), text)
    text = _LINK.sub(r"\1", re.sub(r"\{#[^{}]*\}[ \t]*$", "", text))
    return " ".join(re.sub(r"[`*]|(?<!\w)_|_(?!\w)", "", text).split())


def _list_labels(file: SourceFile) -> Iterator[tuple[str, str]]:
    waiting: list[str] = []  # targets that name what follows
    equations = 0
    if isinstance(own := file.front.get("label"), str):
        yield own, find_title(file.body) or own
    for line, directive in _iterate_lines(file.body):
        if found := _TARGET.match(line):
            waiting.append(found.group(1).strip())
        elif directive is not None:
            own = directive.get_option("label", "name") or _find_cell_label(directive)
            equations += directive.name == "math" and bool(own)
            words = _describe(directive, equations)
            yield from ((name, words or name) for name in (own, *waiting) if name)
            waiting = []
        elif found := _FORMULA_LABEL.search(line):
            equations += 1
            yield found.group(1), f"({equations})"
        elif line.strip():
            heading = _HEADING.match(line)
            words = strip_markup(heading.group(1)) if heading else ""
            yield from ((name, words or name) for name in waiting)
            waiting = []


def _find_cell_label(directive: Directive) -> str:
    found: object = directive.options
    for key in ("mystnb", "figure", "name"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _describe(directive: Directive, equations: int) -> str:
    """Return the words that stand for a directive in a reference to it."""
    match directive.name:
        case "math":
            return f"({equations})"
        case "figure" | "figure-md":
            lines = (line.strip() for line in directive.body.split("\n"))
            return strip_markup(next((line for line in lines if line), ""))
        case "code-cell":
            return strip_markup(directive.find_caption())
        case "image":
            return directive.get_option("alt")
    if directive.name.startswith(_BOXES):
        kind = directive.name.removeprefix("prf:").removesuffix("-start").capitalize()
        return f"{kind} ({strip_markup(directive.argument)})" if directive.argument else kind
    return strip_markup(directive.argument or directive.get_option("caption"))


def _iterate_lines(body: str) -> Iterator[tuple[str, Directive | None]]:
    """Yield lines outside code; each directive once, by its first line, then the lines inside it."""
    lines = body.split("\n")
    fences: list[str] = []
    code = ""  # the fence of plain code that is open
    for at, line in enumerate(lines):
        opening = _OPENING.match(line) if "```" in line or ":::" in line or "~~~" in line else None
        if code:
            if opening and opening.group(1).startswith(code) and not opening.group(2):
                code = ""
            continue
        if opening is None:
            yield line, None
        elif opening.group(2) is None:
            if fences and opening.group(1).startswith(fences[-1]):
                fences.pop()
        elif directive := _read_directive(lines, at, opening):
            fences.append(opening.group(1))
            yield line, directive
            if directive.name in _VERBATIM:
                code = fences.pop()
        elif opening.group(1)[0] != ":":
            code = opening.group(1)


_VERBATIM = frozenset({"code-cell", "code", "code-block", "math", "raw", "literalinclude"})
_PEEK = 40  # lines that hold a directive's options and the first line of its caption


def _read_directive(lines: Sequence[str], at: int, opening: re.Match[str]) -> Directive | None:
    inside = []
    for line in lines[at + 1 : at + _PEEK]:
        if line.strip() == opening.group(1):
            break
        inside.append(line)
    return parse_directive(opening.group(2), "\n".join(inside))
