"""Requests and responses of the author's page."""
