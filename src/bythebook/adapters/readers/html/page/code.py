"""Code on a page: its lines and its language."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.visible import (
    extract_all_text,
    get_classes,
    is_element,
    is_hidden,
    is_line_number,
)

_LINE_CLASSES = frozenset({"token-line", "line", "view-line", "code-line", "cl"})
_LINE_TAGS = frozenset({"div", "li", "p", "tr"})
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight|brush:?)-([\w+#.-]+)$")
_GENERIC_LANGUAGES = frozenset({"default", "none", "text", "plaintext", "plain", "source", "auto"})
_ATTRIBUTES = ("data-language", "data-lang", "data-code-language")


def read_code(pre: Element) -> str:
    """Return code with its white space and without line numbers."""
    text = ""
    parts: list[str] = []
    for part in _iterate_parts(pre):
        if part == _NEW_LINE:
            part = "\n" if text and not text.endswith("\n") else ""
        if part:
            parts.append(part)
            text = part
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")


def read_line_numbers(pre: Element) -> str:
    """Return the line numbers shown next to the code."""
    found = (element for element in pre.iter() if is_element(element))
    return " ".join(
        " ".join(extract_all_text(element).split()) for element in found if is_line_number(element)
    )


def find_language(pre: Element) -> str:
    """Return the language named by the markup, on the block or around it."""
    child = pre.find("code")
    for element in (child, pre, *islice(pre.iterancestors(), 3)):
        if element is None:
            continue
        named = [element.get(name) for name in _ATTRIBUTES]
        named += [
            match.group(1) for name in get_classes(element) if (match := _LANGUAGE.match(name))
        ]
        for name in named:
            if name and name.lower() not in _GENERIC_LANGUAGES:
                return name.lower()
    return ""


_NEW_LINE = "\0"  # a line break is needed here unless there is one already


def _iterate_parts(root: Element) -> Iterator[str]:
    stack: list[tuple[Element, Iterator[Element]]] = [(root, iter(root))]
    yield root.text or ""
    while stack:
        element, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield (element.tail or "") if stack else ""
        elif _is_skipped(child):
            yield child.tail or ""
        else:
            yield "\n" if child.tag == "br" else ""
            yield _NEW_LINE if _is_line(child) else ""
            yield child.text or ""
            stack.append((child, iter(child)))


def _is_skipped(element: Element) -> bool:
    return (
        not is_element(element)
        or element.tag == "button"
        or is_hidden(element)
        or is_line_number(element)
    )


def _is_line(element: Element) -> bool:
    return element.tag in _LINE_TAGS or not _LINE_CLASSES.isdisjoint(get_classes(element))
