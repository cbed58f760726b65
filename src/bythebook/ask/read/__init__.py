"""Passages -> a verdict: whether they answer, how sure that is, and by which evidence."""
