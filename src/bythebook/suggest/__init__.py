"""A published book -> questions that it verifiably answers, for readers who do not know what to ask."""

from bythebook.suggest.pipeline import WANTED, SuggestPorts, suggest

__all__ = ["WANTED", "SuggestPorts", "suggest"]
