"""One web page: parsed, its main content found, and turned into typed blocks."""
