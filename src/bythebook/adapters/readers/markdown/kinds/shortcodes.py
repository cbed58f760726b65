"""Finds Hugo's shortcodes in a page and replaces them by rendered text."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.markdown.syntax.guard import HostilePage
from bythebook.adapters.readers.markdown.syntax.mdx import split_code_runs

_ARGUMENTS = r"""((?:"(?:[^"\\]|\\.)*+"|`[^`]*+`|(?![>%]\}\})[^"`]){0,2000}+)"""
_SHORTCODE = re.compile(
    rf"\{{\{{([<%])\s*+(/?)\s*+([\w./-]*[\w])(?=[\s>%/]){_ARGUMENTS}[>%]\}}\}}", re.DOTALL
)
_ESCAPED = re.compile(r"\{\{([<%])/\*(.{0,2000}?)\*/([>%])\}\}", re.DOTALL)
_BROKEN = re.compile(r"\{\{[<%](?!/\*)[^{}]{0,2000}[>%]\}\}")
_ARGUMENT = re.compile(
    r"""(?:([\w-]+)\s*=\s*)?(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|([^\s"`=]+))""", re.DOTALL
)
_MAX_COUNT = 5_000
_MAX_NESTING = 30
_MAX_INDENT = 200


@dataclass(frozen=True, slots=True)
class Shortcode:
    """A shortcode as written in a page."""

    name: str
    named: dict[str, str]
    positional: tuple[str, ...]
    indent: str = ""  # of the line where it starts; its text gets the same indentation
    is_own_line: bool = False
    in_code: bool = False
    has_end: bool = False

    def get_argument(self, *names: str) -> str:
        """Return the first of the named arguments that has a value."""
        return next((self.named[name] for name in names if self.named.get(name)), "")

    def get_first_argument(self) -> str:
        """Return the first positional argument."""
        return self.positional[0] if self.positional else ""


Render = Callable[[Shortcode, str], str]


@dataclass(slots=True)
class _OpenShortcode:
    code: Shortcode
    parts: list[str] = field(default_factory=list)


def replace_shortcodes(body: str, render: Render) -> str:
    """Replace shortcodes from the inside out; show escaped ones as written."""
    if "{{<" not in body and "{{%" not in body:
        return body
    open_codes = [_OpenShortcode(Shortcode("", {}, ()))]
    if body.count("{{") > _MAX_COUNT:
        raise HostilePage(f"It has more than {_MAX_COUNT:,} shortcodes.")
    every = list(_SHORTCODE.finditer(body))
    ends = Counter(found.group(3) for found in every if found.group(2))
    at = 0
    for found, in_code in _locate_shortcodes(body, every):
        _append(open_codes, _clean(body[at : found.start()]))
        at = found.end()
        name = found.group(3)
        if found.group(2):
            ends[name] -= 1
            _close(open_codes, name, render)
            continue
        has_end = ends[name] > 0 and len(open_codes) < _MAX_NESTING
        code = _parse_shortcode(found, body, in_code=in_code, has_end=has_end)
        if code.has_end:
            open_codes.append(_OpenShortcode(code))
        else:
            _append(open_codes, render(code, ""))
    _append(open_codes, _clean(body[at:]))
    while len(open_codes) > 1:
        _end_innermost(open_codes, render)
    return "".join(open_codes[0].parts)


def _clean(text: str) -> str:
    """Remove malformed shortcodes and unescape escaped ones."""
    return _ESCAPED.sub(r"{{\1\2\3}}", _BROKEN.sub("", text)) if "{{" in text else text


def _locate_shortcodes(
    body: str, every: Sequence[re.Match[str]]
) -> Iterator[tuple[re.Match[str], bool]]:
    """Yield each shortcode, and True if it is in a code fence."""
    fences: list[tuple[int, int]] = []
    at = 0
    for is_code, run in split_code_runs(body):
        if is_code:
            fences.append((at, at + len(run)))
        at += len(run) + 1
    place = 0
    for found in every:
        while place < len(fences) and fences[place][1] <= found.start():
            place += 1
        yield found, place < len(fences) and fences[place][0] <= found.start()


def _parse_shortcode(found: re.Match[str], body: str, *, in_code: bool, has_end: bool) -> Shortcode:
    named: dict[str, str] = {}
    positional: list[str] = []
    written = found.group(4).strip()
    is_closed = written.endswith("/")
    for argument in _ARGUMENT.finditer(written.removesuffix("/")):
        name, quoted, raw, bare = argument.groups()
        value = quoted.replace('\\"', '"') if quoted is not None else raw or bare or ""
        if name:
            named[name] = value
        else:
            positional.append(value)
    line = body.rfind("\n", max(0, found.start() - _MAX_INDENT), found.start()) + 1
    before = body[line or max(0, found.start() - _MAX_INDENT) : found.start()]
    return Shortcode(
        found.group(3),
        named,
        tuple(positional),
        before if not before.strip(" \t>") else re.sub(r"[^ \t]", " ", before),
        is_own_line=not before.strip(" \t>"),
        in_code=in_code,
        has_end=has_end and not is_closed,
    )


def _append(open_codes: list[_OpenShortcode], text: str) -> None:
    open_codes[-1].parts.append(text)


def _close(open_codes: list[_OpenShortcode], name: str, render: Render) -> None:
    if all(open_code.code.name != name for open_code in open_codes[1:]):
        return
    while open_codes[-1].code.name != name:
        _end_innermost(open_codes, render)
    _end_innermost(open_codes, render)


def _end_innermost(open_codes: list[_OpenShortcode], render: Render) -> None:
    open_code = open_codes.pop()
    _append(open_codes, render(open_code.code, "".join(open_code.parts)))
