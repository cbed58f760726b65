"""Kinds of Markdown books: Docusaurus, mdBook, Hugo and plain folders."""
