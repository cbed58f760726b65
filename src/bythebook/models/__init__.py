"""Bundled weights and their model cards; loaded by the adapters that run them."""
