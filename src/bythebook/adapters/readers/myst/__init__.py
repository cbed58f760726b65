"""Jupyter Book and MyST: pages of Markdown with directives and roles, in the order of a table of contents."""
