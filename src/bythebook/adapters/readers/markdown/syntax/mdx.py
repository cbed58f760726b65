"""Removes markup that only MDX or a site builder understands, but keeps its text."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from bythebook.adapters.readers.admonitions import find_admonition_kind
from bythebook.adapters.readers.markdown.syntax.markers import (
    CLOSE,
    open_admonition,
    write_note_reference,
    write_note_start,
)

Flavour = Literal["mdx", "plain", "commonmark"]

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ADMONITION = re.compile(
    r"^([ \t]*):::+[ \t]*+(\w++)?[ \t]*+(?:\[([^\]]*)\]|\{[^}]*\}|([^{\[]*))[ \t]*+(?:\{[^}]*\})?[ \t]*$"
)
_HEADING_ID = re.compile(r"\{/\*[ \t]*+#([\w:.-]++)[ \t]*+\*/\}(?=[ \t]*$)", re.MULTILINE)
_COMMENT = re.compile(r"\{/\*(?:(?!\{/\*).)*?\*/\}", re.DOTALL)
# Both match code only: prose may also start a line with "import" or "export".
_IMPORT = re.compile(
    r"^import\s++(?:(?:[\w$]++|\*\s++as\s++\w++)?\s*+,?\s*+(?:\{[^{}]*\})?\s*+from\s++)?"
    r"(?:'[^'\n]+'|\"[^\"\n]+\");?[ \t]*$",
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export\s+(?:(?:default\s+)?(?:async\s+)?(?:function|class)\s+\w+\s*[({]"
    r"|(?:const|let|var)\s+[\w{[][^\n]*=|default\s[^\n]*[(){};=<]|[{*]).*?(?=\n\s*\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
_ATTRIBUTES = r"""(?:"[^"]*+"|'[^']*+'|\{(?:[^{}]|\{[^{}]*+\})*+\}|=>|[^<>"'{}`])*+"""
_TAB = re.compile(rf"^[ \t]*<(?:TabItem|Tab)(?=[\s>]){_ATTRIBUTES}>", re.MULTILINE)
_COMPONENT = re.compile(rf"^([ \t]*)</?([A-Z][\w.]*)(?:\s{_ATTRIBUTES})?/?>[ \t]*$", re.MULTILINE)
_TAG = re.compile(
    rf"^([ \t]*)</?(div|section|details|span|figure)(?:\s{_ATTRIBUTES})?/?>[ \t]*$", re.MULTILINE
)
_CODE_OR_TAG = re.compile(
    rf"(`+)(?!`).{{0,300}}?(?<!`)\1(?!`)|<[A-Za-z][\w.]*\s(?=[^<>]*\{{){_ATTRIBUTES}>", re.DOTALL
)
_BRACED = re.compile(
    r"""=\s*\{\s*(?:(?:(?:require|useBaseUrl)\(\s*)?(['"`])([^'"`{}]*)\1(?:\s*\)(?:\.default)?)?"""
    r"""|(?:[^{}]|\{[^{}]*\})*+)\s*\}"""
)
_VALUE = r"""\s*=\s*(?:"([^"]*)"|'([^']*)'|\{\s*['"`]([^'"`]*)['"`]\s*\})"""
_SHOWN = re.compile(
    rf"(?<=\s)(file-?[nN]ame|label|title|caption|summary|heading|alt|text|number){_VALUE}"
)
_TAB_VALUE = re.compile(rf"(?<=\s)(value){_VALUE}")
_ID = re.compile(r"""(?<=\s)id\s*=\s*(["'])([\w:.-]+)\1""")
_FOOTNOTE = re.compile(r"^\[\^([^\]\s]+)\]:[ \t]*", re.MULTILINE)
_REFERENCE = re.compile(r"\[\^([^\]\s]+)\]")


def remove_mdx(source: str, flavour: Flavour = "mdx") -> str:
    """Return Markdown that a plain parser reads as the site would; code is unchanged."""
    notes = frozenset(_FOOTNOTE.findall(source))
    return "\n".join(
        _unwrap_code(run, flavour)
        if is_code
        else _rewrite_prose(_rewrite_footnotes(run, notes), flavour)
        for is_code, run in split_code_runs(source)
    )


def _rewrite_footnotes(text: str, notes: Collection[str]) -> str:
    """Turn footnotes into paragraphs, and write their references as visible labels."""
    if not notes:
        return text
    text = _FOOTNOTE.sub(lambda found: f"\n{write_note_start(found.group(1))}", text)
    return _REFERENCE.sub(
        lambda found: (
            write_note_reference(found.group(1)) if found.group(1) in notes else found.group()
        ),
        text,
    )


def _unwrap_code(run: str, flavour: Flavour) -> str:
    """Return code unchanged, but remove the fence around MDX that Docusaurus renders."""
    opening, _, rest = run.partition("\n")
    if not opening.rstrip().endswith("mdx-code-block"):
        return run
    return remove_mdx(f"\n{rest.rpartition(chr(10))[0]}\n", flavour)


def split_code_runs(source: str) -> Iterator[tuple[bool, str]]:
    """Split a page into runs of lines inside and outside code fences."""
    lines: list[str] = []
    fence = ""
    for line in source.split("\n"):
        mark = _FENCE.match(line) if "`" in line or "~" in line else None
        if not fence and mark:
            if lines:
                yield False, "\n".join(lines)
            lines, fence = [line], mark.group(1)
            continue
        lines.append(line)
        if fence and mark and mark.group(1).startswith(fence) and not line.strip(f" \t{fence[0]}"):
            yield True, "\n".join(lines)
            lines, fence = [], ""
    if lines:
        yield bool(fence), "\n".join(lines)


def _rewrite_prose(text: str, flavour: Flavour) -> str:
    if flavour != "commonmark":
        text = _COMMENT.sub("", _HEADING_ID.sub(r"{#\1}", text)) if "{/*" in text else text
        text = _EXPORT.sub("", _IMPORT.sub("", text))
    if "<" in text:
        text = _TAB.sub(lambda match: _write_label(match.group(), "", _TAB_VALUE), text)
        text = _COMPONENT.sub(lambda match: _write_label(match.group(), match.group(2)), text)
    # In other flavours, the indented content of a tag would become code.
    if flavour == "mdx" and "<" in text:
        text = _TAG.sub(lambda match: _write_label(match.group(), match.group(2)), text)
        text = _CODE_OR_TAG.sub(_rewrite_tag, text) if "{" in text else text
    if flavour == "commonmark" or ":::" not in text:
        return text
    return "\n".join(_rewrite_admonition(line) for line in text.split("\n"))


def _rewrite_tag(found: re.Match[str]) -> str:
    """Rewrite a component's tag as HTML; inline code is unchanged."""
    if found.group(1):
        return found.group()
    return _BRACED.sub(lambda value: f'="{value.group(2) or ""}"', found.group())


def _write_label(tag: str, name: str, *others: re.Pattern[str]) -> str:
    """Return the visible attributes of a tag, each as a paragraph."""
    indent = re.match(r"[ \t]*", tag)
    shown = _find_shown_attributes(tag, (_SHOWN, *others))
    number, caption = shown.pop("number", ""), shown.get("caption", "")
    if number and caption:
        shown["caption"] = f"{name} {number}: {caption}"
    texts = list(shown.values())
    if named := _ID.search(tag):
        texts.insert(0, f'<a id="{named.group(2)}"></a>')
    words = "\n\n".join(f"{indent.group() if indent else ''}{text}" for text in texts)
    return f"\n\n{words}\n\n" if words else "\n"


def _find_shown_attributes(tag: str, patterns: Sequence[re.Pattern[str]]) -> dict[str, str]:
    for pattern in patterns:
        found = (match.groups() for match in pattern.finditer(tag))
        shown = {key: next((words for words in values if words), "") for key, *values in found}
        shown = {key: " ".join(words.split()) for key, words in shown.items() if words}
        if shown:
            return shown
    return {}


def _rewrite_admonition(line: str) -> str:
    """Replace the first line of an admonition by its title, and its last line by nothing."""
    match = (
        _ADMONITION.match(line) if line.lstrip().startswith(":::") and len(line) < 1000 else None
    )
    if match is None:
        return line
    indent, name = match.group(1), match.group(2) or ""
    title = match.group(3) or match.group(4) or name.capitalize()
    if not title:
        return f"\n{indent}{CLOSE}\n"
    opening = open_admonition(find_admonition_kind(name))
    return f"\n{indent}{opening}\n\n{indent}**{title}**\n"
