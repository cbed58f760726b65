"""The four contracts, search, feedback, health and metrics."""
