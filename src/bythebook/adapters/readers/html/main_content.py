"""The article of a web page, apart from what leads around on the site."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lxml import etree
from lxml.etree import _Element as Element

from bythebook.adapters.readers.html.letters import LetterCounts, outermost
from bythebook.adapters.readers.html.visible import classes, is_unseen, visible_text

# Where generators put the words of a page, the surest first: Docusaurus, VitePress, Starlight,
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
_OFF_PAGE_LINK = re.compile(
    r"""(?:skip\ to\ (?:the\ )?(?:main\ )?content|(?:edit|improve|view|suggest|show|report)\b.{0,24}
    \b(?:page|github|gitlab|source|edits?|issue|bitbucket)\b.{0,12}|back\ to\ top)""",
    re.IGNORECASE | re.VERBOSE,
)
_HEAD = frozenset("base basefont link meta noscript object script style template title".split())
_IN_LINE = frozenset("b code em i kbd small span strong sub sup".split())
_SECTIONING = frozenset({"article", "main", "section"})
_MOST_PROSE = 300  # characters outside links that navigation may still have
_MOST_OF_BANNER = 2_000  # letters of what may be a notice on cookies
_MOST_PARTS = 200  # articles of one page
_LINK_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class MainContent:
    """The element that holds a page's words, and what was taken from around and inside it."""

    element: Element
    heading: str  # a level-one heading that stands outside it
    left_out: tuple[str, ...]


def main_content(root: Element, counts: LetterCounts | None = None) -> MainContent:
    """Part a page's words from its navigation; the tree is changed on the way."""
    body = page_body(root)
    counts = counts or LetterCounts(body)
    found = find_main(body, counts)
    is_whole_page = found is None
    main = body if found is None else found
    wanted = [
        element
        for element in main.iterdescendants("*")
        if _leads_elsewhere(element, counts) or (is_whole_page and _is_frame(element, counts))
    ]
    left_out = [_take_out(element) for element in outermost(main, wanted)]
    heading = "" if _has_heading(main) else _outer_heading(root, body)
    left_out += _around(body, main, heading)
    return MainContent(main, heading, tuple(text for text in left_out if text))


def page_body(root: Element) -> Element:
    """Give the body of a page; what a page without a body tag shows was parsed into its head."""
    body = root.find("body")
    head = root.find("head")
    stray = [] if head is None else [child for child in head if child.tag not in _HEAD]
    if body is None and stray:
        body = etree.SubElement(root, "body")
    if body is None:
        return root
    for place, element in enumerate(stray):
        body.insert(place, element)
    return body


def find_main(body: Element, counts: LetterCounts) -> Element | None:
    """Find the element that holds the words of a page; none if nothing tells."""
    seen = [element for element in body.iter("*") if not is_unseen(element)]
    for name in _ARTICLE_CLASSES:
        if marked := [element for element in seen if name in (element.get("class") or "").split()]:
            return _common(body, outermost(body, marked))
    if marked := [element for element in seen if _is_sphinx_body(element)]:
        return _common(body, outermost(body, marked))
    for is_one in (_is_main, _is_article):
        if marked := [element for element in seen if is_one(element)]:
            found = _common(body, outermost(body, marked))
            if 2 * counts.prose(found) >= counts.prose(body):
                return None if found is body else found
    return None


def page_title(root: Element, main: MainContent) -> str:
    """Give what a page calls itself in its own words; empty if only its window has a title."""
    for heading in main.element.iter("h1"):
        if not is_unseen(heading) and (title := heading_text(heading)):
            return title
    return main.heading or property_of(root, "og:title")


def property_of(root: Element, name: str) -> str:
    """Give a property that a page's head names."""
    for meta in root.iter("meta"):
        if name in ((meta.get("property") or "").lower(), (meta.get("name") or "").lower()):
            return " ".join((meta.get("content") or "").split())
    return ""


def heading_text(heading: Element) -> str:
    """Give the words of a heading, without the sign that links to it."""
    text = " ".join(visible_text(heading).split())
    return re.sub(r"\s*[#¶§🔗]+$", "", text)


def _is_main(element: Element) -> bool:
    return element.tag == "main" or element.get("role") == "main"


def _is_sphinx_body(element: Element) -> bool:
    if element.get("itemprop") == "articleBody":
        return True
    return element.tag == "div" and "body" in classes(element) and element.get("role") == "main"


def _is_article(element: Element) -> bool:
    return element.tag == "article"


def _common(body: Element, elements: Sequence[Element]) -> Element:
    """Find the least element that holds all of some."""
    if len(elements) > _MOST_PARTS:
        return body
    trail = [elements[0], *elements[0].iterancestors()]
    for other in elements[1:]:
        around = {other, *other.iterancestors()}
        trail = [element for element in trail if element in around]
    return trail[0]


def _is_frame(element: Element, counts: LetterCounts) -> bool:
    """Say whether an element is the frame of a page of which nothing tells where its words are."""
    if element.tag not in {"nav", "footer", "header", "aside"}:
        return False
    if any(ancestor.tag in _SECTIONING for ancestor in islice(element.iterancestors(), 64)):
        return False
    keeps_words = element.tag == "aside" or counts.holds_h1(element)
    return not keeps_words or counts.link_share(element) >= _LINK_SHARE


def _leads_elsewhere(element: Element, counts: LetterCounts) -> bool:
    """Say whether an element of an article is none of its words."""
    if element.tag == "a":
        return _is_lone_link(element, counts)
    if _is_banner(element):
        return counts.whole(element) <= _MOST_OF_BANNER
    named = element.tag == "nav" or element.get("role") in {"navigation", "doc-toc"}
    if not named and not (
        element.tag in {"div", "aside", "ul", "ol", "footer", "section", "p"}
        and _NAVIGATION_CLASS.search(f"{element.get('class') or ''} {element.get('id') or ''}")
    ):
        return False
    if counts.link_share(element) >= _LINK_SHARE:
        return counts.whole(element) > 0
    return named and counts.unlinked(element) <= _MOST_PROSE


def _is_banner(element: Element) -> bool:
    return element.get("id") in _BANNER_IDS or bool(
        _BANNER_CLASS.search(element.get("class") or "")
    )


def _is_lone_link(link: Element, counts: LetterCounts) -> bool:
    """Say whether a link such as "Edit this page" stands by itself, in no sentence."""
    if counts.whole(link) > 80 or (link.tail or "").strip():
        return False
    before, after = link.getprevious(), link.getnext()
    parent = link.getparent()
    if parent is None or ((parent.text if before is None else before.tail) or "").strip():
        return False
    if any(other is not None and other.tag in _IN_LINE for other in (before, after)):
        return False
    return bool(_OFF_PAGE_LINK.fullmatch(" ".join(visible_text(link).split())))


def _has_heading(main: Element) -> bool:
    return any(heading_text(heading) for heading in main.iter("h1"))


def _outer_heading(root: Element, body: Element) -> str:
    """Find a page's own heading beside its words, by what the window calls the page."""
    window = " ".join((root.findtext(".//title") or "").split())
    names = {property_of(root, "og:title"), window, re.split(r"\s[|·–—»-]\s", window)[0]}
    for heading in body.iter("h1"):
        title = heading_text(heading)
        if title and title in names and not is_unseen(heading):
            return title
    return ""


def _around(body: Element, main: Element, heading: str) -> Iterator[str]:
    """Give the visible text around the article, without the heading that is taken along."""
    if main is body or main.getparent() is None:
        return
    _detach(main)
    lines = visible_text(body).split("\n")
    if heading in lines:
        lines.remove(heading)
    yield "\n".join(lines)


def _take_out(element: Element) -> str:
    """Remove an element, and give the words that are gone with it."""
    text = "" if is_unseen(element) else visible_text(element)
    _detach(element)
    return text


def _detach(element: Element) -> None:
    """Remove an element, but not the text that follows it."""
    parent, before, tail = element.getparent(), element.getprevious(), element.tail
    if parent is None:
        return
    element.tail = None
    parent.remove(element)
    if tail and before is not None:
        before.tail = f"{before.tail or ''} {tail}"
    elif tail:
        parent.text = f"{parent.text or ''} {tail}"
