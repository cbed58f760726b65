"""HTML: what a person sees of a page, as typed blocks."""
