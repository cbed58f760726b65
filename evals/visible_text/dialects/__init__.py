"""Visible text of books in dialects of Markdown, of notebooks and of AsciiDoc, by rules independent of the readers."""
