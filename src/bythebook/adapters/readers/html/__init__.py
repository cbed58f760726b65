"""HTML books: folders of pages, read as a person sees them."""
