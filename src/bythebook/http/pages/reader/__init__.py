"""The book itself as pages: its title page, its contents, its text, and what a search finds in it."""
