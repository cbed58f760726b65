"""For operators: logs, metrics, request counts and alerts."""
