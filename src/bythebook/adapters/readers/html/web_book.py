"""Web pages as the documents of a book."""

from collections.abc import Mapping
from functools import cache, partial

from bythebook.adapters.readers.html.blocks import add_blocks
from bythebook.adapters.readers.html.main_content import main_content
from bythebook.adapters.readers.html.reading_order import arrange
from bythebook.adapters.readers.html.survey import RawPage, Survey
from bythebook.adapters.readers.html.web_pages import WebPage, WebPages, document_id
from bythebook.adapters.readers.plain_text import (
    Place,
    PlainText,
    fingerprint,
    github_anchor,
    make_document,
    numbered,
)
from bythebook.domain.books import Document, Link, SourceDocument
from bythebook.errors import UnreadableBook


def source_documents(book: WebPages) -> tuple[SourceDocument, ...]:
    """Lay pages out as documents, in reading order."""
    arranged = arrange(book)
    seen: dict[str, int] = {}
    ids = {one.page.key: numbered(document_id(one.page.path), seen) for one in arranged}
    surveys = {page.key: page.survey for page in book.pages}
    documents = []
    for one in arranged:
        place = Place(ids[one.page.key], one.title, one.chapter, one.page.url)
        links = _links(book, one.page, ids, surveys)
        mark = fingerprint(
            "web page", place.document_id, place.title, place.chapter, place.url,
            one.page.raw.encoding, sorted((href, str(link)) for href, link in links.items()),
            one.page.raw.body,
        )  # fmt: skip
        read = cache(partial(read_page, one.page.raw, place, links))
        documents.append(SourceDocument(place.document_id, mark, read))
    return tuple(documents)


def read_page(raw: RawPage, place: Place, links: Mapping[str, Link]) -> Document:
    """Read the words of a page, or raise UnreadableBook."""
    root = raw.tree()
    main = main_content(root)
    plain = PlainText()
    add_blocks(plain, main.element, link=links.get)
    if not plain.blocks:
        raise UnreadableBook(
            "The page holds no words.", "If a script writes them, give the book in another form."
        )
    headless = not plain.headings or plain.headings[0].start > 0 or plain.headings[0].level > 1
    if headless:
        plain = PlainText()
        plain.add_heading(main.heading or place.title, 1)
        add_blocks(plain, main.element, link=links.get)
    for text in main.left_out:
        plain.leave_out("navigation", text)
    return make_document(plain, place, github_anchor, headless=headless)


def _links(
    book: WebPages, page: WebPage, ids: Mapping[str, str], surveys: Mapping[str, Survey]
) -> dict[str, Link]:
    found = {}
    for href in page.survey.article_links:
        target = book.leads_to(page, href)
        if target is None or href.strip() == "#":
            continue
        if target.key in ids:
            found[href] = _link(href, target.anchor, ids[target.key], surveys[target.key])
        elif target.key in book.gone:
            found[href] = Link(href, "", target.anchor)
    return found


def _link(href: str, anchor: str, document: str, survey: Survey) -> Link:
    """Check that the place is there; one beside the article is but the page to its reader."""
    if not anchor or anchor in survey.article_ids:
        return Link(href, document, anchor)
    if anchor in survey.other_ids or anchor == "top" or anchor.startswith(":~:"):
        return Link(href, document)
    return Link(href, "", anchor)
