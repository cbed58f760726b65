"""A book's contents as HTML: whole on its title page, unfolded at one page beside the text."""

from collections.abc import Callable, Iterator
from html import escape

from bythebook.domain.books import Book, Document, Section
from bythebook.http.reader.outline import Chapter, Leaf, Outline
from bythebook.http.reading import Mark, anchors_of, opens_with_title

_DEEPEST = 3  # levels of headings below a page's title that its contents show


def whole_contents(outline: Outline, only: Document | None = None) -> str:
    """List every page under its chapter; a book of one page is listed by its sections."""
    sections = _sections(only, None, outline.pages[0].url) if only else ""
    chapters = "".join(
        _chapter(chapter, _link, "".join(f"<li>{_link(page)}</li>" for page in chapter.below))
        for chapter in outline.chapters
    )
    return f'<ol class="contents">{chapters}</ol>{sections}'


def contents_beside(book: Book, outline: Outline, document: Document, mark: Mark | None) -> str:
    """List the chapters, of the page's own also its pages, and of the page its sections."""
    sections = _sections(document, mark)

    def entry(page: Leaf) -> str:
        is_here = page.document_id == document.document_id
        return _here(page) + sections if is_here else _link(page)

    def pages(chapter: Chapter) -> str:
        is_open = any(page.document_id == document.document_id for page in chapter.pages)
        return "".join(f"<li>{entry(page)}</li>" for page in chapter.below) if is_open else ""

    chapters = "".join(_chapter(one, entry, pages(one)) for one in outline.chapters)
    return (
        '<details class="contents-fold" id="_contents"><summary>Contents</summary>'
        f'<nav aria-label="Contents"><p class="book" dir="auto">'
        f'<a href="/read/{book.book_id}">{escape(book.title)}</a></p>'
        f'<ol class="contents">{chapters}</ol></nav></details>'
    )


def _chapter(chapter: Chapter, entry: Callable[[Leaf], str], pages: str) -> str:
    """Name a chapter, by its own page if it has one; folded, it leads to its first."""
    inner = f"<ol>{pages}</ol>" if pages else ""
    if chapter.opening:
        name = entry(chapter.opening)
    elif pages:
        name = f'<span class="chapter" dir="auto">{escape(chapter.title)}</span>'
    else:
        name = _link(chapter.pages[0], chapter.title)
    return f'<li class="part">{name}{inner}</li>'


def _here(page: Leaf) -> str:
    return f'<a href="{page.url}" aria-current="page" dir="auto">{escape(page.title)}</a>'


def _link(page: Leaf, title: str = "") -> str:
    return f'<a href="{page.url}" dir="auto">{escape(title or page.title)}</a>'


def _sections(document: Document, mark: Mark | None, url: str = "") -> str:
    anchors = anchors_of(document, mark)
    rows = "".join(
        f'<li class="depth-{depth}"><a href="{url}#{escape(anchors[one.start])}" dir="auto">'
        f"{escape(one.title)}</a></li>"
        for depth, one in _ranked(document)
    )
    return f'<ol class="sections">{rows}</ol>' if rows else ""


def _ranked(document: Document) -> Iterator[tuple[int, Section]]:
    """Give the sections with their depth, but not the page's own title, which stands above them."""
    below = document.sections[1:] if opens_with_title(document) else document.sections
    least = min((len(one.path) for one in below), default=0)
    for one in below:
        depth = len(one.path) - least + 1
        if one.title and depth <= _DEEPEST:
            yield depth, one
