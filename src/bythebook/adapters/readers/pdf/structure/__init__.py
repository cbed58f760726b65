"""The whole book: headings, chapters and documents made from the elements of its pages."""
