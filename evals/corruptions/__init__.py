"""Clean drafts, and ways to spoil them."""
