"""Measures a question set on a book, by the path that answers readers."""
