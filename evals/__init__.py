"""Question sets, and what measures the product on real books."""
