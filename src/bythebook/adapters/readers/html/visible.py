"""What of an element a person sees."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml.etree import _Element as Element

EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"

_NEVER_SEEN = frozenset(
    """audio base canvas datalist embed head iframe link meta noembed noframes noscript param rp
    script source style template title track video""".split()
)
_UNSEEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)
_ONLY_HEARD = frozenset(
    """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only
    a11y-hidden u-visually-hidden""".split()
)
_NUMBERS = frozenset(
    """linenos lineno linenodiv line-number line-numbers linenumber line-numbers-rows lnum
    gutter rouge-gutter hljs-ln-numbers react-syntax-highlighter-line-number""".split()
)
_WRITTEN = frozenset({"title", "desc", "text", "foreignObject", "foreignobject"})
_BRIEF = 20  # runs of text
_MOST_NUMBERS = 2000  # of lines in one element
_LONGEST_PAGE_NUMBER = 20  # characters
_PERMALINK_CLASSES = frozenset(
    """anchor anchor-link doc-anchor hash-link header-anchor header-link headerlink heading-anchor
    heading-link permalink headinglink self-link""".split()
)
_PERMALINK_WORDS = frozenset({"", "link", "permalink", "anchor", "direct link"})
_PERMALINK_LABEL = re.compile(
    r"^(?:direct link|permalink|permanent link|link to this|anchor)", re.IGNORECASE
)
_PERMALINK_SIGNS = frozenset({"#", "##", "¶", "§", "🔗", "⚓"})
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u2060\ufeff")
_LINE_BREAKING = frozenset(
    """address article aside blockquote body br caption dd details div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section
    summary table tbody td tfoot th thead tr tspan ul""".split()
)


def is_element(node: Element) -> bool:
    """Say whether it is an element: comments and instructions have no name."""
    name: object = node.tag
    return isinstance(name, str)


def all_text(element: Element) -> str:
    """Give every character in an element, seen or not."""
    return "".join(str(text) for text in element.itertext())


def brief_text(element: Element, most: int) -> str | None:
    """Give every character in an element, or none if it holds more runs of text than that."""
    texts = [str(text) for text in islice(element.itertext(), most + 1)]
    return None if len(texts) > most else "".join(texts)


def visible_text(element: Element) -> str:
    """Give the words of an element, a line per block."""
    lines = ("".join(_runs(element))).split("\n")
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)


def classes(element: Element) -> frozenset[str]:
    """Give the class names of an element."""
    return frozenset((element.get("class") or "").split())


def kinds(element: Element) -> frozenset[str]:
    """Give what an element says it is for: its epub:type and its role."""
    named = element.get(EPUB_TYPE) or element.get("epub:type") or ""
    return frozenset(f"{named} {element.get('role') or ''}".split())


def drawing_text(drawing: Element) -> str:
    """Give what is written in a drawing, and what it is called."""
    words: dict[str, None] = {}
    stack = [drawing]
    while stack:
        element = stack.pop()
        if element.tag in _WRITTEN:
            words[visible_text(element)] = None
        else:
            stack.extend(reversed(element))
    return " ".join(words)


def is_unseen(element: Element) -> bool:
    """Say whether a browser would not show it, whatever one clicks."""
    if element.tag in _NEVER_SEEN:
        return True
    hidden = element.get("hidden")
    if hidden is not None and hidden != "until-found":
        return element.get("role") != "tabpanel"  # the other tabs of a page are a click away
    if element.tag == "dialog" and element.get("open") is None:
        return True
    style = element.get("style")
    return style is not None and _UNSEEN_STYLE.search(style) is not None


def is_only_heard(element: Element) -> bool:
    """Say whether only a screen reader would tell it."""
    return "class" in element.attrib and not _ONLY_HEARD.isdisjoint(classes(element))


def is_line_number(element: Element) -> bool:
    """Say whether it counts the lines of code or verse."""
    if "class" not in element.attrib or _NUMBERS.isdisjoint(classes(element)):
        return False
    words = brief_text(element, _MOST_NUMBERS)
    return words is not None and not any(map(str.isalpha, words))


def is_page_number(element: Element) -> bool:
    """Say whether it marks where a printed page began."""
    if not element.attrib or kinds(element).isdisjoint({"pagebreak", "doc-pagebreak"}):
        return False
    words = brief_text(element, _BRIEF)
    return words is not None and len(words.strip()) <= _LONGEST_PAGE_NUMBER


def is_permalink(element: Element, *, in_heading: bool) -> bool:
    """Say whether a link is but the sign by which to link to a heading."""
    href = element.get("href") or ""
    if "#" not in href:
        return False
    words = (brief_text(element, _BRIEF) or "x").translate(_INVISIBLE).strip()
    label = element.get("aria-label") or element.get("title") or ""
    named = not _PERMALINK_CLASSES.isdisjoint(classes(element)) or _PERMALINK_LABEL.match(label)
    if named and (words.lower() in _PERMALINK_WORDS or not any(map(str.isalnum, words))):
        return True
    return words in _PERMALINK_SIGNS and (in_heading or href.startswith("#"))


def without_invisible(text: str) -> str:
    """Take out soft hyphens and joiners: they part a word for no eye."""
    return text.translate(_INVISIBLE)


def _runs(root: Element) -> Iterator[str]:
    stack: list[tuple[Element, Iterator[Element]]] = [(root, iter(root))]
    yield without_invisible(re.sub(r"\s+", " ", root.text or ""))
    while stack:
        element, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield "\n" if element.tag in _LINE_BREAKING else ""
            yield re.sub(r"\s+", " ", element.tail or "") if stack else ""
        elif not is_element(child) or is_unseen(child):
            yield re.sub(r"\s+", " ", child.tail or "")
        else:
            yield "\n" if child.tag in _LINE_BREAKING else ""
            yield without_invisible(re.sub(r"\s+", " ", child.text or child.get("alt") or ""))
            stack.append((child, iter(child)))
