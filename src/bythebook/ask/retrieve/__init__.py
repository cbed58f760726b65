"""Plan -> passages: the parts of the book nearest to a question."""
