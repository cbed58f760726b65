"""A parsed document becomes plain text with typed blocks."""
