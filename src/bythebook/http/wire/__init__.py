"""Connections: how requests come in and answers go out."""
