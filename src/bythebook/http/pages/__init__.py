"""Pages for people: home, books, failures, the contracts."""
