"""Finds the article of a web page and removes the site navigation around it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.page.letters import LetterCounts, keep_outermost
from bythebook.adapters.readers.html.page.visible import (
    extract_visible_text,
    get_classes,
    is_hidden,
)

# Where generators put the page text, most reliable first: Docusaurus, VitePress, Starlight,
# Read the Docs, pydata, older Sphinx, Hugo's Docsy, older GitBook, WordPress, mdBook, MkDocs.
_ARTICLE_CLASSES = """theme-doc-markdown vp-doc sl-markdown-content bd-article td-content
    markdown-section entry-content md-content__inner md-content""".split()
_NAVIGATION_CLASS = re.compile(
    r"""(?:^|[\s_-])(?:breadcrumbs?|pagination(?:-nav)?|pager|prev-?next|page-?nav(?:igation)?
    |post-navigation|nav-?links|navfooter|navheader|nav-chapters|nav-wrapper|menu-bar|mobile-nav
    |tocbox|toc|toc-?list|tableofcontents|table-of-contents|on-this-page|page-toc|local-toc|contents
    |sidebar|side-?nav|navbar|nav-?menu|nav|navigation|menu|edit-this-page|edit-page(?:-link)?|edit-link
    |source-file|content__button|skip-?link|skip-to-content|related-?(?:posts|pages)|share|social
    |sphinxsidebar|related|rst-footer-buttons|footer)(?:$|[\s_-])""",
    re.IGNORECASE | re.VERBOSE,
)
_BANNER_CLASS = re.compile(
    r"(?:^|[\s_-])(?:cookie|consent|gdpr)[\w-]*(?:banner|notice|bar|popup|consent|dialog|modal)",
    re.IGNORECASE,
)
_BANNER_IDS = frozenset(
    """cookie-banner cookie-consent cookie-notice cookie-bar onetrust-consent-sdk
    onetrust-banner-sdk CybotCookiebotDialog""".split()
)
_SITE_LINK = re.compile(
    r"""(?:skip\ to\ (?:the\ )?(?:main\ )?content|(?:edit|improve|view|suggest|show|report)\b.{0,24}
    \b(?:page|github|gitlab|source|edits?|issue|bitbucket)\b.{0,12}|back\ to\ top)""",
    re.IGNORECASE | re.VERBOSE,
)
_HEAD_TAGS = frozenset(
    "base basefont link meta noscript object script style template title".split()
)
_INLINE_TAGS = frozenset("b code em i kbd small span strong sub sup".split())
_SECTIONING = frozenset({"article", "main", "section"})
_MAX_PROSE = 300  # characters outside links that navigation may have
_MAX_BANNER_LETTERS = 2_000  # letters of a possible cookie notice
_MAX_PARTS = 200  # articles on one page
_LINK_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class MainContent:
    """The element that contains the page's text, and the text removed around and inside it."""

    element: Element
    heading: str  # a level-one heading outside the element
    left_out: tuple[str, ...]


def extract_main_content(root: Element, counts: LetterCounts | None = None) -> MainContent:
    """Separate a page's text from its navigation; this changes the tree."""
    body = find_body(root)
    counts = counts or LetterCounts(body)
    found = find_main(body, counts)
    is_whole_page = found is None
    main = body if found is None else found
    wanted = [
        element
        for element in main.iterdescendants("*")
        if _is_navigation(element, counts) or (is_whole_page and _is_page_frame(element, counts))
    ]
    left_out = [_cut_out(element) for element in keep_outermost(main, wanted)]
    heading = "" if _has_heading(main) else _find_outer_heading(root, body)
    left_out += _collect_surrounding_text(body, main, heading)
    return MainContent(main, heading, tuple(text for text in left_out if text))


def find_body(root: Element) -> Element:
    """Return the body of a page; without a body tag, the parser puts visible elements into the head."""
    body = root.find("body")
    head = root.find("head")
    stray = [] if head is None else [child for child in head if child.tag not in _HEAD_TAGS]
    if body is None and stray:
        body = etree.SubElement(root, "body")
    if body is None:
        return root
    for place, element in enumerate(stray):
        body.insert(place, element)
    return body


def find_main(body: Element, counts: LetterCounts) -> Element | None:
    """Find the element that contains the page's text; None if nothing identifies it."""
    seen = [element for element in body.iter("*") if not is_hidden(element)]
    for name in _ARTICLE_CLASSES:
        if marked := [element for element in seen if name in (element.get("class") or "").split()]:
            return _find_common_ancestor(body, keep_outermost(body, marked))
    if marked := [element for element in seen if _is_sphinx_body(element)]:
        return _find_common_ancestor(body, keep_outermost(body, marked))
    for is_one in (_is_main, _is_article):
        if marked := [element for element in seen if is_one(element)]:
            found = _find_common_ancestor(body, keep_outermost(body, marked))
            if 2 * counts.count_prose(found) >= counts.count_prose(body):
                return None if found is body else found
    return None


def find_title(root: Element, main: MainContent) -> str:
    """Return the title shown on the page; empty if only the window has a title."""
    for heading in main.element.iter("h1"):
        if not is_hidden(heading) and (title := read_heading(heading)):
            return title
    return main.heading or read_property(root, "og:title")


def read_property(root: Element, name: str) -> str:
    """Return a property from the page's head."""
    for meta in root.iter("meta"):
        if name in ((meta.get("property") or "").lower(), (meta.get("name") or "").lower()):
            return " ".join((meta.get("content") or "").split())
    return ""


def read_heading(heading: Element) -> str:
    """Return the text of a heading without its permalink sign."""
    text = " ".join(extract_visible_text(heading).split())
    return re.sub(r"\s*[#¶§🔗]+$", "", text)


def _is_main(element: Element) -> bool:
    return element.tag == "main" or element.get("role") == "main"


def _is_sphinx_body(element: Element) -> bool:
    if element.get("itemprop") == "articleBody":
        return True
    return element.tag == "div" and "body" in get_classes(element) and element.get("role") == "main"


def _is_article(element: Element) -> bool:
    return element.tag == "article"


def _find_common_ancestor(body: Element, elements: Sequence[Element]) -> Element:
    """Find the smallest element that contains all the given elements."""
    if len(elements) > _MAX_PARTS:
        return body
    trail = [elements[0], *elements[0].iterancestors()]
    for other in elements[1:]:
        around = {other, *other.iterancestors()}
        trail = [element for element in trail if element in around]
    return trail[0]


def _is_page_frame(element: Element, counts: LetterCounts) -> bool:
    """Return True if an element frames a page whose main element is unknown."""
    if element.tag not in {"nav", "footer", "header", "aside"}:
        return False
    if any(ancestor.tag in _SECTIONING for ancestor in islice(element.iterancestors(), 64)):
        return False
    keeps_words = element.tag == "aside" or counts.has_h1(element)
    return not keeps_words or counts.compute_link_share(element) >= _LINK_SHARE


def _is_navigation(element: Element, counts: LetterCounts) -> bool:
    """Return True if an element inside an article is navigation."""
    if element.tag == "a":
        return _is_lone_link(element, counts)
    if _is_banner(element):
        return counts.count_all(element) <= _MAX_BANNER_LETTERS
    named = element.tag == "nav" or element.get("role") in {"navigation", "doc-toc"}
    if not named and not (
        element.tag in {"div", "aside", "ul", "ol", "footer", "section", "p"}
        and _NAVIGATION_CLASS.search(f"{element.get('class') or ''} {element.get('id') or ''}")
    ):
        return False
    if counts.compute_link_share(element) >= _LINK_SHARE:
        return counts.count_all(element) > 0
    return named and counts.count_unlinked(element) <= _MAX_PROSE


def _is_banner(element: Element) -> bool:
    return element.get("id") in _BANNER_IDS or bool(
        _BANNER_CLASS.search(element.get("class") or "")
    )


def _is_lone_link(link: Element, counts: LetterCounts) -> bool:
    """Return True if a link such as "Edit this page" stands alone, outside any sentence."""
    if counts.count_all(link) > 80 or (link.tail or "").strip():
        return False
    before, after = link.getprevious(), link.getnext()
    parent = link.getparent()
    if parent is None or ((parent.text if before is None else before.tail) or "").strip():
        return False
    if any(other is not None and other.tag in _INLINE_TAGS for other in (before, after)):
        return False
    return bool(_SITE_LINK.fullmatch(" ".join(extract_visible_text(link).split())))


def _has_heading(main: Element) -> bool:
    return any(read_heading(heading) for heading in main.iter("h1"))


def _find_outer_heading(root: Element, body: Element) -> str:
    """Find the page's heading outside the main element by comparing it with the window title."""
    window = " ".join((root.findtext(".//title") or "").split())
    names = {read_property(root, "og:title"), window, re.split(r"\s[|·–—»-]\s", window)[0]}
    for heading in body.iter("h1"):
        title = read_heading(heading)
        if title and title in names and not is_hidden(heading):
            return title
    return ""


def _collect_surrounding_text(body: Element, main: Element, heading: str) -> Iterator[str]:
    """Yield the visible text around the article, without the heading that is kept."""
    if main is body or main.getparent() is None:
        return
    _detach(main)
    lines = extract_visible_text(body).split("\n")
    if heading in lines:
        lines.remove(heading)
    yield "\n".join(lines)


def _cut_out(element: Element) -> str:
    """Remove an element and return its visible text."""
    text = "" if is_hidden(element) else extract_visible_text(element)
    _detach(element)
    return text


def _detach(element: Element) -> None:
    """Remove an element but keep the text that follows it."""
    parent, before, tail = element.getparent(), element.getprevious(), element.tail
    if parent is None:
        return
    element.tail = None
    parent.remove(element)
    if tail and before is not None:
        before.tail = f"{before.tail or ''} {tail}"
    elif tail:
        parent.text = f"{parent.text or ''} {tail}"
