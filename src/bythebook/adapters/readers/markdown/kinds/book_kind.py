"""A kind of Markdown book, and how its files become pages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bythebook.adapters.readers.markdown.kinds.includes import Expand
from bythebook.adapters.readers.markdown.pages import MarkdownPage, SourceFile
from bythebook.adapters.readers.markdown.syntax.page_syntax import PageSyntax
from bythebook.adapters.readers.plain_text import MakeAnchor


@dataclass(frozen=True, slots=True)
class BookKind:
    """A kind of book: where its pages are, how they are ordered, and what they include."""

    name: str
    root: Path
    files: Sequence[Path]
    list_pages: Callable[[Path, Sequence[SourceFile], str], Sequence[MarkdownPage]]
    choose_anchor_maker: Callable[[Iterable[str]], MakeAnchor]  # from the bodies of all pages
    syntax: PageSyntax
    expand: Expand  # returns the body of a page with its includes inserted
    list_warnings: Callable[[], Iterator[str]]  # called after all pages are expanded
    title: str | None = None
    # A file may hold several pages, each of which gets a path of its own.
    divide: Callable[[SourceFile], Sequence[SourceFile]] = lambda file: (file,)
