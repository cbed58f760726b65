"""How a question ended -> its record: never the answer, a chunk or the selection."""

from collections.abc import Sequence
from typing import Any

from bythebook.ask.show import (
    QUERY_BOUNDARY,
    cite_for_good,
    has_sufficient_context,
    merge_duplicates,
    on_scale,
)
from bythebook.domain.answers import Answered, NearestSection, Outcome, Passage, Refused
from bythebook.domain.records import CitedSection, QueryEntry
from bythebook.operate.incoming_question import IncomingQuestion

BORDERLINE_FROM, BORDERLINE_TO = 0.35, 0.45  # the scale in which the rules for refusing are stated


def entry_of_outcome(
    incoming: IncomingQuestion, found: Sequence[Passage], outcome: Outcome
) -> QueryEntry:
    """Describe a question that was answered or refused, by what retrieval found for it."""
    retrieved = incoming.mode == "standard_rag"
    best = max(found, key=lambda passage: passage.relevance, default=None)
    score = on_scale(best.relevance, QUERY_BOUNDARY) if best else None
    common = _common(incoming)
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
        has_sufficient_context=has_sufficient_context(merge_duplicates(found))
        if retrieved
        else None,
        cited_sections=_list_cited_sections(outcome) if isinstance(outcome, Answered) else (),
        nearest_section=_nearest_section(outcome),
        citation_ids=_list_citation_ids(outcome) if isinstance(outcome, Answered) else (),
    )


def entry_of_failure(incoming: IncomingQuestion) -> QueryEntry:
    """Describe a question that failed."""
    return QueryEntry(**_common(incoming), status="error")


def _common(incoming: IncomingQuestion) -> dict[str, Any]:
    scope = incoming.question.scope
    return {
        "request_id": incoming.request_id,
        "contract": incoming.contract,
        "mode": incoming.mode,
        "query_text": incoming.question.text,
        "created_at": incoming.received_at,
        "processing_time_ms": incoming.elapsed_ms,
        "session_id": incoming.session_id,
        "owner": incoming.caller.owner,
        "user_ip": incoming.caller.ip,
        "book_id": scope.section.book_id if scope.section else scope.book_id,
        "selected_text_length": incoming.selected_text_length,
    }


def _list_cited_sections(outcome: Answered) -> tuple[CitedSection, ...]:
    chunks = [cited.passage for sentence in outcome.sentences for cited in sentence.citations]
    places = dict.fromkeys(
        CitedSection(one.chunk.book_id, one.chunk.chapter, one.chunk.section)
        for one in chunks
        if not one.is_selection
    )
    return tuple(places)


def _list_citation_ids(outcome: Answered) -> tuple[str, ...]:
    cited = (one for sentence in outcome.sentences for one in sentence.citations)
    ids = (str(cite_for_good(one)) for one in cited if not one.passage.is_selection)
    return tuple(dict.fromkeys(ids))


def _nearest_section(outcome: Outcome) -> NearestSection | None:
    if isinstance(outcome, Refused) and outcome.nearest_sections:
        return outcome.nearest_sections[0]
    return None
