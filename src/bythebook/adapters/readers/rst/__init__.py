"""reStructuredText books: Sphinx projects and plain folders."""
