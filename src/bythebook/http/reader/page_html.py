"""The pages of a book put together: contents, text and the place to ask beside each other."""

from html import escape

from fastapi.responses import HTMLResponse

from bythebook.domain.books import Book, Document
from bythebook.http.layout import page
from bythebook.http.reader.contents import contents_beside, whole_contents
from bythebook.http.reader.outline import Leaf, Outline
from bythebook.http.reader.panel import ask_panel, scripts
from bythebook.http.reader.search_html import search_box
from bythebook.http.reading import Mark, document_html, opens_with_title

CHANGED = (
    '<p class="changed" role="note">The quoted passage has changed since this link was made. '
    "Here is the page as it stands now.</p>"
)


def title_page(
    book: Book, outline: Outline, only: Document | None, *, may_ask: bool
) -> HTMLResponse:
    """Show what a book holds and a way to begin; `only` is the page of a book that has but one."""
    first = outline.pages[:1]
    begin = f'<p><a class="begin" href="{first[0].url}">Begin reading</a></p>' if first else ""
    chapters, pages = len(outline.chapters), len(outline.pages)
    size = f"{pages} {'page' if pages == 1 else 'pages'}"
    if 1 < chapters < pages:
        size = f"{chapters} chapters, {size}"
    body = (
        f'<h1 dir="auto">{escape(book.title)}</h1><p class="quiet">{size}</p>{begin}'
        f'<h2>Contents</h2><nav aria-label="Contents">{whole_contents(outline, only)}</nav>'
    )
    return _set(book.title, "", f'<div class="title">{body}</div>', book, may_ask=may_ask)


def results_page(book: Book, words: str, results: str, *, may_ask: bool) -> HTMLResponse:
    """Show what a search found in a book."""
    link = f'<a href="/read/{book.book_id}" dir="auto">{escape(book.title)}</a>'
    back = f'<nav class="trail" aria-label="You are here">{link}</nav>'
    title = f"{words} · {book.title}"
    return _set(title, "", back + results, book, may_ask=may_ask, words=words)


def reader_page(
    book: Book,
    outline: Outline,
    document: Document,
    mark: Mark | None,
    *,
    changed: bool,
    may_ask: bool,
) -> HTMLResponse:
    """Show a page of a book, a quote in it marked."""
    heading = "" if opens_with_title(document) else f'<h1 dir="auto">{escape(document.title)}</h1>'
    text = (
        _trail(book, document)
        + (CHANGED if changed else "")
        + heading
        + f'<article dir="auto">{document_html(document, mark)}</article>'
        + _turning(*outline.beside(document.document_id))
    )
    contents = contents_beside(book, outline, document, mark)
    return _set(f"{document.title} · {book.title}", contents, text, book, may_ask=may_ask)


def _set(
    title: str, contents: str, text: str, book: Book, *, may_ask: bool, words: str = ""
) -> HTMLResponse:
    columns = (
        f'<div class="columns">{contents}<main id="_text" tabindex="-1">{text}</main>'
        f"{ask_panel([book], may_ask=may_ask)}</div>"
    )
    tools = search_box(book, words) if may_ask else ""
    return page(title, columns, tools=tools, shape="reader", scripts=scripts(may_ask=may_ask))


def _trail(book: Book, document: Document) -> str:
    steps = [f'<a href="/read/{book.book_id}" dir="auto">{escape(book.title)}</a>']
    if document.chapter not in {"", document.title}:
        steps.append(f'<span dir="auto">{escape(document.chapter)}</span>')
    steps.append(f'<span aria-current="page" dir="auto">{escape(document.title)}</span>')
    items = "".join(f"<li>{step}</li>" for step in steps)
    return f'<nav class="trail" aria-label="You are here"><ol>{items}</ol></nav>'


def _turning(before: Leaf | None, after: Leaf | None) -> str:
    back = _step(before, "prev", "Previous") if before else ""
    on = _step(after, "next", "Next") if after else ""
    return f'<nav class="turning" aria-label="Pages">{back}{on}</nav>' if back or on else ""


def _step(page: Leaf, relation: str, word: str) -> str:
    return (
        f'<a rel="{relation}" href="{page.url}"><span class="kind">{word}</span> '
        f'<span dir="auto">{escape(page.title)}</span></a>'
    )
