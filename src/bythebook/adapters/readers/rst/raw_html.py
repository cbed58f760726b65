"""The words of HTML that stands raw in a document."""

from lxml import etree, html

_BREAKING = frozenset(
    """address article aside blockquote br dd details div dl dt figcaption figure footer form h1 h2
    h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot th thead tr
    ul""".split()
)
_HIDDEN = frozenset({"script", "style", "template", "head", "noscript"})


def html_words(fragment: str) -> str:
    """Give the words of raw HTML, one line per block element."""
    if not fragment.strip():
        return ""
    try:
        top = html.document_fromstring(f"<body>{fragment}</body>")
    except (etree.ParserError, ValueError):
        return ""
    lines = "".join(_words(top)).split("\n")
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)


def _words(top: html.HtmlElement) -> list[str]:
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
