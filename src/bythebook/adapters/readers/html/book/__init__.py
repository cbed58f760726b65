"""Pages as a book: what each page links to, their order, and their documents."""
