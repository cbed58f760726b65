"""The sample book rendered as a site, an EPUB and a PDF, by code that knows no reader."""
