"""One vendor each, no decisions; vendor exceptions become ours here."""
