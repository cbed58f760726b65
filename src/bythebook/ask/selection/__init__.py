"""A reader's selection -> the section of the book in which it stands."""
