"""The visible text of a book, extracted by other code and libraries than the readers use."""
