"""One relevance, r in [0, 1], and the scales on which the contracts show it."""

from collections.abc import Mapping

from bythebook.domain.calibrations import RelevanceMap
from bythebook.errors import WrongEmbedder

# Where r = 0.5 lies on the scale of each contract.
QUERY_BOUNDARY = 0.40  # A, on whose scale the rules for refusing are stated
RAG_BOUNDARY = 0.70  # B
CHAT_BOUNDARY = 0.70  # C
ASK_BOUNDARY = 0.30  # D, on whose scale retrieval quality is stated
# The sample book's dev questions and foreign ones are equally likely at 0.32. The map lies below: the judge can still
# refuse what was found, but not answer what it never read, and readers word questions less like the book than most.
_MEASURED: Mapping[str, RelevanceMap] = {
    "all-MiniLM-L6-v2": RelevanceMap(midpoint=0.26, slope=20.0),
}
# Guessed from where the cosines of these models are said to lie: a start for `bythebook calibrate`, and no more.
_GUESSED: Mapping[str, RelevanceMap] = {
    "cohere/embed-english": RelevanceMap(midpoint=0.42, slope=20.0),
    "cohere/embed-multilingual": RelevanceMap(midpoint=0.48, slope=20.0),
    "openai/text-embedding-3": RelevanceMap(midpoint=0.36, slope=20.0),
    "openai/text-embedding-ada": RelevanceMap(midpoint=0.80, slope=40.0),
    "openai/": RelevanceMap(midpoint=0.45, slope=20.0),  # for any other server: tried last
}
_MAPS: Mapping[str, RelevanceMap] = {**_MEASURED, **_GUESSED}
# What the judge was trained with: to it, all signals look as if this embedder had given them.
_READ_BY_THE_JUDGE = _MEASURED["all-MiniLM-L6-v2"]


def relevance_map(embedding_model: str) -> RelevanceMap:
    """Return the default map of an embedder, by the prefix of its name."""
    for family, found in _MAPS.items():
        if embedding_model.startswith(family):
            return found
    raise WrongEmbedder(
        f"What the scores of {embedding_model} mean has not been measured.",
        f"Use one of: {', '.join(_MAPS)}.",
    )


def is_measured(embedding_model: str) -> bool:
    """Return True if the default map of an embedder was fitted to questions, False if it was guessed."""
    return embedding_model.startswith(tuple(_MEASURED))


def as_the_judge_knows_it(signal: float, relevance: RelevanceMap) -> float:
    """Return the signal that the judge's own embedder gives for the same relevance.

    Cosines of another embedder lie elsewhere, and the judge would take them for surety or for doubt.
    """
    known = _READ_BY_THE_JUDGE
    return known.midpoint + (signal - relevance.midpoint) * relevance.slope / known.slope


def on_scale(relevance: float, boundary: float) -> float:
    """Show r on a contract's scale: straight lines through (0, 0), (0.5, boundary), (1, 1)."""
    if relevance <= 0.5:
        return relevance * 2 * boundary
    return boundary + (relevance - 0.5) * 2 * (1 - boundary)
