"""The outcome of a run, with what led to it and its usage."""

from bythebook.ask.read.verdict import Verdict
from bythebook.ask.run import AnswerRun
from bythebook.ask.show.links import section_url
from bythebook.domain.answers import (
    Answered,
    Judgement,
    NearestSection,
    Outcome,
    Passage,
    RefusalType,
    Refused,
)


def end_run(run: AnswerRun, verdict: Verdict, disclaimer: str | None) -> Outcome:
    """Answer with the verified sentences; refuse if there are none."""
    if not run.sentences:
        selection = run.in_selection
        missing: RefusalType = "selected_text_missing" if selection else "insufficient_grounding"
        return refuse(run, missing, verdict.passages, verdict.judgement)
    return Answered(
        tuple(run.sentences),
        verdict.passages,
        verdict.judgement,
        disclaimer,
        run.plan.mode,
        run.clock.timings,
        run.model_used,
        run.usage.total,
        verdict.missing,
        fallback=run.failure is not None,
    )


def refuse(
    run: AnswerRun,
    refusal_type: RefusalType,
    passages: tuple[Passage, ...],
    judgement: Judgement,
) -> Refused:
    """Refuse, with the nearest sections."""
    near = passages or run.found[: run.plan.top_k]
    return Refused(
        refusal_type,
        find_nearest_sections(near, run.ports.reader_url),
        passages,
        judgement,
        run.plan.mode,
        run.clock.timings,
        run.model_used,
        run.usage.total,
    )


def find_nearest_sections(
    passages: tuple[Passage, ...], reader_url: str, most: int = 3
) -> tuple[NearestSection, ...]:
    """Return the sections nearest to a question that the book does not answer."""
    found: dict[tuple[str, str, str], NearestSection] = {}
    for passage in passages:
        chunk = passage.chunk
        if not passage.is_selection:
            near = NearestSection(
                chunk.book_id,
                chunk.document_id,
                chunk.chapter,
                chunk.section,
                section_url(chunk, reader_url),
            )
            found.setdefault((chunk.book_id, chunk.document_id, chunk.anchor), near)
    return tuple(found.values())[:most]
