"""Where a reader asks: the widget, and inside it the plain form that works without scripts."""

from collections.abc import Sequence
from html import escape

from bythebook.domain.books import Book
from bythebook.http.assets import READER, WIDGET, built

_PROMISE = (
    '<p class="quiet">Every sentence of an answer is quoted from the book, with a link to its '
    "place; what the book does not say is not answered.</p>"
)
_NEEDS_KEY = (
    '<p class="quiet">This service answers where its key is: ask on the site that this book '
    "belongs to.</p>"
)


def ask_form(question: str, chosen: str, books: Sequence[Book], name: str = "_q") -> str:
    """Write the form; its answer is a page of its own."""
    options = "".join(
        f'<option value="{book.book_id}"{" selected" if book.book_id == chosen else ""}>{escape(book.title)}</option>'
        for book in books
    )
    hidden = (
        f'<input type="hidden" name="book" value="{escape(books[0].book_id)}">'
        if len(books) == 1
        else ""
    )
    select = (
        f'<select name="book" aria-label="Book"><option value="">All books</option>{options}</select>'
        if len(books) > 1
        else hidden
    )
    return (
        f'<form class="ask" action="/" role="search" aria-label="Ask"><label for="{name}">Your question</label>'
        f'<input type="search" id="{name}" name="q" maxlength="500" required value="{escape(question)}">'
        f"<button>Ask</button>{select}</form>"
    )


def widget(books: Sequence[Book]) -> str:
    """Put the widget in the page, for one book or for all; without scripts its content is shown."""
    book = f' book="{escape(books[0].book_id)}"' if len(books) == 1 else ""
    form = _PROMISE + ask_form("", "", books)
    return f'<bythebook-ask mode="inline"{book}>{form}</bythebook-ask>'


def ask_panel(books: Sequence[Book], *, may_ask: bool) -> str:
    """Write the column to ask in; a page holds no key, so where one is needed it can only say so."""
    inside = widget(books) if may_ask else _NEEDS_KEY
    return f'<aside class="panel" id="_ask" aria-label="Ask the book">{inside}</aside>'


def scripts(*, may_ask: bool) -> str:
    """Name the scripts; none of them holds a page back."""
    names = (READER, WIDGET) if may_ask else (READER,)
    return "".join(f'<script src="{one.url}" defer></script>' for one in built(*names))
