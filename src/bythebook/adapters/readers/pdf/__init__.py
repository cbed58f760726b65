"""PDF books: what a page shows, put back into chapters, paragraphs, lists and tables."""
