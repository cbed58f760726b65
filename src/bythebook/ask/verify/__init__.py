"""Drafts -> verified sentences: quotes, facts and support are checked before anything is shown."""
