"""The books for machines that read: llms.txt, Markdown, sitemaps, structured data."""
