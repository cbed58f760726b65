"""Quarto: books and sites of .qmd pages with cells, callouts and cross references."""
