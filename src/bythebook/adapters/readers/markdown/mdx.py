"""What only MDX or a site builder understands, taken out of Markdown; its words stay."""

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ADMONITION = re.compile(
    r"^([ \t]*):::+[ \t]*+(\w++)?[ \t]*+(?:\[([^\]]*)\]|\{[^}]*\}|([^{\[]*))[ \t]*+(?:\{[^}]*\})?[ \t]*$"
)
_COMMENT = re.compile(r"\{/\*(?:(?!\{/\*).)*?\*/\}", re.DOTALL)
# Both only where they are code: prose may begin a line with "import" or "export" too.
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
_TAB = re.compile(r"^[ \t]*<(?:TabItem|Tab)(?=[\s>])[^<>]*>", re.MULTILINE)
_TAG = re.compile(
    r"^[ \t]*</?(?:[A-Z][\w.]*|div|section|details|span|figure)(?:\s[^<>]*)?/?>[ \t]*$",
    re.MULTILINE,
)
_VALUE = r"""=(?:"([^"]*)"|'([^']*)'|\{['"`]([^'"`]*)['"`]\})"""
_LABEL = re.compile(rf"\b(?:label|title|alt){_VALUE}")
_TAB_VALUE = re.compile(rf"\bvalue{_VALUE}")
_FOOTNOTE = re.compile(r"^(?=\[\^[^\]\s]+\]:)", re.MULTILINE)


def without_mdx(source: str) -> str:
    """Give Markdown that a plain parser reads as the site's reader would; code stays as it is."""
    return "\n".join(run if is_code else _plain(run) for is_code, run in _runs(source))


def _runs(source: str) -> Iterator[tuple[bool, str]]:
    """Part a page into runs of lines inside and outside of code fences."""
    lines: list[str] = []
    fence = ""
    for line in source.split("\n"):
        mark = _FENCE.match(line)
        if not fence and mark:
            yield False, "\n".join(lines)
            lines, fence = [line], mark.group(1)
            continue
        lines.append(line)
        if fence and mark and mark.group(1).startswith(fence) and not line.strip(f" \t{fence[0]}"):
            yield True, "\n".join(lines)
            lines, fence = [], ""
    yield bool(fence), "\n".join(lines)


def _plain(text: str) -> str:
    text = _COMMENT.sub("", text)
    text = _EXPORT.sub("", _IMPORT.sub("", text))
    text = _TAB.sub(lambda match: _label(match.group(), (_LABEL, _TAB_VALUE)), text)
    text = _TAG.sub(lambda match: _label(match.group(), (_LABEL,)), text)
    # Else a note of one word would be taken for the address of a link, and be lost.
    text = _FOOTNOTE.sub(r"\\", text)
    return "\n".join(_titled(line) for line in text.split("\n"))


def _label(tag: str, names: Sequence[re.Pattern[str]]) -> str:
    """Give the words that a tag shows, as a paragraph."""
    for name in names:
        if found := name.search(tag):
            return f"\n\n{next((words for words in found.groups() if words), '')}\n\n"
    return "\n"


def _titled(line: str) -> str:
    """Give the title of an admonition's first line, and nothing for its last."""
    match = _ADMONITION.match(line) if line.lstrip().startswith(":::") else None
    if match is None:
        return line
    title = match.group(3) or match.group(4) or (match.group(2) or "").capitalize()
    return f"\n{match.group(1)}**{title}**\n" if title else ""
