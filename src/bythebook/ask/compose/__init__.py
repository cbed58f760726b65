"""Evidence -> drafts: the book's own sentences, with what they need to be understood."""
