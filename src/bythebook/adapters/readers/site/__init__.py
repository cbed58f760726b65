"""Web sites read as books: politely, within bounds, and never into a private network."""
