"""The menus of a web page: which pages they list, in which order, under which headings."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.letters import LetterCounts
from bythebook.adapters.readers.html.visible import classes, visible_text

_MENU_CLASSES = frozenset(
    """sidebar sphinxsidebar wy-menu wy-menu-vertical toctree-wrapper bd-sidebar VPSidebar menu toc
    chapter summary book-summary side-nav sidenav nav-list book-menu""".split()
)
_CAPTIONS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CAPTION_CLASSES = frozenset({"caption", "part-title", "menu__category", "sidebar-title"})
_STEPS = re.compile(
    r"pagination|pager|prev-?next|breadcrumb|relat(?:ed|ions)|page-?nav", re.IGNORECASE
)
_FEWEST = 3  # pages that a menu lists; fewer may be steps to and fro
_MOST_MENUS = 40
_MOST_LINKS = 5_000
_DEEPEST = 64
_LINK_SHARE = 0.5


PageAt = Callable[[str], str | None]  # the key of the page that a link leads to; none: no page


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A page that a menu lists, and the group it stands in."""

    key: str
    group: str = ""  # empty: the page stands by itself
    group_key: str = ""  # the group's own page


def menu_of(body: Element, counts: LetterCounts, page_at: PageAt) -> tuple[MenuEntry, ...]:
    """Give the menu that lists the most pages of the book."""
    best: tuple[MenuEntry, ...] = ()
    for menu in islice(_menus(body, counts), _MOST_MENUS):
        entries = listed_in(menu, page_at)
        best = entries if len(entries) > max(len(best), _FEWEST - 1) else best
    return best


def listed_in(element: Element, page_at: PageAt) -> tuple[MenuEntry, ...]:
    """Give the pages that an element lists, each once; a single one makes no list."""
    entries: dict[str, MenuEntry] = {}
    for link in islice(_links(element), _MOST_LINKS):
        key = page_at(link.href)
        if key and key not in entries:
            entries[key] = MenuEntry(
                key, link.group, (page_at(link.group_href) or "") if link.group_href else ""
            )
    return tuple(entries.values()) if len(entries) > 1 else ()


@dataclass(frozen=True, slots=True)
class _MenuLink:
    """A link of a menu as it is written."""

    href: str
    group: str
    group_href: str


def _menus(body: Element, counts: LetterCounts) -> Iterator[Element]:
    for element in body.iter("*"):
        if _STEPS.search(element.get("class") or ""):
            continue
        is_named = element.tag == "nav" or element.get("role") == "navigation"
        may_be = element.tag == "aside" or not _MENU_CLASSES.isdisjoint(classes(element))
        if is_named or (may_be and counts.link_share(element) >= _LINK_SHARE):
            yield element


def _links(menu: Element) -> Iterator[_MenuLink]:
    """Walk a menu in order; a heading opens a group if there are several."""
    found: list[tuple[str, _MenuLink]] = []  # with the heading above
    labels: dict[Element, tuple[str, str]] = {}
    caption = ""
    for element in islice(menu.iter("*"), 20 * _MOST_LINKS):
        if _is_caption(element):
            caption = _words(element) or caption
        href = element.get("href") if element.tag == "a" else None
        items = _items(element, menu) if href else None
        if href and items is not None:
            group, group_href = _group(items, labels)
            found.append((caption, _MenuLink(href, group, group_href)))
    captions = {caption for caption, _ in found if caption}
    for above, link in found:
        yield _MenuLink(link.href, above, "") if above and len(captions) > 1 else link


def _is_caption(element: Element) -> bool:
    if element.tag not in _CAPTIONS and _CAPTION_CLASSES.isdisjoint(classes(element)):
        return False
    if "part-title" not in classes(element) and any(
        ancestor.tag == "li" for ancestor in islice(element.iterancestors(), 8)
    ):
        return False
    return element.find(".//a") is None


def _items(link: Element, menu: Element) -> Sequence[Element] | None:
    """Give the list items around a link, the innermost first; none for a step to and fro."""
    items = []
    for ancestor in islice(link.iterancestors(), _DEEPEST):
        if ancestor is menu:
            break
        if _STEPS.search(ancestor.get("class") or ""):
            return None
        if ancestor.tag == "li":
            items.append(ancestor)
    return items


def _group(items: Sequence[Element], labels: dict[Element, tuple[str, str]]) -> tuple[str, str]:
    """Give the label and the page of the outermost item that has a list in it."""
    if not items:
        return "", ""
    top = items[-1]
    if top not in labels:
        labels[top] = _label(top) if top.find(".//li") is not None else ("", "")
    return labels[top]


def _label(item: Element) -> tuple[str, str]:
    """Read what stands in an item before its list; mdBook puts the list into an item of its own."""
    words, href = _own_words(item)
    before = item.getprevious()
    if not words and before is not None and before.tag == "li":
        words, href = _own_words(before)
    return words, href


def _own_words(item: Element) -> tuple[str, str]:
    words, href = [item.text or ""], ""
    for child in item.iterchildren("*"):
        if child.tag in {"ul", "ol", "button", "input"} or child.find(".//li") is not None:
            continue
        words.append(_words(child))
        link = child if child.tag == "a" else child.find(".//a")
        href = href or (link.get("href") or "" if link is not None else "")
    return " ".join(" ".join(words).split()), href


def _words(element: Element) -> str:
    return re.sub(r"\s+", " ", visible_text(element))[:200].strip()
