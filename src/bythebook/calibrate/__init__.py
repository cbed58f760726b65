"""A published book -> what its scores mean, from questions it answers and questions it does not."""
