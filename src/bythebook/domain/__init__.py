"""The nouns: books, questions, answers. No I/O, no vendor."""
