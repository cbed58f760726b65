"""The embedded index on Qdrant Edge."""
