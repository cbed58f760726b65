"""Request -> question; answer -> response; nothing else."""
