"""The menus of a web page: the pages they list, in order, and their groups."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.letters import LetterCounts
from bythebook.adapters.readers.html.page.visible import extract_visible_text, get_classes

_MENU_CLASSES = frozenset(
    """sidebar sphinxsidebar wy-menu wy-menu-vertical toctree-wrapper bd-sidebar VPSidebar menu toc
    chapter summary book-summary side-nav sidenav nav-list book-menu""".split()
)
_CAPTIONS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_CAPTION_CLASSES = frozenset({"caption", "part-title", "menu__category", "sidebar-title"})
_PREVIOUS_NEXT_CLASS = re.compile(
    r"pagination|pager|prev-?next|breadcrumb|relat(?:ed|ions)|page-?nav", re.IGNORECASE
)
_MIN_PAGES = 3  # pages in a menu; fewer may be previous and next links
_MAX_MENUS = 40
_MAX_LINKS = 5_000
_MAX_DEPTH = 64
_LINK_SHARE = 0.5


# Link -> key of the page; None if it is not a page of the book.
FindPage = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A page listed in a menu, and its group."""

    key: str
    group: str = ""  # empty if the page is in no group
    group_key: str = ""  # the page of the group itself


def find_menu(body: Element, counts: LetterCounts, page_at: FindPage) -> tuple[MenuEntry, ...]:
    """Return the menu that lists the most pages of the book."""
    best: tuple[MenuEntry, ...] = ()
    for menu in islice(_find_menus(body, counts), _MAX_MENUS):
        entries = list_entries(menu, page_at)
        best = entries if len(entries) > max(len(best), _MIN_PAGES - 1) else best
    return best


def list_entries(element: Element, page_at: FindPage) -> tuple[MenuEntry, ...]:
    """Return the pages that an element links to, each once; a single page is not a list."""
    entries: dict[str, MenuEntry] = {}
    for link in islice(_find_links(element), _MAX_LINKS):
        key = page_at(link.href)
        if key and key not in entries:
            entries[key] = MenuEntry(
                key, link.group, (page_at(link.group_href) or "") if link.group_href else ""
            )
    return tuple(entries.values()) if len(entries) > 1 else ()


@dataclass(frozen=True, slots=True)
class _MenuLink:
    """A menu link as written."""

    href: str
    group: str
    group_href: str


def _find_menus(body: Element, counts: LetterCounts) -> Iterator[Element]:
    for element in body.iter("*"):
        if _PREVIOUS_NEXT_CLASS.search(element.get("class") or ""):
            continue
        is_named = element.tag == "nav" or element.get("role") == "navigation"
        may_be = element.tag == "aside" or not _MENU_CLASSES.isdisjoint(get_classes(element))
        if is_named or (may_be and counts.compute_link_share(element) >= _LINK_SHARE):
            yield element


def _find_links(menu: Element) -> Iterator[_MenuLink]:
    """Walk a menu in order; headings become groups if there are several."""
    found: list[tuple[str, _MenuLink]] = []  # with the heading above
    labels: dict[Element, tuple[str, str]] = {}
    caption = ""
    for element in islice(menu.iter("*"), 20 * _MAX_LINKS):
        if _is_caption(element):
            caption = _read_words(element) or caption
        href = element.get("href") if element.tag == "a" else None
        items = _find_items(element, menu) if href else None
        if href and items is not None:
            group, group_href = _find_group(items, labels)
            found.append((caption, _MenuLink(href, group, group_href)))
    captions = {caption for caption, _ in found if caption}
    for above, link in found:
        yield _MenuLink(link.href, above, "") if above and len(captions) > 1 else link


def _is_caption(element: Element) -> bool:
    if element.tag not in _CAPTIONS and _CAPTION_CLASSES.isdisjoint(get_classes(element)):
        return False
    if "part-title" not in get_classes(element) and any(
        ancestor.tag == "li" for ancestor in islice(element.iterancestors(), 8)
    ):
        return False
    return element.find(".//a") is None


def _find_items(link: Element, menu: Element) -> Sequence[Element] | None:
    """Return the list items around a link, innermost first; None for previous and next links."""
    items = []
    for ancestor in islice(link.iterancestors(), _MAX_DEPTH):
        if ancestor is menu:
            break
        if _PREVIOUS_NEXT_CLASS.search(ancestor.get("class") or ""):
            return None
        if ancestor.tag == "li":
            items.append(ancestor)
    return items


def _find_group(
    items: Sequence[Element], labels: dict[Element, tuple[str, str]]
) -> tuple[str, str]:
    """Return the label and the link of the outermost item that contains a list."""
    if not items:
        return "", ""
    top = items[-1]
    if top not in labels:
        labels[top] = _read_label(top) if top.find(".//li") is not None else ("", "")
    return labels[top]


def _read_label(item: Element) -> tuple[str, str]:
    """Read an item's text before its list; mdBook puts the list into a separate item."""
    words, href = _read_own_label(item)
    before = item.getprevious()
    if not words and before is not None and before.tag == "li":
        words, href = _read_own_label(before)
    return words, href


def _read_own_label(item: Element) -> tuple[str, str]:
    words, href = [item.text or ""], ""
    for child in item.iterchildren("*"):
        if child.tag in {"ul", "ol", "button", "input"} or child.find(".//li") is not None:
            continue
        words.append(_read_words(child))
        link = child if child.tag == "a" else child.find(".//a")
        href = href or (link.get("href") or "" if link is not None else "")
    return " ".join(" ".join(words).split()), href


def _read_words(element: Element) -> str:
    return re.sub(r"\s+", " ", extract_visible_text(element))[:200].strip()
