"""What elements are used for when their tag names alone do not say."""

from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.visible import extract_visible_text, get_classes

HEADINGS = {f"h{level}": level for level in range(1, 7)}

_NOT_IN_CELLS = ("table", "pre", *HEADINGS)
_NOT_IN_LINES = (
    "p", "section", "article", "aside", "table", "pre", "ul", "ol", "dl", "blockquote",
    "figure", "img", "svg", "math", "form", "button", "nav", "header", "footer", "details", *HEADINGS,
)  # fmt: skip
_CAPTIONS = frozenset({"code-block-caption", "wp-caption-text", "caption-text", "figure-caption"})
_LONGEST_VERSE = 120  # characters
_LONGEST_STANZA = 400  # lines
_MAX_PARTS = 4000  # elements in a stanza


def is_data_table(table: Element) -> bool:
    """Return True if a table holds data; one that contains headings or code is only used for layout."""
    if table.get("role") in {"presentation", "none"}:
        return False
    cells = table.iterdescendants("td", "th")
    if next(cells, None) is None or next(cells, None) is None:
        return False
    return next(table.iterdescendants(*_NOT_IN_CELLS), None) is None


def is_short_glossary(glossary: Element) -> bool:
    """Return True if each definition is a line or two next to its term."""
    if next(glossary.iterdescendants("dl", "ul", "ol", *_NOT_IN_CELLS), None) is not None:
        return False
    return all(len(definition.findall("p")) < 2 for definition in glossary.iter("dd"))


def is_caption(element: Element) -> bool:
    """Return True if a division is the caption of an image or of code."""
    named = get_classes(element) if "class" in element.attrib else frozenset()
    is_named = not named.isdisjoint(_CAPTIONS) or any(
        name.startswith("codeBlockTitle") for name in named
    )
    return is_named and next(element.iterdescendants("div", *_NOT_IN_LINES), None) is None


def is_verse(group: Element) -> bool:
    """Return True if an element contains only short lines, like a stanza."""
    if not 1 < len(group) <= _LONGEST_STANZA or any(child.tag != "div" for child in group):
        return False
    if all(_has_divisions(child) for child in group):
        return False  # several stanzas, each a verse by itself
    parts = list(islice(group.iterdescendants(), _MAX_PARTS + 1))
    if len(parts) > _MAX_PARTS or any(part.tag in _NOT_IN_LINES for part in parts):
        return False
    return _has_no_own_text(group) and all(
        _has_no_own_text(part)
        if _has_divisions(part)
        else len(extract_visible_text(part)) <= _LONGEST_VERSE
        for part in parts
        if part.tag == "div"
    )


def _has_divisions(element: Element) -> bool:
    return next(element.iterdescendants("div"), None) is not None


def _has_no_own_text(element: Element) -> bool:
    """Return True if there is no text between its children."""
    return not (element.text or "").strip() and not any(
        (child.tail or "").strip() for child in element
    )
