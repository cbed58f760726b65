"""The visible text of an element."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.tags import BLOCK_TAGS

XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
EPUB_TYPE = "{http://www.idpf.org/2007/ops}type"

_HIDDEN_TAGS = frozenset(
    """audio base canvas datalist embed head iframe link meta noembed noframes noscript param rp
    script source style template title track video""".split()
)
_HIDDEN_STYLE = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.I)
_SCREEN_READER_CLASSES = frozenset(
    """sr-only visually-hidden visuallyhidden screen-reader-text screen-reader-only
    a11y-hidden u-visually-hidden""".split()
)
_LINE_NUMBER_CLASSES = frozenset(
    """linenos lineno linenodiv line-number line-numbers linenumber line-numbers-rows lnum
    gutter rouge-gutter hljs-ln-numbers react-syntax-highlighter-line-number""".split()
)
_TEXT_TAGS = frozenset({"title", "desc", "text", "foreignObject", "foreignobject"})
_MAX_BRIEF_RUNS = 20  # runs of text
_MAX_NUMBERS = 2000  # line numbers in one element
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
_LINE_BREAKING = BLOCK_TAGS | frozenset("body br caption fieldset legend option tspan".split())


def is_element(node: Element) -> bool:
    """Return True for elements; comments and processing instructions have no tag name."""
    name: object = node.tag
    return isinstance(name, str)


def extract_all_text(element: Element) -> str:
    """Return all text of an element, visible or not."""
    return "".join(str(text) for text in element.itertext())


def extract_brief_text(element: Element, most: int) -> str | None:
    """Return all text of an element, or None if it contains more than `most` runs of text."""
    texts = [str(text) for text in islice(element.itertext(), most + 1)]
    return None if len(texts) > most else "".join(texts)


def extract_visible_text(element: Element) -> str:
    """Return the visible text of an element, one line per block."""
    lines = ("".join(_iterate_runs(element))).split("\n")
    return "\n".join(line for line in (" ".join(line.split()) for line in lines) if line)


def get_classes(element: Element) -> frozenset[str]:
    """Return the class names of an element."""
    return frozenset((element.get("class") or "").split())


def get_kinds(element: Element) -> frozenset[str]:
    """Return the purpose that an element declares: its epub:type and its role."""
    named = element.get(EPUB_TYPE) or element.get("epub:type") or ""
    return frozenset(f"{named} {element.get('role') or ''}".split())


def extract_drawing_text(drawing: Element) -> str:
    """Return the text and the title of a drawing."""
    words: dict[str, None] = {}
    stack = [drawing]
    while stack:
        element = stack.pop()
        if element.tag in _TEXT_TAGS:
            words[extract_visible_text(element)] = None
        else:
            stack.extend(reversed(element))
    return " ".join(words)


def find_image_target(image: Element) -> str:
    """Return the target of an image inside a drawing."""
    return image.get("href") or image.get(XLINK_HREF) or image.get("xlink:href") or ""


def is_hidden(element: Element) -> bool:
    """Return True if a browser never shows the element."""
    if element.tag in _HIDDEN_TAGS:
        return True
    hidden = element.get("hidden")
    if hidden is not None and hidden != "until-found":
        return element.get("role") != "tabpanel"  # the other tabs of a page are a click away
    if element.tag == "dialog" and element.get("open") is None:
        return True
    style = element.get("style")
    return style is not None and _HIDDEN_STYLE.search(style) is not None


def is_for_screen_readers(element: Element) -> bool:
    """Return True if only screen readers present the element."""
    return "class" in element.attrib and not _SCREEN_READER_CLASSES.isdisjoint(get_classes(element))


def is_line_number(element: Element) -> bool:
    """Return True if the element numbers the lines of code or verse."""
    if "class" not in element.attrib or _LINE_NUMBER_CLASSES.isdisjoint(get_classes(element)):
        return False
    words = extract_brief_text(element, _MAX_NUMBERS)
    return words is not None and not any(map(str.isalpha, words))


def is_page_number(element: Element) -> bool:
    """Return True if the element marks the start of a printed page."""
    if not element.attrib or get_kinds(element).isdisjoint({"pagebreak", "doc-pagebreak"}):
        return False
    words = extract_brief_text(element, _MAX_BRIEF_RUNS)
    return words is not None and len(words.strip()) <= _LONGEST_PAGE_NUMBER


def is_permalink(element: Element, *, in_heading: bool) -> bool:
    """Return True if a link is only a heading's permalink sign."""
    href = element.get("href") or ""
    if "#" not in href:
        return False
    words = (extract_brief_text(element, _MAX_BRIEF_RUNS) or "x").translate(_INVISIBLE).strip()
    label = element.get("aria-label") or element.get("title") or ""
    named = not _PERMALINK_CLASSES.isdisjoint(get_classes(element)) or _PERMALINK_LABEL.match(label)
    if named and (words.lower() in _PERMALINK_WORDS or not any(map(str.isalnum, words))):
        return True
    return words in _PERMALINK_SIGNS and (in_heading or href.startswith("#"))


def remove_invisible(text: str) -> str:
    """Remove soft hyphens and zero-width characters."""
    return text.translate(_INVISIBLE)


def _iterate_runs(root: Element) -> Iterator[str]:
    stack: list[tuple[Element, Iterator[Element]]] = [(root, iter(root))]
    yield remove_invisible(re.sub(r"\s+", " ", root.text or ""))
    while stack:
        element, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield "\n" if element.tag in _LINE_BREAKING else ""
            yield re.sub(r"\s+", " ", element.tail or "") if stack else ""
        elif not is_element(child) or is_hidden(child):
            yield re.sub(r"\s+", " ", child.tail or "")
        else:
            yield "\n" if child.tag in _LINE_BREAKING else ""
            yield remove_invisible(re.sub(r"\s+", " ", child.text or child.get("alt") or ""))
            stack.append((child, iter(child)))
