"""Outcome -> its sources: cited passages first, then others judged relevant."""

from collections.abc import Iterator
from itertools import islice
from typing import Literal

from bythebook.ask.retrieve.relevance import ASK_BOUNDARY, on_scale
from bythebook.domain.answers import Answered, Judgement, Outcome, Passage, Source

Quality = Literal["Good", "Partial", "Poor"]
# Chance that a passage which the judge read holds the answer; chosen on the sample book's dev
# questions, where two answers in three then rest on two passages or more.
RELEVANT_FROM = 0.03
RELEVANT_UNREAD_FROM = 0.5  # relevance of a passage beyond those that the judge read
MOST_QUOTES = 3
GOOD_FROM, POOR_BELOW = 0.6, 0.3  # mean on that scale


def answer_sources(outcome: Answered) -> tuple[Source, ...]:
    """Return what an answer rests on: cited passages, then other relevant ones, each best first."""
    relevant = set(_iterate_relevant(outcome))
    sources = [
        Source(passage, bool(cited), tuple(_quotes(passage, cited, outcome.judgement)))
        for passage in outcome.passages
        if (cited := _list_cited_quotes(passage, outcome)) or passage in relevant
    ]
    return tuple(sorted(sources, key=lambda one: (not one.cited, -one.passage.relevance)))


def retrieval_quality(outcome: Outcome) -> Quality:
    """Return the quality of retrieval, by the outcome."""
    answered = isinstance(outcome, Answered)
    if isinstance(outcome, Answered):
        relevant = [source.passage for source in answer_sources(outcome)]
    else:
        relevant = list(_iterate_relevant(outcome))
    scores = [on_scale(passage.relevance, ASK_BOUNDARY) for passage in relevant]
    mean = sum(scores) / len(scores) if scores else 0.0
    if answered and len(scores) > 1 and mean >= GOOD_FROM:
        return "Good"
    return "Partial" if answered or mean >= POOR_BELOW else "Poor"


def _iterate_relevant(outcome: Outcome) -> Iterator[Passage]:
    judgement = outcome.judgement
    chances = [judgement.answerable * one for one in judgement.supports]
    for place, passage in enumerate(outcome.passages):
        read = place < len(chances)
        if chances[place] >= RELEVANT_FROM if read else passage.relevance >= RELEVANT_UNREAD_FROM:
            yield passage


def _list_cited_quotes(passage: Passage, outcome: Answered) -> list[str]:
    return [
        cited.quote
        for sentence in outcome.sentences
        for cited in sentence.citations
        if cited.passage == passage
    ]


def _quotes(passage: Passage, cited: list[str], judgement: Judgement) -> Iterator[str]:
    """Yield the quotes that show why a passage is a source: its cited quotes, then its best units."""
    found = (
        one.quote
        for one in judgement.evidence
        if one.passage == passage and judgement.answerable * one.support >= RELEVANT_FROM
    )
    yield from islice(dict.fromkeys((*cited, *found)), MOST_QUOTES)
