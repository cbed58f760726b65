"""What became of a question -> what is kept of it: never the answer, a chunk or the selection."""

from collections.abc import Sequence
from typing import Any

from bythebook.ask.confidence import folded, has_sufficient_context
from bythebook.ask.judge import BOUNDARY
from bythebook.ask.relevance import on_scale
from bythebook.domain.answers import Answered, NearestSection, Outcome, Passage, Refused
from bythebook.domain.records import CitedSection, QueryEntry
from bythebook.operate.asked import Asked

BORDERLINE_FROM, BORDERLINE_TO = 0.35, 0.45  # on the scale on which the rules for refusing stand


def ended_entry(asked: Asked, found: Sequence[Passage], outcome: Outcome) -> QueryEntry:
    """Describe a question that was answered or refused, by what retrieval found for it."""
    retrieved = asked.mode == "standard_rag"
    best = max(found, key=lambda passage: passage.relevance, default=None)
    score = on_scale(best.relevance, BOUNDARY) if best else None
    common = _common(asked)
    if common["book_id"] is None and best and retrieved:
        common["book_id"] = best.chunk.book_id
    return QueryEntry(
        **common,
        status="success" if isinstance(outcome, Answered) else "refused",
        refusal_type=outcome.refusal_type if isinstance(outcome, Refused) else None,
        refusal_reason=outcome.refusal_type if isinstance(outcome, Refused) else None,
        chunks_retrieved=len(found),
        top_chunk_score=score,
        raw_cosine=best.cosine if best else None,
        borderline=retrieved and score is not None and BORDERLINE_FROM <= score <= BORDERLINE_TO,
        has_sufficient_context=has_sufficient_context(folded(found)) if retrieved else None,
        cited_sections=_cited(outcome) if isinstance(outcome, Answered) else (),
        nearest_section=_nearest(outcome),
    )


def failed_entry(asked: Asked) -> QueryEntry:
    """Describe a question that no outcome came of."""
    return QueryEntry(**_common(asked), status="error")


def _common(asked: Asked) -> dict[str, Any]:
    scope = asked.question.scope
    return {
        "request_id": asked.request_id,
        "contract": asked.contract,
        "mode": asked.mode,
        "query_text": asked.text or asked.question.text,
        "created_at": asked.asked_at,
        "processing_time_ms": asked.elapsed_ms,
        "session_id": asked.session_id,
        "owner": asked.caller.owner,
        "user_ip": asked.caller.ip,
        "book_id": scope.section.book_id if scope.section else scope.book_id,
        "selected_text_length": asked.selected_text_length,
    }


def _cited(outcome: Answered) -> tuple[CitedSection, ...]:
    chunks = [cited.passage for sentence in outcome.sentences for cited in sentence.citations]
    places = dict.fromkeys(
        CitedSection(one.chunk.book_id, one.chunk.chapter, one.chunk.section)
        for one in chunks
        if not one.is_selection
    )
    return tuple(places)


def _nearest(outcome: Outcome) -> NearestSection | None:
    if isinstance(outcome, Refused) and outcome.nearest_sections:
        return outcome.nearest_sections[0]
    return None
