"""Who may come in, from where."""
