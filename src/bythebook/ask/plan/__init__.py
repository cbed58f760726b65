"""Question -> plan: how it will be answered, and its parts."""
