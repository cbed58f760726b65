"""Sentences that verification dropped -> a warning about a model that makes too much up."""

import logging
from collections import deque
from collections.abc import Mapping, Sequence

_log = logging.getLogger("bythebook.models")
LAST = 200  # sentences of a model that count
MOST_DROPPED = 0.05  # of these, dropped: above it there is a warning


class ModelWatch:
    """Keeps the share of each model's sentences that were dropped."""

    def __init__(
        self, ladder: Sequence[str] = (), *, last: int = LAST, most: float = MOST_DROPPED
    ) -> None:
        self._ladder = tuple(ladder)  # models that may be set, each better than those before it
        self._last = last
        self._most = most
        self._dropped: dict[str, deque[bool]] = {}
        self._warned: set[str] = set()

    def sentence(self, model: str, *, dropped: bool) -> None:
        """Count a sentence that a model proposed; one warning when too many were dropped."""
        recent = self._dropped.setdefault(model, deque(maxlen=self._last))
        recent.append(dropped)
        if len(recent) < self._last:
            return
        share = sum(recent) / self._last
        if share <= self._most:
            self._warned.discard(model)
        elif model not in self._warned:
            self._warned.add(model)
            self._warn(model, share)

    def shares(self) -> Mapping[str, float]:
        """Return the share of dropped sentences among the last ones of each model."""
        return {model: sum(recent) / len(recent) for model, recent in self._dropped.items()}

    def next_better(self, model: str) -> str | None:
        """Return the next better model of those that may be set; None for the best or an unknown one."""
        names = [_strip_vendor(name) for name in self._ladder]
        place = (
            names.index(_strip_vendor(model)) + 1 if _strip_vendor(model) in names else len(names)
        )
        return self._ladder[place] if place < len(names) else None

    def _warn(self, model: str, share: float) -> None:
        better = self.next_better(model)
        advice = f"set BYTHEBOOK_LLM_MODEL to {better}" if better else "set a more capable model"
        _log.warning(
            "%.1f %% of the last %d sentences of %s were not supported by the book and were dropped: %s",
            100 * share,
            self._last,
            model,
            advice,
            extra={"model": model, "dropped_share": round(share, 4), "better": better},
        )


def _strip_vendor(name: str) -> str:
    """Return a model's name without its vendor: "openai/gpt-4" is "gpt-4"."""
    return name.rpartition("/")[2].lower()
