"""ByTheBook: answers only from the book, each sentence with its quote."""

__all__ = ["__version__"]
__version__ = "0.1.0"
