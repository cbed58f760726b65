"""AsciiDoc: the common subset, read into the tokens that the Markdown reader walks."""
