"""Results of an evaluation as a table, a page with plots, a page of misses and a floor for tests."""
