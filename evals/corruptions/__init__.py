"""Clean drafts, and ways to corrupt them."""
