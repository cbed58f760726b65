"""Hugo's shortcodes, found in a page and replaced by what its reader sees."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.markdown.guard import HostilePage
from bythebook.adapters.readers.markdown.mdx import runs

_ARGUMENTS = r"""((?:"(?:[^"\\]|\\.)*+"|`[^`]*+`|(?![>%]\}\})[^"`]){0,2000}+)"""
_SHORTCODE = re.compile(
    rf"\{{\{{([<%])\s*+(/?)\s*+([\w./-]*[\w])(?=[\s>%/]){_ARGUMENTS}[>%]\}}\}}", re.DOTALL
)
_ESCAPED = re.compile(r"\{\{([<%])/\*(.{0,2000}?)\*/([>%])\}\}", re.DOTALL)
_BROKEN = re.compile(r"\{\{[<%](?!/\*)[^{}]{0,2000}[>%]\}\}")
_ARGUMENT = re.compile(
    r"""(?:([\w-]+)\s*=\s*)?(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|([^\s"`=]+))""", re.DOTALL
)
_MOST = 5_000
_DEEPEST = 30
_DEEPEST_INDENT = 200


@dataclass(frozen=True, slots=True)
class Shortcode:
    """A shortcode as it stands in a page."""

    name: str
    named: dict[str, str]
    positional: tuple[str, ...]
    indent: str = ""  # of the line that it opens; its text is to stand as deep
    is_own_line: bool = False
    in_code: bool = False
    has_end: bool = False

    def word(self, *names: str) -> str:
        """Give the first of some arguments that is there."""
        return next((self.named[name] for name in names if self.named.get(name)), "")

    def first(self) -> str:
        """Give the first argument that has no name."""
        return self.positional[0] if self.positional else ""


Render = Callable[[Shortcode, str], str]


@dataclass(slots=True)
class _Frame:
    code: Shortcode
    parts: list[str] = field(default_factory=list)


def replace_shortcodes(body: str, render: Render) -> str:
    """Replace shortcodes from the inside out; those in comments are shown as they are."""
    if "{{<" not in body and "{{%" not in body:
        return body
    frames = [_Frame(Shortcode("", {}, ()))]
    if body.count("{{") > _MOST:
        raise HostilePage(f"It has more than {_MOST:,} shortcodes.")
    every = list(_SHORTCODE.finditer(body))
    ends = Counter(found.group(3) for found in every if found.group(2))
    at = 0
    for found, in_code in _placed(body, every):
        _append(frames, _cleaned(body[at : found.start()]))
        at = found.end()
        name = found.group(3)
        if found.group(2):
            ends[name] -= 1
            _close(frames, name, render)
            continue
        has_end = ends[name] > 0 and len(frames) < _DEEPEST
        code = _shortcode(found, body, in_code=in_code, has_end=has_end)
        if code.has_end:
            frames.append(_Frame(code))
        else:
            _append(frames, render(code, ""))
    _append(frames, _cleaned(body[at:]))
    while len(frames) > 1:
        _end_frame(frames, render)
    return "".join(frames[0].parts)


def _cleaned(text: str) -> str:
    """Take out what is written like a shortcode and is none; show those that are escaped."""
    return _ESCAPED.sub(r"{{\1\2\3}}", _BROKEN.sub("", text)) if "{{" in text else text


def _placed(body: str, every: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], bool]]:
    """Give each shortcode with whether it stands in a code fence."""
    fences: list[tuple[int, int]] = []
    at = 0
    for is_code, run in runs(body):
        if is_code:
            fences.append((at, at + len(run)))
        at += len(run) + 1
    place = 0
    for found in every:
        while place < len(fences) and fences[place][1] <= found.start():
            place += 1
        yield found, place < len(fences) and fences[place][0] <= found.start()


def _shortcode(found: re.Match[str], body: str, *, in_code: bool, has_end: bool) -> Shortcode:
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
    line = body.rfind("\n", max(0, found.start() - _DEEPEST_INDENT), found.start()) + 1
    before = body[line or max(0, found.start() - _DEEPEST_INDENT) : found.start()]
    return Shortcode(
        found.group(3),
        named,
        tuple(positional),
        before if not before.strip(" \t>") else re.sub(r"[^ \t]", " ", before),
        is_own_line=not before.strip(" \t>"),
        in_code=in_code,
        has_end=has_end and not is_closed,
    )


def _append(frames: list[_Frame], text: str) -> None:
    frames[-1].parts.append(text)


def _close(frames: list[_Frame], name: str, render: Render) -> None:
    if all(frame.code.name != name for frame in frames[1:]):
        return
    while frames[-1].code.name != name:
        _end_frame(frames, render)
    _end_frame(frames, render)


def _end_frame(frames: list[_Frame], render: Render) -> None:
    frame = frames.pop()
    _append(frames, render(frame.code, "".join(frame.parts)))
