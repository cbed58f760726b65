"""The report sets: how each one is loaded, asked and summarised."""
