"""One relevance, r in [0, 1], and the scales on which the contracts show it."""

from collections.abc import Mapping

from bythebook.domain.calibrations import RelevanceMap
from bythebook.errors import WrongEmbedder

# The sample book's dev questions and foreign ones are equally likely at 0.32. The map lies below: the judge can still
# refuse what was found, but not answer what it never read, and readers word questions less like the book than most.
_MAPS: Mapping[str, RelevanceMap] = {
    "all-MiniLM-L6-v2": RelevanceMap(midpoint=0.26, slope=20.0),
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
