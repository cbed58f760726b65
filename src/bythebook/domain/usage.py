"""What language models were paid for."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more calls, and their price where the provider tells it."""

    prompt: int = 0
    completion: int = 0
    usd: float | None = None  # none: the provider names no price

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt + self.completion

    def __add__(self, other: "Usage") -> "Usage":
        priced = [usd for usd in (self.usd, other.usd) if usd is not None]
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            sum(priced) if priced else None,
        )
