"""PDF books: characters on pages become paragraphs, lists, tables and chapters."""
