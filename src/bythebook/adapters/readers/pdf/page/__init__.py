"""One page: its characters become rows, columns, tables and paragraphs."""
