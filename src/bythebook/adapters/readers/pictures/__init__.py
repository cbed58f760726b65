"""Pictures of books: found, checked by their bytes, cleaned, and named by their content."""
