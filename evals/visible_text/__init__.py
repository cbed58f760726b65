"""The words a person sees in a book, found by other code and libraries than the readers use."""
