"""The text of raw HTML in a document."""

from lxml import etree, html

from bythebook.adapters.readers.html.page.tags import BLOCK_TAGS

_BREAKING = BLOCK_TAGS | {"br"}
_HIDDEN = frozenset({"script", "style", "template", "head", "noscript"})


def extract_html_text(fragment: str) -> str:
    """Return the text of raw HTML, one line per block element."""
    if not fragment.strip():
        return ""
    try:
        top = html.document_fromstring(f"<body>{fragment}</body>")
    except (etree.ParserError, ValueError):
        return ""
    lines = "".join(_iterate_words(top)).split("\n")
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)


def _iterate_words(top: html.HtmlElement) -> list[str]:
    parts: list[str] = []
    hidden = 0
    for event, element in etree.iterwalk(top, events=("start", "end", "comment", "pi")):
        tag = element.tag if isinstance(element.tag, str) else ""
        begins = event == "start"
        if tag in _HIDDEN:
            hidden += 1 if begins else -1
        if tag in _BREAKING:
            parts.append("\n")
        words = (element.text if tag else "") if begins else element.tail
        if not hidden and words:
            parts.append(" ".join(f".{words}.".split())[1:-1])
        if begins and not hidden and tag == "img":
            parts.append(str(element.get("alt") or ""))
    return parts
