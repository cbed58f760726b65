"""The replies of a language model: lines of an answer as they arrive, and the forms of other roles."""
