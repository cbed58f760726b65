"""A question in a conversation -> a question that stands alone."""
