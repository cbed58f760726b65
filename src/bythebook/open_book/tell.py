"""Outcomes of the answer path -> results for Python."""

from bythebook.ask import FoundSection as Found
from bythebook.ask.show import advice, message_citations
from bythebook.domain.answers import Answered, Outcome, Refused
from bythebook.domain.records import MessageCitation
from bythebook.http.contracts.fields import write_full_answer
from bythebook.http.contracts.query import REFUSAL_MESSAGES
from bythebook.open_book.results import Answer, Citation, FoundSection, NearestSection


def tell_outcome(question: str, outcome: Outcome, reader_url: str) -> Answer:
    """Write an outcome as an answer."""
    if isinstance(outcome, Refused):
        return _tell_refusal(question, outcome)
    return _tell_answer(question, outcome, reader_url)


def _tell_answer(question: str, outcome: Answered, reader_url: str) -> Answer:
    return Answer(
        question,
        write_full_answer(outcome),
        tuple(sentence.text for sentence in outcome.sentences),
        outcome.key_sentences,
        tuple(map(_tell_citation, message_citations(outcome.sentences, reader_url))),
        outcome.disclaimer,
    )


def _tell_refusal(question: str, outcome: Refused) -> Answer:
    return Answer(
        question,
        f"{REFUSAL_MESSAGES[outcome.refusal_type]}. {advice(outcome)}",
        refusal_type=outcome.refusal_type,
        nearest_sections=tuple(
            NearestSection(near.chapter, near.section, near.document_id, near.url)
            for near in outcome.nearest_sections
        ),
    )


def _tell_citation(shown: MessageCitation) -> Citation:
    return Citation(
        quote=shown.referenced_text or "",
        document_id=shown.document_id or "",
        char_start=shown.char_start,
        char_end=shown.char_end,
        chapter=shown.chapter or "",
        section=shown.section or "",
        link=shown.link or "",
        sentence=shown.sentence,
        key=shown.key,
        permalink=shown.permalink or "",
    )


def tell_section(found: Found) -> FoundSection:
    """Write a found section."""
    return FoundSection(
        chapter=found.chapter,
        section=found.section,
        text=found.text,
        document_id=found.citation.passage.chunk.document_id,
        char_start=found.citation.char_start,
        char_end=found.citation.char_end,
        link=found.url,
    )
