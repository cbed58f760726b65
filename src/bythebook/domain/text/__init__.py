"""Plain text: its words, sentences and units, and one spelling of its notation."""
