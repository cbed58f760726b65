"""docutils with our own directives and roles: source text becomes a parsed document."""
