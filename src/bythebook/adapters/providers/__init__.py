"""Providers on the network: models and embedders that are paid for, may be slow, and may fail."""
