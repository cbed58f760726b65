"""Question sets -> figures."""
