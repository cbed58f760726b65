"""Reads the inline markup of AsciiDoc as Markdown tokens."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from markdown_it.token import Token

from bythebook.adapters.readers.asciidoc.attributes import parse_list, substitute
from bythebook.adapters.readers.markdown.syntax.tokens import (
    make_code_span,
    make_emphasis,
    make_image,
    make_link,
    make_strong,
    make_text,
)

# Target of a cross reference -> address and words; both empty if it is unknown.
FindTarget = Callable[[str], tuple[str, str]]
_MAX_DEPTH = 12
_MAX_TEXT = 100_000  # characters of one paragraph
_TEXT = r"((?:\\\]|[^\]\\]|\\.){0,4000}?)"
_SCHEME = r"(?:https?|ftp|irc|mailto|file)"
_NAMED = (
    r"(?<!\w)(?:https?|ftp|irc|mailto|file|pass|indexterm2?|anchor|link|xref|image|icon|kbd|btn|menu"
    r"|footnote|footnoteref|stem|latexmath|asciimath)"
)
_MARKUP = re.compile(
    rf"""
    (?=[\\+(\[<*_`\#^~]|"`|'`|--|[ ]\+|{_NAMED}:)(?:  # passes over most characters at once
    (?P<escaped>\\(?=[*_`\#^~+{{<\[\\(]|{_SCHEME}:|\w+:))
    |(?P<raw>\+\+\+(?P<raw_text>.+?)\+\+\+|pass:[a-z,]*\[(?P<pass_text>{_TEXT})\])
    |(?P<hidden>\(\(\((?P<hidden_text>[^()]*(?:\([^()]*\)[^()]*)*)\)\)\)|indexterm:\[[^\]]*\])
    |(?P<term>\(\((?P<term_text>[^()]+(?:\([^()]*\)[^()]*)*)\)\)|indexterm2:\[(?P<term2>[^\]]*)\])
    |(?P<anchor>\[\[(?P<anchor_id>[\w:.-]+)(?:,[^\]]*)?\]\]|anchor:(?P<anchor2>[\w:.-]+)\[[^\]]*\])
    |(?P<xref><<(?P<xref_id>[^<>,\n]+?)(?:,\s*(?P<xref_text>[^<>]*?))?>>)
    |(?P<macro>(?P<name>link|xref|image|icon|kbd|btn|menu|footnote|footnoteref|stem|latexmath|asciimath|mailto)
        :(?!:)(?P<target>[^\s\[\]]*)\[(?P<inside>{_TEXT})\])
    |(?P<url>(?<![\w/]){_SCHEME}:(?://)?[^\s\[\]<>`"]+?)(?:\[(?P<url_text>{_TEXT})\]|(?=[\s\[\]<>`"]|[.,;:!?)']*(?:\s|$)))
    |(?P<angle><(?P<angle_url>{_SCHEME}://[^\s<>]+)>)
    |(?P<curved>"`(?P<curved_text>.+?)`"|'`(?P<curved_single>.+?)`')
    |(?P<code2>``(?P<code2_text>.+?)``)
    |(?P<code>(?<![\w;:}}`])`(?=\S)(?P<code_text>[^`\n]*?\S|[^`]{{1,2000}}?\S)`(?![\w`]))
    |(?P<plus2>\+\+(?P<plus2_text>.+?)\+\+)
    |(?P<plus>(?<![\w;:}}+])\+(?=\S)(?P<plus_text>[^+\n]*?\S)\+(?![\w+]))
    |(?P<strong2>\*\*(?P<strong2_text>.+?)\*\*)
    |(?P<strong>(?<![\w;:}}*])\*(?=\S)(?P<strong_text>[^*]{{0,2000}}?\S)\*(?![\w*]))
    |(?P<em2>__(?P<em2_text>.+?)__)
    |(?P<em>(?<![\w;:}}_])_(?=\S)(?P<em_text>[^_]{{0,2000}}?\S|[^\n]{{1,300}}?\S)_(?![\w_]))
    |(?P<mark2>(?:\[[^\[\]\n]*\])?\#\#(?P<mark2_text>.+?)\#\#)
    |(?P<mark>(?:(?<![\w])\[[^\[\]\n]*\]|(?<![\w&;:}}\#]))\#(?=\S)(?P<mark_text>[^\#]{{0,2000}}?\S)\#(?![\w\#]))
    |(?P<sup>\^(?=\S)(?P<sup_text>[^\s^]+)\^)
    |(?P<sub>~(?=\S)(?P<sub_text>[^\s~]+)~)
    |(?P<break>[ ]\+(?=\n|$))
    |(?P<dash>(?<=[\w\s])--(?=[\w\s])))
    """,
    re.VERBOSE | re.DOTALL,
)
_REPLACED = {"(C)": "\u00a9", "(R)": "\u00ae", "(TM)": "\u2122"}
_REPLACE = re.compile(r"\((?:C|R|TM)\)")


@dataclass(frozen=True, slots=True)
class AsciiDocInline:
    """Reads inline markup with the attributes and targets of a book."""

    attributes: Mapping[str, str]
    find_target: FindTarget

    def read(self, text: str, depth: int = 0) -> list[Token]:
        """Return the tokens of a text."""
        if depth == 0:
            text = substitute(text, self.attributes)
        if depth > _MAX_DEPTH or len(text) > _MAX_TEXT:
            return _write_words(text)
        found: list[Token] = []
        at = 0
        escaped = -1
        for mark in _iterate_marks(text):
            if mark.start == escaped:
                continue
            found.extend(_write_words(text[at : mark.start]))
            at = mark.end
            if mark.kind == "escaped":
                escaped = mark.end
                continue
            found.extend(self._write(mark, depth))
        return [*found, *_write_words(text[at:])]

    def _write(self, mark: "_Mark", depth: int) -> list[Token]:
        match mark.kind:
            case "strong" | "strong2":
                return make_strong(self.read(mark.text, depth + 1))
            case "em" | "em2":
                return make_emphasis(self.read(mark.text, depth + 1))
            case "code" | "code2":
                return [_make_code(mark.text, self)]
            case "mark" | "mark2" | "sup" | "sub" | "term":
                return self.read(mark.text, depth + 1)
            case "curved":
                opening, closing = _CURVED[mark.groups["curved_single"] is not None]
                inner = self.read(mark.text, depth + 1)
                return [*make_text(opening), *inner, *make_text(closing)]
            case "plus" | "plus2" | "raw":
                return _write_raw(mark.text, is_raw=mark.kind == "raw")
        return self._write_sign(mark) if mark.kind in _SIGNS else self._write_link(mark, depth)

    def _write_sign(self, mark: "_Mark") -> list[Token]:
        match mark.kind:
            case "anchor":
                return [Token("html_inline", "", 0, content=f'<a id="{mark.text}"></a>')]
            case "break":
                return [Token("hardbreak", "br", 0)]
            case "dash":
                return make_text("\u2014")
            case _:  # an entry of the index
                return []

    def _write_link(self, mark: "_Mark", depth: int) -> list[Token]:
        get = mark.groups.get
        match mark.kind:
            case "xref":
                return self._write_reference(get("xref_id") or "", get("xref_text") or "", depth)
            case "url":
                url = get("url") or ""
                words = _cut_attributes(get("url_text") or "")
                shown = (
                    self.read(words, depth + 1) if words else make_text(url.removeprefix("mailto:"))
                )
                return make_link(url, shown)
            case "angle":
                return make_link(get("angle_url") or "", make_text(get("angle_url") or ""))
            case _:
                inside = (get("inside") or "").replace("\\]", "]")
                return self._write_macro(get("name") or "", get("target") or "", inside, depth)

    def _write_reference(self, target: str, text: str, depth: int) -> list[Token]:
        address, words = self.find_target(target.strip())
        shown = self.read(text, depth + 1) if text.strip() else make_text(words)
        return make_link(address, shown)

    def _write_macro(self, name: str, target: str, inside: str, depth: int) -> list[Token]:
        match name:
            case "xref":
                return self._write_reference(target, _cut_attributes(inside), depth)
            case "link" | "mailto":
                words = _cut_attributes(inside)
                shown = self.read(words, depth + 1) if words else make_text(target)
                return make_link(f"mailto:{target}" if name == "mailto" else target, shown)
            case "image":
                return [make_image(target, read_alt(inside))]
            case "kbd" | "btn":
                return [make_code_span(inside)] if name == "kbd" else make_text(inside)
            case "menu":
                steps = [target, *(step.strip() for step in inside.split(">") if step.strip())]
                return make_text(" \u203a ".join(steps))
            case "footnote" | "footnoteref":
                inner = self.read(inside, depth + 1)
                return [*make_text(" ("), *inner, *make_text(")")] if inside.strip() else []
            case "stem" | "latexmath" | "asciimath":
                return [Token("math_inline", "math", 0, content=inside.strip(), markup="$")]
            case _:  # icons
                return []


@dataclass(frozen=True, slots=True)
class _Mark:
    kind: str
    start: int
    end: int
    groups: Mapping[str, str | None]

    @property
    def text(self) -> str:
        """What stands between the signs."""
        names = _INSIDE.get(self.kind, ())
        return next((text for name in names if (text := self.groups[name])), "")


_CURVED = (("\u201c", "\u201d"), ("\u2018", "\u2019"))
_SIGNS = frozenset({"anchor", "break", "dash", "hidden"})
_INSIDE = {
    "raw": ("raw_text", "pass_text"), "term": ("term_text", "term2"),
    "anchor": ("anchor_id", "anchor2"), "curved": ("curved_text", "curved_single"),
    **{
        name: (f"{name}_text",)
        for name in "code code2 plus plus2 strong strong2 em em2 mark mark2 sup sub".split()
    },
}  # fmt: skip
_KINDS = (
    "escaped raw hidden term anchor xref macro url angle curved code2 code plus2 plus strong2 strong "
    "em2 em mark2 mark sup sub break dash"
).split()


def _iterate_marks(text: str) -> "list[_Mark]":
    found = []
    for match in _MARKUP.finditer(text):
        groups = match.groupdict()
        kind = next(name for name in _KINDS if groups[name] is not None)
        found.append(_Mark(kind, match.start(), match.end(), groups))
    return found


def read_alt(inside: str) -> str:
    """Return the description of a picture from its attributes."""
    given = parse_list(inside)
    named = dict(given)
    return named.get("alt") or next((value for name, value in given[:1] if not name), "")


def _make_code(text: str, inline: AsciiDocInline) -> Token:
    """Make inline code; what passes as it is, and references in it, are resolved."""
    if passed := re.fullmatch(r"(\++)(.+)\1", text, re.DOTALL):
        return make_code_span(passed.group(2))
    children = inline.read(text, _MAX_DEPTH) if "pass:" not in text else inline.read(text, 1)
    return make_code_span("".join(child.content for child in children).replace("\n", " "))


def _write_raw(text: str, *, is_raw: bool) -> list[Token]:
    if not is_raw or "<" not in text:
        return make_text(text)
    parts = re.split(r"(<[^<>]*>)", text)
    return [
        Token("html_inline", "", 0, content=part) if part.startswith("<") else make_text(part)[0]
        for part in parts
        if part
    ]


def _cut_attributes(text: str) -> str:
    """Return the words of a link without its attributes, and without the caret of a new window."""
    text = text.replace("\\]", "]").strip()
    if "=" in text and (text.startswith('"') or re.search(r",\s*\w+=", text)):
        given = parse_list(text)
        text = next((value for name, value in given if not name), "")
    return text.removesuffix("^").strip()


def _write_words(text: str) -> list[Token]:
    """Make text with line breaks as Markdown has them."""
    if "(" in text:
        text = _REPLACE.sub(lambda found: _REPLACED[found.group()], text)
    found: list[Token] = []
    for place, line in enumerate(text.split("\n")):
        if place:
            found.append(Token("softbreak", "br", 0))
        found.extend(make_text(line))
    return found
