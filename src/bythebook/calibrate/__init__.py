"""A published book -> what scores mean for it: questions it answers against questions it does not."""
