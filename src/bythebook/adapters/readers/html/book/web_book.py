"""Turns web pages into the documents of a book."""

from collections.abc import Mapping
from functools import cache, partial

from bythebook.adapters.readers.html.book.reading_order import arrange_pages
from bythebook.adapters.readers.html.book.survey import PageSummary, RawPage
from bythebook.adapters.readers.html.book.web_pages import WebPage, WebPages, make_document_id
from bythebook.adapters.readers.html.page.blocks import add_blocks
from bythebook.adapters.readers.html.page.main_content import extract_main_content
from bythebook.adapters.readers.page_targets import PageTargets
from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    compute_fingerprint,
    make_document,
    make_github_anchor,
    make_unique,
)
from bythebook.domain.books import Document, Link, SourceDocument
from bythebook.errors import UnreadableBook


def make_source_documents(book: WebPages) -> tuple[SourceDocument, ...]:
    """Make the documents of a book, in reading order."""
    arranged = arrange_pages(book)
    seen: dict[str, int] = {}
    ids = {one.page.key: make_unique(make_document_id(one.page.path), seen) for one in arranged}
    surveys = {page.key: page.summary for page in book.pages}
    documents = []
    for one in arranged:
        place = Place(ids[one.page.key], one.title, one.chapter, one.page.url)
        links = _find_links(book, one.page, ids, surveys)
        mark = compute_fingerprint(
            "web page", place.document_id, place.title, place.chapter, place.url,
            one.page.raw.encoding, sorted((href, str(link)) for href, link in links.items()),
            one.page.raw.body, [str(book.find_picture(one.page, src)) for src in one.page.summary.pictures],
        )  # fmt: skip
        targets = PageTargets(links.get, partial(book.find_picture, one.page), one.page.url)
        read = cache(partial(read_page, one.page.raw, place, targets))
        documents.append(SourceDocument(place.document_id, mark, read))
    return tuple(documents)


def read_page(raw: RawPage, place: Place, targets: PageTargets) -> Document:
    """Read the text of a page, or raise UnreadableBook."""
    root = raw.parse()
    main = extract_main_content(root)
    plain = PlainText()
    add_blocks(plain, main.element, targets=targets)
    if not plain.blocks:
        raise UnreadableBook(
            "The page has no text.", "If a script creates it, provide the book in another format."
        )
    headless = not plain.opens_with_heading or plain.headings[0].level > 1
    if headless:
        plain = PlainText()
        plain.add_heading(main.heading or place.title, 1)
        add_blocks(plain, main.element, targets=targets)
    for text in main.left_out:
        plain.leave_out("navigation", text)
    return make_document(plain, place, make_github_anchor, headless=headless)


def _find_links(
    book: WebPages, page: WebPage, ids: Mapping[str, str], surveys: Mapping[str, PageSummary]
) -> dict[str, Link]:
    found = {}
    for href in page.summary.article_links:
        target = book.find_target(page, href)
        if target is None or href.strip() == "#":
            continue
        if target.key in ids:
            found[href] = _make_link(href, target.anchor, ids[target.key], surveys[target.key])
        elif target.key in book.missing:
            found[href] = Link(href, "", target.anchor)
    return found


def _make_link(href: str, anchor: str, document: str, summary: PageSummary) -> Link:
    """Return a link whose anchor exists; an anchor outside the article becomes a link to the page."""
    if not anchor or anchor in summary.article_ids:
        return Link(href, document, anchor)
    if anchor in summary.other_ids or anchor == "top" or anchor.startswith(":~:"):
        return Link(href, document)
    return Link(href, "", anchor)
