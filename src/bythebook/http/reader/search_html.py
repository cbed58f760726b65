"""Searching in a book: the box, and what was found as a page that needs no script."""

from collections.abc import Sequence
from html import escape

from bythebook.ask.search import FoundSection
from bythebook.domain.books import Book


def search_box(book: Book, words: str = "") -> str:
    """Write the box; without scripts it leads to a page of results."""
    return (
        f'<form class="find" action="/read/{book.book_id}" role="search" aria-label="Search in this book" '
        f'data-book="{escape(book.book_id)}">'
        '<input type="search" name="q" maxlength="500" required autocomplete="off" '
        'aria-label="Search in this book" placeholder="Search in this book" '
        f'value="{escape(words)}"><button>Search</button></form>'
    )


def results_html(words: str, found: Sequence[FoundSection]) -> str:
    """List what was found, each with a link to its sentence."""
    if not found:
        return f"<h1>Nothing found for “{escape(words)}”</h1>"
    rows = "".join(_row(one) for one in found)
    return (
        f'<h1>Nearest to “{escape(words)}”</h1><ol class="results">{rows}</ol>'
        '<p class="quiet">These are the nearest sections, whether they answer or not.</p>'
    )


def _row(found: FoundSection) -> str:
    chapter = (
        f'<span class="place">{escape(found.chapter)}</span>'
        if found.chapter not in {"", found.section}
        else ""
    )
    return (
        f'<li dir="auto"><a href="{escape(found.reader_url)}">{escape(found.section)}</a>{chapter}'
        f'<p dir="auto">{escape(found.text)}</p></li>'
    )
