"""The replies of a language model: their forms, and how an answer is read as it arrives."""
