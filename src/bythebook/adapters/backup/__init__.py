"""A data folder in one file, and back."""
