"""JSX and HTML tags in Markdown, replaced by the words they show."""

import re
from collections.abc import Callable

DescribeTag = Callable[[str, str], str]  # a tag's name and source -> the words that it shows

_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_TAG = re.compile(r"</?([A-Za-z][\w.]*)(?=[\s/>])")
_UNSEEN = re.compile(r"<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_INLINE = frozenset("a abbr b br code em i kbd mark s samp small span strong sub sup u".split())
_STRING = re.compile(r"""\A\{\s*(['"`])(.*)\1\s*\}\Z""", re.DOTALL)
_QUOTES = "\"'`"


def strip_tags(text: str, describe_tag: DescribeTag, *, expressions: bool) -> str:
    """Remove tags, and in MDX also expressions in braces; inline code stays as it is."""
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
            end = _find_end(text, match.end(), ">")
            parts.append(_replace_tag(match.group(1), text[at:end], describe_tag))
            at = end
        elif expressions and text[at] == "{":
            end = _find_end(text, at + 1, "}")
            string = _STRING.match(text[at:end])
            parts.append(f"\n{string.group(2)}\n" if string else "")
            at = end
        else:
            parts.append(text[at])
            at += 1
    return "".join(parts)


def _replace_tag(name: str, tag: str, describe_tag: DescribeTag) -> str:
    words = "" if tag.startswith("</") else describe_tag(name, tag)
    if name.lower() == "br":
        return "\n"
    return words if name in _INLINE else f"\n\n{words}\n\n"


def _find_end(text: str, at: int, mark: str) -> int:
    """Find the end of a tag or an expression, skipping quotes and braces."""
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
