"""Jupyter notebooks: Markdown cells, code and what it put out."""
