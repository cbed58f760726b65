"""Who is let in, and how often: keys, limits, and the first key of a new service."""
