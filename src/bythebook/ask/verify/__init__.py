"""Drafts -> sentences that stand: quotes, facts and support are found before anything is shown."""
