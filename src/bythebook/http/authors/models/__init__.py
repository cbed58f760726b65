"""What the author's page asks for and is told."""
