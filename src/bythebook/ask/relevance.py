"""One relevance, r in [0, 1], and the scales on which the contracts show it."""

from collections.abc import Mapping

from bythebook.domain.calibrations import RelevanceMap
from bythebook.errors import WrongEmbedder

# Fitted to the sample book's dev questions: where they and foreign questions are equally likely.
_MAPS: Mapping[str, RelevanceMap] = {
    "all-MiniLM-L6-v2": RelevanceMap(midpoint=0.33, slope=20.0),
}


def relevance_map(embedding_model: str) -> RelevanceMap:
    """Give the default map of an embedder, by the family its name begins with."""
    for family, fitted in _MAPS.items():
        if embedding_model.startswith(family):
            return fitted
    raise WrongEmbedder(
        f"What the scores of {embedding_model} mean has not been measured.",
        f"Use one of: {', '.join(_MAPS)}.",
    )


def on_scale(relevance: float, boundary: float) -> float:
    """Show r on a contract's scale: straight lines through (0, 0), (0.5, boundary), (1, 1)."""
    if relevance <= 0.5:
        return relevance * 2 * boundary
    return boundary + (relevance - 0.5) * 2 * (1 - boundary)
