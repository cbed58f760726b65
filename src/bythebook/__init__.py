"""ByTheBook: answers only from the book, each sentence with its quote."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bythebook.open_book import Answer, AsyncBook, Book, Citation

__all__ = ["Answer", "AsyncBook", "Book", "Citation", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the parts behind a name when it is first used; commands and the client need none of them."""
    if name in {"Answer", "AsyncBook", "Book", "Citation"}:
        from bythebook import open_book

        return getattr(open_book, name)
    raise AttributeError(f"module 'bythebook' has no attribute {name!r}")
