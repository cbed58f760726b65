"""Web sites read as books: with pauses, within limits, and never from a private network."""
