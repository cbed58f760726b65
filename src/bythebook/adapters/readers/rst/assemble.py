"""A document's source with the files it names put in: the parser itself opens none."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bythebook.adapters.readers.rst.files import is_inside, load_text
from bythebook.adapters.readers.rst.lines import (
    DirectiveBody,
    DirectiveLine,
    directive_body,
    markup_lines,
)
from bythebook.errors import UnreadableBook

_DEEPEST = 10  # files inside files
_MOST_FILES = 500  # put into one document
_MOST_TEXT = 5_000_000  # characters put into one document
_MOST_TEXT_OF_BOOK = 200_000_000
_NAMING = frozenset({"include", "literalinclude", "csv-table", "raw"})


@dataclass(slots=True)
class Assembly:
    """Puts the named files into the documents of one book, within bounds."""

    root: Path  # where an address that begins with a slash starts
    within: Path  # nothing outside of it is opened
    macros: Mapping[str, str] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    included: set[Path] = field(default_factory=set)  # as source, by their real path
    characters: int = 0

    def document(self, path: Path, text: str) -> str:
        """Give a document's text with all that it names in it."""
        run = _Run(self, path)
        return self._spelled("\n".join(run.lines(self._spelled(text), path, ())))

    def _spelled(self, text: str) -> str:
        for name, words in self.macros.items():
            text = text.replace(f"{{{name}}}", words)
        return text

    def warn(self, document: Path, words: str) -> None:
        """Keep a sentence about a document, once."""
        name = document.relative_to(self.root) if document.is_relative_to(self.root) else document
        self.warnings[f"{name.as_posix()}: {words}"] = None


class _Run:
    """The files put into one document."""

    def __init__(self, assembly: Assembly, document: Path) -> None:
        self.assembly = assembly
        self.document = document
        self.files = 0
        self.characters = 0

    def lines(self, text: str, path: Path, trail: tuple[Path, ...]) -> Iterator[str]:
        """Give the lines of a text, each naming directive replaced by what it names."""
        lines = text.expandtabs(8).split("\n") if "\t" in text else text.split("\n")
        given = 0
        for number, _line, directive in markup_lines(lines):
            if directive is None or directive.name.lower() not in _NAMING or number < given:
                continue
            body = directive_body(lines, number, directive)
            put = self._put(directive, body, path, trail)
            if put is None:
                continue
            yield from lines[given:number]
            yield from put
            given = body.end
        yield from lines[given:]

    def _put(
        self, directive: DirectiveLine, body: DirectiveBody, path: Path, trail: tuple[Path, ...]
    ) -> Sequence[str] | None:
        name = directive.name.lower()
        named = directive.argument if name.endswith("include") else body.options.get("file", "")
        if not named:
            return None
        found = self._found(named, path)
        if found is None or (text := self._text(found, named, trail)) is None:
            return None
        if name == "include" and not {"literal", "code"} & set(body.options):
            self.assembly.included.add(found.resolve())
            part = "\n".join(_chosen(text.split("\n"), body.options))
            inner = self.lines(part, found, (*trail, found))
            return _indented(directive.lead, inner)
        return _verbatim(directive, body, _chosen(text.split("\n"), body.options))

    def _found(self, named: str, path: Path) -> Path | None:
        base = self.assembly.root if named.startswith("/") else path.parent
        found = Path(posixpath.normpath(base / named.lstrip("/")))
        if named.startswith("<"):  # docutils' own character tables
            return None
        if not is_inside(found, self.assembly.within) or not found.is_file():
            self.assembly.warn(self.document, f"it includes {named}, which is not there.")
            return None
        return found

    def _text(self, found: Path, named: str, trail: tuple[Path, ...]) -> str | None:
        if found in trail or len(trail) >= _DEEPEST:
            self.assembly.warn(self.document, f"{named} includes itself; it is put in once.")
            return None
        try:
            text = load_text(found, self.assembly.within)
        except UnreadableBook as error:
            self.assembly.warn(self.document, f"it includes {named}. {error.what}")
            return None
        self.files += 1
        self.characters += len(text)
        self.assembly.characters += len(text)
        if (
            self.files > _MOST_FILES
            or self.characters > _MOST_TEXT
            or self.assembly.characters > _MOST_TEXT_OF_BOOK
        ):
            self.assembly.warn(self.document, "it includes too much; the rest is not put in.")
            return None
        return text


def _indented(lead: str, lines: Iterator[str]) -> list[str]:
    """Set lines where a directive stood; what comes before it on its line stays there."""
    blank = " " * len(lead)
    found = [f"{blank}{line}" if line else line for line in lines]
    if lead.strip() and found:
        found[0] = lead + found[0][len(lead) :]
    return ["", *found, ""] if not lead.strip() else [*found, ""]


def _verbatim(directive: DirectiveLine, body: DirectiveBody, content: Sequence[str]) -> list[str]:
    """Write a directive that holds what the one given only names."""
    name = directive.name.lower()
    blank = " " * len(directive.lead)
    argument = directive.argument
    options = dict(body.options)
    if name.endswith("include"):
        name, caption = "code-block", options.get("caption")
        argument = options.get("language") or options.get("code") or _language(argument)
        options = {"caption": caption or directive.argument} if caption is not None else {}
    options.pop("file", None)
    head = f"{directive.lead}.. {name}:: {argument}".rstrip()
    fields = [f"{blank}   :{key}: {value}".rstrip() for key, value in options.items()]
    return [head, *fields, "", *(f"{blank}   {line}".rstrip() for line in content), ""]


def _language(named: str) -> str:
    suffix = posixpath.splitext(named)[1].lstrip(".").lower()
    known = {"py": "python", "cpp": "cpp", "hpp": "cpp", "c": "c", "sh": "bash", "yml": "yaml"}
    return known.get(suffix, suffix if re.fullmatch(r"[a-z]+", suffix) else "")


def _chosen(lines: list[str], options: Mapping[str, str]) -> list[str]:
    """Give the lines of a file that the options of its include choose."""
    if numbers := options.get("lines"):
        chosen = islice(_numbers(numbers, len(lines)), len(lines))
        lines = [lines[number] for number in chosen]
    start, end = _number(options.get("start-line")), _number(options.get("end-line"))
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
        lines = _python_object(lines, name)
    return _dedented(lines, options)


def _number(words: str | None) -> int | None:
    return int(words) if words and re.fullmatch(r"-?\d{1,9}", words) else None


def _numbers(words: str, count: int) -> Iterator[int]:
    """Read "1,3-5,8-" as numbers of lines counted from 0."""
    for part in words.split(","):
        match = re.fullmatch(r"\s*(\d{0,9})\s*(-?)\s*(\d{0,9})\s*", part)
        if match and (match[1] or match[3]):
            first = max(int(match[1] or 1), 1)
            last = int(match[3] or count) if match[2] else first
            yield from range(first - 1, min(last, count))


def _python_object(lines: list[str], name: str) -> list[str]:
    """Give the lines of a function or class by its dotted name."""
    for part in name.split("."):
        opening = re.compile(rf"(\s*)(?:async\s+)?(?:def|class)\s+{re.escape(part)}\b")
        start = next((n for n, line in enumerate(lines) if opening.match(line)), None)
        if start is None:
            return lines
        indent = len(lines[start]) - len(lines[start].lstrip())
        end = start + 1
        while end < len(lines) and (
            not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
        ):
            end += 1
        lines = lines[start:end]
    return lines


def _dedented(lines: list[str], options: Mapping[str, str]) -> list[str]:
    if "dedent" not in options:
        return lines
    filled = [line for line in lines if line.strip()]
    least = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    return [line[min(_number(options["dedent"]) or least, least) :] for line in lines]
