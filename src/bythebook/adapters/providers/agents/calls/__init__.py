"""The calls to a language model: the endpoint, a watched client, and runs of agents."""
