"""Source -> documents -> chunks -> vectors -> a published generation."""
