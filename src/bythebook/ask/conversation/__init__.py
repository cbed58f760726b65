"""What the turns of a conversation bring to a question, and what they were about."""
