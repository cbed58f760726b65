"""Providers on the network: models and embedders that cost money, may be slow and may fail."""
