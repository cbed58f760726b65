"""Markdown and MDX text: front matter, blocks, inline markup and HTML fragments."""
