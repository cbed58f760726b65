"""POST /v1/chat/completions, GET /v1/models: the same answers for clients of OpenAI's interface."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from fastapi.requests import Request
from fastapi.responses import Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from bythebook.ask import readable_books
from bythebook.domain.answers import Answered, Judged, Outcome, Refused, Sentence
from bythebook.domain.books import Book
from bythebook.errors import NoBooks, UnknownBook
from bythebook.http.access.gate_routes import AskRoute, QuestionRoute
from bythebook.http.contracts.incoming import make_incoming_question
from bythebook.http.openai_api.footnotes import FootnotedText
from bythebook.http.openai_api.replies import (
    ChunkChoice,
    ChunkDelta,
    Completion,
    CompletionChunk,
    CompletionError,
    CompletionFailure,
    CompletionReply,
    ModelInfo,
    ModelList,
    completion_id,
    count_usage,
    refusal_text,
    to_annotations,
    to_completion,
    to_models,
    to_verdict,
    write_reply,
)
from bythebook.http.openai_api.requests import CompletionRequest, to_question
from bythebook.http.wire.context import context_of
from bythebook.http.wire.draining import Draining
from bythebook.http.wire.problems import Problem, ProblemKind, failures
from bythebook.http.wire.streaming import EventStream
from bythebook.operate.answerer import Answerer
from bythebook.operate.incoming_question import IncomingQuestion

COMPLETIONS, MODELS = "/v1/chat/completions", "/v1/models"
PLACES = (COMPLETIONS, MODELS, MODELS + "/")
STATUSES: Mapping[ProblemKind, int] = {"validation_failed": 400}  # as OpenAI answers it
_UNKNOWN = "There is no such model, or this key does not open it; GET /v1/models lists them."
_TYPES: Mapping[ProblemKind, str] = {
    "unauthorized": "authentication_error",
    "forbidden": "permission_error",
    "rate_limited": "rate_limit_error",
}
_CODES: Mapping[ProblemKind, str] = {
    "validation_failed": "invalid_value",
    "unauthorized": "invalid_api_key",
    "not_found": "model_not_found",
    "rate_limited": "rate_limit_exceeded",
}
_FIELD = re.compile(r"\A(\w[\w.]*): ")


def openai_router(answerer: Answerer, draining: Draining) -> APIRouter:
    """Make the routes."""
    router = APIRouter(tags=["OpenAI's interface"], route_class=QuestionRoute)
    errors = failures(CompletionFailure, 400, 401, 403, 404, 413, 429, 500, 502, 503, 504)

    @router.post(
        COMPLETIONS,
        response_model=Completion,
        responses={200: _stream_described(), **errors},
        operation_id="chat_completions",
        summary="Ask in the form of OpenAI's chat completions",
    )
    async def complete(request: Request, body: CompletionRequest) -> Completion | Response:
        """Answer the last user message from the book that `model` names, with numbered footnotes."""
        asked = await _read_question(request, body, answerer)
        if body.stream:
            chunks = _Chunks(answerer, asked, body)
            return EventStream(chunks.events(), draining, write_failure=_failure_event)
        outcome = await answerer.collect(asked)
        written = FootnotedText(answerer.ports.reader_url)
        text = write_reply(outcome, written)
        usage = count_usage(asked.question.text, outcome, text, answerer.ports.embedder)
        reply = CompletionReply(content=text, annotations=to_annotations(written.quotes))
        return to_completion(outcome, body.model, asked.request_id, reply, usage)

    router.include_router(_models_router(answerer))
    return router


def _models_router(answerer: Answerer) -> APIRouter:
    router = APIRouter(route_class=AskRoute)

    async def list_readable(request: Request) -> ModelList:
        readable = context_of(request).caller.readable
        return to_models(await asyncio.to_thread(_list_readable, answerer, readable))

    @router.get(
        MODELS,
        responses=failures(CompletionFailure, 401, 403, 429, 500, 503),
        operation_id="list_models",
        summary="List the books as models",
    )
    async def models(request: Request) -> ModelList:
        """List the books that the key may ask, and the library of all of them."""
        return await list_readable(request)

    @router.get(
        MODELS + "/{model}",
        responses=failures(CompletionFailure, 401, 403, 404, 429, 500, 503),
        operation_id="get_model",
        summary="Look a model up",
    )
    async def model(request: Request, model: str) -> ModelInfo:
        """Return one of the models."""
        for found in (await list_readable(request)).data:
            if found.id == model:
                return found
        raise HTTPException(404, _UNKNOWN)

    return router


def _list_readable(answerer: Answerer, readable: tuple[str, ...] | None) -> list[Book]:
    try:
        return list(readable_books(answerer.ports.library, None, readable))
    except (NoBooks, UnknownBook):
        return []


async def _read_question(
    request: Request, body: CompletionRequest, answerer: Answerer
) -> IncomingQuestion:
    asked = make_incoming_question(request, "openai", to_question(body))
    scope = asked.question.scope
    try:
        if scope.book_id is not None:
            await asyncio.to_thread(
                readable_books, answerer.ports.library, scope.book_id, scope.readable
            )
    except UnknownBook:
        raise HTTPException(404, _UNKNOWN) from None
    return asked


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A line of the stream; `[DONE]` and a failure are the last."""

    content: BaseModel | None
    ends: bool = False

    def encode(self) -> bytes:
        """Write it as text/event-stream, without a name, as this interface does."""
        said = self.content.model_dump_json() if self.content else "[DONE]"
        return f"data: {said}\n\n".encode()


def _failure_event(problem: Problem) -> _Chunk:
    return _Chunk(_to_failure(problem), ends=True)


class _Chunks:
    """Streams one answer; nothing is sent before its first sentence, so that failures have a status."""

    def __init__(
        self, answerer: Answerer, asked: IncomingQuestion, body: CompletionRequest
    ) -> None:
        self._answerer = answerer
        self._asked = asked
        self._model = body.model
        self._counts = bool(body.stream_options and body.stream_options.include_usage)
        self._created = int(time.time())
        self._written = FootnotedText(answerer.ports.reader_url)
        self._begun = False

    async def events(self) -> AsyncGenerator[_Chunk]:
        """Yield the chunks of the answer, ending in `[DONE]`."""
        opening: str | None = None
        with self._answerer.journal.open_record(self._asked) as record:
            async with aclosing(self._answerer.answer(self._asked, record)) as events:
                async for event in events:
                    match event:
                        case Judged():
                            opening = event.disclaimer
                        case Sentence():
                            begin = "" if self._begun else self._written.open(opening)
                            yield self._text(begin + self._written.add(event))
                        case Answered() | Refused():
                            for chunk in self._end(event):
                                yield chunk
                        case _:
                            pass

    def _text(self, content: str, **more: Any) -> _Chunk:
        first: dict[str, Any] = {} if self._begun else {"role": "assistant"}
        self._begun = True
        return self._chunk(ChunkChoice(delta=ChunkDelta(**first, content=content, **more)))

    def _end(self, outcome: Outcome) -> list[_Chunk]:
        written = self._written
        if isinstance(outcome, Refused):
            text = refusal_text(outcome)
            last = self._text(text)
        else:
            last = self._text(written.close(), annotations=to_annotations(written.quotes))
            text = written.text
        verdict = to_verdict(outcome, self._asked.request_id)
        stop = ChunkChoice(delta=ChunkDelta(), finish_reason="stop")
        chunks = [last, self._chunk(stop, bythebook=verdict)]
        if self._counts:
            embedder = self._answerer.ports.embedder
            usage = count_usage(self._asked.question.text, outcome, text, embedder)
            chunks.append(self._chunk(usage=usage))
        return [*chunks, _Chunk(None, ends=True)]

    def _chunk(self, *choices: ChunkChoice, **more: Any) -> _Chunk:
        whole = CompletionChunk(
            id=completion_id(self._asked.request_id),
            object="chat.completion.chunk",
            created=self._created,
            model=self._model,
            choices=list(choices),
            **more,
        )
        return _Chunk(whole)


def error_shape(_request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure as OpenAI's interface does."""
    return _to_failure(problem).model_dump(mode="json")


def _to_failure(problem: Problem) -> CompletionFailure:
    field = _FIELD.match(problem.message)
    server = problem.status >= 500
    param = "model" if problem.kind == "not_found" else field and field[1]
    return CompletionFailure(
        error=CompletionError(
            message=" ".join(filter(None, (problem.message, problem.details))),
            type="server_error" if server else _TYPES.get(problem.kind, "invalid_request_error"),
            param=param or None,
            code=_CODES.get(problem.kind, problem.kind),
        )
    )


def _stream_described() -> dict[str, Any]:
    """Describe a stream; its chunks are lines of JSON."""
    said = (
        "With `stream`, lines `data: {...}` with chunks of the answer, one for each sentence, then "
        '`data: [DONE]`; a failure after the first chunk is `data: {"error": {...}}`.'
    )
    data = {"type": "string", "description": "A chunk, a failure, or `[DONE]`."}
    schema = {"type": "object", "required": ["data"], "properties": {"data": data}}
    return {
        "description": "An answer. " + said,
        "content": {EventStream.media_type: {"schema": schema}},
    }
