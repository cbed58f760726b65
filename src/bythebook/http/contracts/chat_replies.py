"""Replies and threads -> contract C's JSON."""

from collections.abc import Sequence
from dataclasses import asdict

from bythebook.ask.show import (
    ELLIPSIS,
    answer_sources,
    answer_text,
    merge_duplicates,
    message_citations,
    section_url,
    similarities,
)
from bythebook.domain.answers import Answered, Passage, Refused, Sentence
from bythebook.domain.records import Message, Thread
from bythebook.domain.text.sentences import split_sentences
from bythebook.http.contracts.chat_models import (
    MOST_CHUNK_TEXT,
    AssistantMessage,
    ChatResponse,
    ChatSource,
    ConfidenceMetricsModel,
    ContentEvent,
    ConversationThread,
    RetrievalEvent,
    UserMessage,
)
from bythebook.http.contracts.fields import to_nearest
from bythebook.http.contracts.query import to_citation
from bythebook.operate.conversation import Reply

_DIGITS = 4  # of a score


def to_retrieval(passages: Sequence[Passage]) -> RetrievalEvent:
    """Summarize what was found."""
    passages = merge_duplicates(passages)
    scores = similarities(passages)
    return RetrievalEvent(
        num_chunks=len(scores),
        average_score=round(sum(scores) / len(scores), _DIGITS) if scores else 0.0,
        sections=list(dict.fromkeys(passage.chunk.section for passage in passages)),
    )


def to_content(
    sent: tuple[Sentence, ...], sentence: Sentence, opening: str, reader_url: str
) -> ContentEvent:
    """Write the next sentence, with the separator from those already sent."""
    so_far = len(answer_text(sent))
    citations = message_citations((sentence,), reader_url, len(sent))
    return ContentEvent(
        delta=opening + answer_text((*sent, sentence))[so_far:],
        citations=[to_citation(one) for one in citations],
    )


def to_response(reply: Reply, threshold: float, reader_url: str) -> ChatResponse:
    """Write a reply as contract C's response."""
    outcome = reply.outcome
    answered = outcome if isinstance(outcome, Answered) else None
    metrics = _metrics(reply)
    return ChatResponse(
        response=reply.text,
        confidence=metrics.average_similarity,
        sources=_sources(answered, threshold, reader_url) if answered else [],
        session_id=reply.session_id,
        timestamp=reply.answered_at,
        confidence_level=metrics.confidence_level,
        should_answer=metrics.should_answer,
        sentences=[sentence.text for sentence in answered.sentences] if answered else [],
        key_sentences=list(answered.key_sentences) if answered else [],
        citations=[to_citation(one) for one in reply.citations],
        confidence_metrics=metrics,
        nearest_sections=to_nearest(outcome.nearest_sections)
        if isinstance(outcome, Refused)
        else [],
        disclaimer=answered.disclaimer if answered else None,
        fallback=answered.fallback if answered else False,
    )


def _metrics(reply: Reply) -> ConfidenceMetricsModel:
    rounded = {
        name: round(value, _DIGITS) if isinstance(value, float) else value
        for name, value in asdict(reply.metrics).items()
    }
    return ConfidenceMetricsModel.model_validate(rounded)


def _sources(outcome: Answered, threshold: float, reader_url: str) -> list[ChatSource]:
    """List the cited passages, and others that are similar enough, each text once."""
    sources = answer_sources(outcome)
    scores = similarities([source.passage for source in sources])
    listed: dict[str, ChatSource] = {}
    for source, score in zip(sources, scores, strict=True):
        if source.cited or score >= threshold:
            text = source.passage.chunk.content_hash
            listed.setdefault(text, _source(source.passage, score, reader_url))
    return list(listed.values())


def excerpt(text: str) -> str:
    """Cut a long text at the end of a sentence, a line, a clause or a word."""
    if len(text) <= MOST_CHUNK_TEXT:
        return text
    room = text[: MOST_CHUNK_TEXT - len(ELLIPSIS)]
    whole = [end for _, end in split_sentences(room)][:-1]  # the last may go on
    ends = (room.rfind(mark) + 1 for mark in ("\n", "; ", ", ", " "))
    cut = whole[-1] if whole else next((end for end in ends if end), len(room))
    return room[:cut].rstrip() + ELLIPSIS


def _source(passage: Passage, score: float, reader_url: str) -> ChatSource:
    chunk = passage.chunk
    return ChatSource(
        chunk_text=excerpt(chunk.text),
        similarity_score=round(score, _DIGITS),
        chapter=chunk.chapter,
        section=chunk.section,
        url="" if passage.is_selection else section_url(chunk, reader_url),
        chunk_index=chunk.chunk_index,
    )


def to_thread(thread: Thread) -> ConversationThread:
    """Write a thread as contract C has it."""
    return ConversationThread.model_validate(
        {
            "thread_id": thread.session_id,
            "messages": [_message(message) for message in thread.messages],
            "created_at": thread.created_at,
            "updated_at": thread.updated_at,
            "topic_summary": thread.topic_summary,
            "metadata": dict(thread.metadata),
        }
    )


def _message(message: Message) -> UserMessage | AssistantMessage:
    if message.role == "user":
        return UserMessage(role="user", content=message.content, timestamp=message.created_at)
    confidence = message.confidence
    return AssistantMessage(
        role="assistant",
        content=message.content,
        timestamp=message.created_at,
        confidence=None if confidence is None else round(confidence, _DIGITS),
        citations=[to_citation(citation) for citation in message.citations],
    )
