"""MkDocs: the pages of its navigation, with admonitions, tabs, snippets and included code."""
