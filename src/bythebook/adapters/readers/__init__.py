"""Readers: a source becomes documents of typed blocks."""
