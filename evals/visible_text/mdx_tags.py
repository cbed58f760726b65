"""JSX and HTML tags in Markdown, replaced by the words they show."""

import re
from collections.abc import Callable

ShownBy = Callable[[str, str], str]  # a tag's name and its source -> what it shows

_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(r"</?([A-Za-z][\w.]*)(?=[\s/>])")
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_INLINE = frozenset("a abbr b br code em i kbd mark s samp small span strong sub sup u".split())
_STRING = re.compile(r"""\A\{\s*(['"`])(.*)\1\s*\}\Z""", re.DOTALL)
_QUOTES = "\"'`"


def without_tags(text: str, shown_by: ShownBy, *, expressions: bool) -> str:
    """Take tags out, and in MDX what stands in braces; inline code stays as it is."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\\":
            parts.append(text[at : at + 2])
            at += 2
        elif match := _CODE.match(text, at) or _UNSEEN.match(text, at):
            parts.append(match.group() if text[at] == "`" else "")
            at = match.end()
        elif text[at] == "<" and (match := _TAG.match(text, at)):
            end = _closing(text, match.end(), ">")
            parts.append(_shown(match.group(1), text[at:end], shown_by))
            at = end
        elif expressions and text[at] == "{":
            end = _closing(text, at + 1, "}")
            string = _STRING.match(text[at:end])
            parts.append(f"\n{string.group(2)}\n" if string else "")
            at = end
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts)


def _shown(name: str, tag: str, shown_by: ShownBy) -> str:
    words = "" if tag.startswith("</") else shown_by(name, tag)
    if name.lower() == "br":
        return "\n"
    return words if name in _INLINE else f"\n\n{words}\n\n"


def _closing(text: str, at: int, mark: str) -> int:
    """Find where a tag or an expression ends, past what stands in quotes and braces."""
    depth = 0
    while at < len(text):
        char = text[at]
        if char == mark and depth == 0:
            return at + 1
        if char in _QUOTES and (depth or text[at - 1] in "={"):
            closing = text.find(char, at + 1)
            at = closing if closing > 0 else at
        elif char in "{}":
            depth += 1 if char == "{" else -1
        at += 1
    return len(text)
