"""Code as it stands on a page: its lines and its language."""

import re
from collections.abc import Iterator
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.visible import (
    all_text,
    classes,
    is_element,
    is_line_number,
    is_unseen,
)

_LINE_CLASSES = frozenset({"token-line", "line", "view-line", "code-line", "cl"})
_LINES = frozenset({"div", "li", "p", "tr"})
_LANGUAGE = re.compile(r"(?:language|lang|highlight-source|highlight|brush:?)-([\w+#.-]+)$")
_NO_LANGUAGE = frozenset({"default", "none", "text", "plaintext", "plain", "source", "auto"})
_ATTRIBUTES = ("data-language", "data-lang", "data-code-language")


def code_text(pre: Element) -> str:
    """Give code with its white space, without the numbers of its lines."""
    text = ""
    parts: list[str] = []
    for part in _parts(pre):
        if part == _NEW_LINE:
            part = "\n" if text and not text.endswith("\n") else ""
        if part:
            parts.append(part)
            text = part
    return "".join(parts).replace("\r\n", "\n").replace("\r", "\n").replace("\ufeff", "")


def line_numbers(pre: Element) -> str:
    """Give the numbers that stand beside the lines."""
    found = (element for element in pre.iter() if is_element(element))
    return " ".join(
        " ".join(all_text(element).split()) for element in found if is_line_number(element)
    )


def code_language(pre: Element) -> str:
    """Give the language that the markup names, on the block or around it."""
    child = pre.find("code")
    for element in (child, pre, *islice(pre.iterancestors(), 3)):
        if element is None:
            continue
        named = [element.get(name) for name in _ATTRIBUTES]
        named += [match.group(1) for name in classes(element) if (match := _LANGUAGE.match(name))]
        for name in named:
            if name and name.lower() not in _NO_LANGUAGE:
                return name.lower()
    return ""


_NEW_LINE = "\0"  # wanted before a line, unless there is one


def _parts(root: Element) -> Iterator[str]:
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
        or is_unseen(element)
        or is_line_number(element)
    )


def _is_line(element: Element) -> bool:
    return element.tag in _LINES or not _LINE_CLASSES.isdisjoint(classes(element))
