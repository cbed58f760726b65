"""EPUB books, version 2 and 3."""
