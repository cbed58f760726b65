"""Inserts included files into a document's source, because the parser opens no files."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bythebook.adapters.readers.rst.files import RST_BOUNDS, RstBounds, load_text
from bythebook.adapters.readers.rst.lines import (
    DirectiveBody,
    DirectiveLine,
    find_indented_end,
    iterate_markup_lines,
    measure_indent,
    read_directive_body,
)
from bythebook.adapters.readers.source_file import is_inside
from bythebook.errors import UnreadableBook

_MAX_DEPTH = 10  # nested includes
_MAX_FILES = 500  # included by one document
_MAX_TEXT = 5_000_000  # characters included by one document
_MAX_TEXT_OF_BOOK = 200_000_000
_FILE_DIRECTIVES = frozenset({"include", "literalinclude", "csv-table", "raw"})


@dataclass(slots=True)
class IncludeExpander:
    """Inserts included files into the documents of one book, within limits."""

    root: Path  # base of paths that start with a slash
    within: Path  # no file outside it is opened
    macros: Mapping[str, str] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    included: set[Path] = field(default_factory=set)  # files included as source, by real path
    characters: int = 0
    bounds: RstBounds = RST_BOUNDS

    def expand_document(self, path: Path, text: str) -> str:
        """Return a document's text with its includes inserted."""
        run = _DocumentExpander(self, path)
        return self._replace_macros(
            "\n".join(run.expand_lines(self._replace_macros(text), path, ()))
        )

    def _replace_macros(self, text: str) -> str:
        for name, words in self.macros.items():
            text = text.replace(f"{{{name}}}", words)
        return text

    def warn(self, document: Path, words: str) -> None:
        """Add a warning about a document, once."""
        name = document.relative_to(self.root) if document.is_relative_to(self.root) else document
        self.warnings[f"{name.as_posix()}: {words}"] = None


class _DocumentExpander:
    """Inserts included files into one document."""

    def __init__(self, expander: IncludeExpander, document: Path) -> None:
        self.expander = expander
        self.document = document
        self.files = 0
        self.characters = 0

    def expand_lines(self, text: str, path: Path, trail: tuple[Path, ...]) -> Iterator[str]:
        """Yield the lines of a text, with each include directive replaced by the content of its file."""
        lines = text.expandtabs(8).split("\n") if "\t" in text else text.split("\n")
        given = 0
        for number, _line, directive in iterate_markup_lines(lines):
            if (
                directive is None
                or directive.name.lower() not in _FILE_DIRECTIVES
                or number < given
            ):
                continue
            body = read_directive_body(lines, number, directive)
            put = self._expand_directive(directive, body, path, trail)
            if put is None:
                continue
            yield from lines[given:number]
            yield from put
            given = body.end
        yield from lines[given:]

    def _expand_directive(
        self, directive: DirectiveLine, body: DirectiveBody, path: Path, trail: tuple[Path, ...]
    ) -> Sequence[str] | None:
        name = directive.name.lower()
        named = directive.argument if name.endswith("include") else body.options.get("file", "")
        if not named:
            return None
        found = self._find_file(named, path)
        if found is None or (text := self._load_text(found, named, trail)) is None:
            return None
        if name == "include" and not {"literal", "code"} & set(body.options):
            self.expander.included.add(found.resolve())
            part = "\n".join(_select_lines(text.split("\n"), body.options))
            inner = self.expand_lines(part, found, (*trail, found))
            return _indent_lines(directive.lead, inner)
        return _write_directive(directive, body, _select_lines(text.split("\n"), body.options))

    def _find_file(self, named: str, path: Path) -> Path | None:
        base = self.expander.root if named.startswith("/") else path.parent
        found = Path(posixpath.normpath(base / named.lstrip("/")))
        if named.startswith("<"):  # docutils' own character tables
            return None
        if not is_inside(found, self.expander.within) or not found.is_file():
            self.expander.warn(self.document, f"it includes {named}, which does not exist.")
            return None
        return found

    def _load_text(self, found: Path, named: str, trail: tuple[Path, ...]) -> str | None:
        if found in trail or len(trail) >= _MAX_DEPTH:
            self.expander.warn(self.document, f"{named} includes itself; it is inserted once.")
            return None
        try:
            text = load_text(found, self.expander.within, self.expander.bounds)
        except UnreadableBook as error:
            self.expander.warn(self.document, f"it includes {named}. {error.what}")
            return None
        self.files += 1
        self.characters += len(text)
        self.expander.characters += len(text)
        if (
            self.files > _MAX_FILES
            or self.characters > _MAX_TEXT
            or self.expander.characters > _MAX_TEXT_OF_BOOK
        ):
            self.expander.warn(self.document, "it includes too much; the rest is left out.")
            return None
        return text


def _indent_lines(lead: str, lines: Iterator[str]) -> list[str]:
    """Indent lines to the position of a directive; text before it on its line is kept."""
    blank = " " * len(lead)
    found = [f"{blank}{line}" if line else line for line in lines]
    if lead.strip() and found:
        found[0] = lead + found[0][len(lead) :]
    return ["", *found, ""] if not lead.strip() else [*found, ""]


def _write_directive(
    directive: DirectiveLine, body: DirectiveBody, content: Sequence[str]
) -> list[str]:
    """Write a directive that contains what the original only refers to."""
    name = directive.name.lower()
    blank = " " * len(directive.lead)
    argument = directive.argument
    options = dict(body.options)
    if name.endswith("include"):
        name, caption = "code-block", options.get("caption")
        argument = options.get("language") or options.get("code") or _guess_language(argument)
        options = {"caption": caption or directive.argument} if caption is not None else {}
    options.pop("file", None)
    head = f"{directive.lead}.. {name}:: {argument}".rstrip()
    fields = [f"{blank}   :{key}: {value}".rstrip() for key, value in options.items()]
    return [head, *fields, "", *(f"{blank}   {line}".rstrip() for line in content), ""]


def _guess_language(named: str) -> str:
    suffix = posixpath.splitext(named)[1].lstrip(".").lower()
    known = {"py": "python", "cpp": "cpp", "hpp": "cpp", "c": "c", "sh": "bash", "yml": "yaml"}
    return known.get(suffix, suffix if re.fullmatch(r"[a-z]+", suffix) else "")


def _select_lines(lines: list[str], options: Mapping[str, str]) -> list[str]:
    """Return the lines of a file that the include options select."""
    if numbers := options.get("lines"):
        chosen = islice(_parse_line_numbers(numbers, len(lines)), len(lines))
        lines = [lines[number] for number in chosen]
    start, end = _parse_number(options.get("start-line")), _parse_number(options.get("end-line"))
    lines = lines[start:end]
    if mark := options.get("start-after") or options.get("start-at"):
        at = next((n for n, line in enumerate(lines) if mark in line), None)
        if at is not None:
            lines = lines[at + ("start-after" in options) :]
    if mark := options.get("end-before") or options.get("end-at"):
        begin = "start-at" in options
        at = next((n for n, line in enumerate(lines) if n >= begin and mark in line), None)
        lines = lines[: None if at is None else at + ("end-at" in options)]
    if name := options.get("pyobject"):
        lines = _select_python_object(lines, name)
    return _dedent(lines, options)


def _parse_number(words: str | None) -> int | None:
    return int(words) if words and re.fullmatch(r"-?\d{1,9}", words) else None


def _parse_line_numbers(words: str, count: int) -> Iterator[int]:
    """Parse "1,3-5,8-" as line numbers counted from 0."""
    for part in words.split(","):
        match = re.fullmatch(r"\s*(\d{0,9})\s*(-?)\s*(\d{0,9})\s*", part)
        if match and (match[1] or match[3]):
            first = max(int(match[1] or 1), 1)
            last = int(match[3] or count) if match[2] else first
            yield from range(first - 1, min(last, count))


def _select_python_object(lines: list[str], name: str) -> list[str]:
    """Return the lines of a function or class by its dotted name."""
    for part in name.split("."):
        opening = re.compile(rf"(\s*)(?:async\s+)?(?:def|class)\s+{re.escape(part)}\b")
        start = next((n for n, line in enumerate(lines) if opening.match(line)), None)
        if start is None:
            return lines
        lines = lines[start : find_indented_end(lines, start + 1, measure_indent(lines[start]))]
    return lines


def _dedent(lines: list[str], options: Mapping[str, str]) -> list[str]:
    if "dedent" not in options:
        return lines
    filled = [line for line in lines if line.strip()]
    least = min(map(measure_indent, filled), default=0)
    return [line[min(_parse_number(options["dedent"]) or least, least) :] for line in lines]
