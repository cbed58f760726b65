"""Contract C: POST /chat/run, POST /chat/stream, and the conversations behind them."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from fastapi.requests import Request
from fastapi.responses import Response
from pydantic import UUID4, BaseModel
from starlette.exceptions import HTTPException

from bythebook.ask import find_section
from bythebook.domain.answers import Judged, Retrieved, Sentence
from bythebook.domain.questions import Question, Scope
from bythebook.http.access.gate_routes import AskRoute, QuestionRoute, admit_session
from bythebook.http.contracts.chat_models import (
    ChatError,
    ChatRequest,
    ChatResponse,
    ContentEvent,
    ConversationThread,
    RetrievalEvent,
)
from bythebook.http.contracts.chat_replies import to_content, to_response, to_retrieval, to_thread
from bythebook.http.contracts.incoming import make_incoming_question
from bythebook.http.wire.context import context_of
from bythebook.http.wire.draining import Draining
from bythebook.http.wire.problems import Problem, ProblemKind, failures
from bythebook.http.wire.streaming import EventName, EventStream, StreamError, StreamEvent
from bythebook.operate.conversation import Conversations, Reply
from bythebook.operate.incoming_question import IncomingQuestion
from bythebook.ports import Library

RUN, STREAM, SESSIONS = "/chat/run", "/chat/stream", "/session/"
PLACES = (RUN, STREAM, SESSIONS)
STATUSES: Mapping[ProblemKind, int] = {"model_timeout": 503}
_UNKNOWN = "There is no such conversation."
_ASKING = (401, 403, 413, 422, 429, 500, 502, 503)
_EVENTS: Mapping[EventName, type[BaseModel]] = {
    "retrieval": RetrievalEvent,
    "content": ContentEvent,
    "done": ChatResponse,
    "error": StreamError,
}


def chat_router(conversations: Conversations, draining: Draining) -> APIRouter:
    """Make the routes of contract C."""
    router = APIRouter(tags=["C: chat"], route_class=QuestionRoute)
    library, reader_url = (
        conversations.answerer.ports.library,
        conversations.answerer.ports.reader_url,
    )
    replies = {200: _stream_described(), **failures(ChatError, *_ASKING)}

    async def open_stream(request: Request, body: ChatRequest) -> EventStream:
        asked = await _read_message(request, body, library)
        return EventStream(_events(conversations, asked, body), draining)

    @router.post(
        RUN,
        response_model=ChatResponse,
        responses=replies,
        operation_id="chat_run",
        summary="Ask in a conversation",
    )
    async def run(request: Request, body: ChatRequest) -> ChatResponse | Response:
        """Answer a message in the context of its conversation; with `stream`, as /chat/stream does."""
        if body.stream:
            return await open_stream(request, body)
        asked = await _read_message(request, body, library)
        reply = await conversations.collect(asked, body.metadata)
        return to_response(reply, body.similarity_threshold, reader_url)

    @router.post(
        STREAM,
        response_class=Response,
        response_model=None,
        responses=replies,
        operation_id="chat_stream",
        summary="Ask in a conversation, with a streamed answer",
    )
    async def stream(request: Request, body: ChatRequest) -> Response:
        """Stream events: each sentence as soon as it is verified, and the whole answer at the end."""
        return await open_stream(request, body)

    router.include_router(_session_router(conversations))
    return router


def _session_router(conversations: Conversations) -> APIRouter:
    router = APIRouter(route_class=AskRoute)
    errors = failures(ChatError, 401, 403, 404, 422, 429, 500, 503)

    @router.get(
        SESSIONS + "{session_id}/history",
        responses=errors,
        operation_id="session_history",
        summary="Read a conversation",
    )
    async def history(request: Request, session_id: UUID4) -> ConversationThread:
        """Return the newest messages of a conversation, oldest first."""
        thread = await conversations.history(context_of(request).caller.owner, session_id)
        if thread is None:
            raise HTTPException(404, _UNKNOWN)
        return to_thread(thread)

    @router.delete(
        SESSIONS + "{session_id}",
        status_code=204,
        responses=errors,
        operation_id="session_delete",
        summary="Delete a conversation",
    )
    async def delete(request: Request, session_id: UUID4) -> None:
        """Remove every message of a conversation."""
        if not await conversations.delete(context_of(request).caller.owner, session_id):
            raise HTTPException(404, _UNKNOWN)

    return router


async def _read_message(request: Request, body: ChatRequest, library: Library) -> IncomingQuestion:
    session_id = context_of(request).session_id = body.session_id or uuid.uuid4()
    await admit_session(request, body.session_id)
    question = await to_question(body, library, context_of(request).caller.readable)
    return make_incoming_question(
        request,
        "chat",
        question,
        session_id=session_id,
        selection=body.selected_text,
    )


async def to_question(
    body: ChatRequest, library: Library, readable: Sequence[str] | None
) -> Question:
    """Read the request; what the answer may come from depends on the selection and its scope."""
    selected, section = None, None
    if body.selected_text is not None and body.scope in {None, "selection"}:
        selected = body.selected_text
    elif body.selected_text is not None and body.scope == "section":
        section = await asyncio.to_thread(
            find_section, body.selected_text, library, body.book, readable
        )
    explicit = "similarity_threshold" in body.model_fields_set
    return Question(
        body.message,
        Scope(body.book, selected, section=section),
        body.top_k,
        least_similarity=body.similarity_threshold if explicit else None,
    )


async def _events(
    conversations: Conversations, asked: IncomingQuestion, body: ChatRequest
) -> AsyncGenerator[StreamEvent]:
    """Yield a turn as contract C's events; the first text starts with the disclaimer."""
    reader_url = conversations.answerer.ports.reader_url
    opening = ""
    sent: tuple[Sentence, ...] = ()
    async with aclosing(conversations.answer(asked, body.metadata)) as events:
        async for event in events:
            match event:
                case Retrieved():
                    yield StreamEvent("retrieval", to_retrieval(event.passages))
                case Judged():
                    opening = f"{event.disclaimer} " if event.disclaimer else ""
                case Sentence():
                    yield StreamEvent("content", to_content(sent, event, opening, reader_url))
                    sent, opening = (*sent, event), ""
                case Reply():
                    response = to_response(event, body.similarity_threshold, reader_url)
                    yield StreamEvent("done", response)


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as contract C's error."""
    if problem.kind == "method_not_allowed":  # a wrong method is not a failure of this contract
        return {"error": problem.kind, "message": problem.message}
    error = ChatError(
        error=problem.kind,
        message=problem.message,
        details=problem.details,
        timestamp=datetime.now(UTC),
        request_id=context_of(request).request_id,
    )
    return error.model_dump(mode="json")


def _stream_described() -> dict[str, Any]:
    """Describe a stream by the JSON of each event; events that no other route returns are defined here."""
    schemas = {name: _event_schema(model) for name, model in _EVENTS.items()}
    return {
        "description": "An answer; as a stream: `retrieval`, `content` for each sentence, and at the "
        "end exactly one of `done` and `error`.",
        "content": {EventStream.media_type: {"schema": {"type": "string", "x-events": schemas}}},
    }


def _event_schema(model: type[BaseModel]) -> dict[str, Any]:
    place = "#/components/schemas/{model}"
    if model is ChatResponse:
        return {"$ref": place.format(model=model.__name__)}
    schema = model.model_json_schema(ref_template=place)
    schema.pop("$defs", None)
    return schema
