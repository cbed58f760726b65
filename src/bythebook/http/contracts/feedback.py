"""POST /feedback: what a reader thought of an answer."""

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.requests import Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool
from starlette.exceptions import HTTPException

from bythebook.domain.records import FEEDBACK_REASON_CHARACTERS, Feedback
from bythebook.http.access.gate_routes import AskRoute
from bythebook.http.contracts.fields import NO_NUL
from bythebook.http.wire.context import context_of
from bythebook.http.wire.problems import Problem, failures
from bythebook.operate.journal import Journal
from bythebook.ports import FeedbackStore

PATH = "/feedback"
_UNKNOWN = "You made no request with this id, or it was deleted."
Reason = Annotated[
    str,
    Field(max_length=FEEDBACK_REASON_CHARACTERS),
    NO_NUL,
    AfterValidator(str.strip),
]


class FeedbackRequest(BaseModel):
    """A reader's rating of an answer; the latest one per request counts."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "request_id": "0b9f6d0c-5c1e-4f0a-9a53-1f0f4b1c2d3e",
                    "helpful": False,
                    "reason": "The quote is of another robot.",
                }
            ]
        },
    )

    request_id: UUID = Field(description="The X-Request-ID that came with the answer.")
    helpful: StrictBool = Field(description="Whether the answer helped.")
    reason: Reason | None = Field(None, description="Why.")


class FeedbackError(BaseModel):
    """Why it was not accepted."""

    error: str
    message: str
    details: str | None = None
    timestamp: datetime
    request_id: UUID


def feedback_router(feedback: FeedbackStore, journal: Journal) -> APIRouter:
    """Make the route."""
    router = APIRouter(tags=["feedback"], route_class=AskRoute)
    errors = failures(FeedbackError, 401, 403, 404, 413, 422, 429, 500, 503)

    @router.post(PATH, status_code=204, responses=errors, summary="Rate an answer")
    async def give(request: Request, body: FeedbackRequest) -> None:
        """Store whether an answer helped."""
        await journal.settle()  # a very recent request may not be recorded yet
        word = Feedback(body.request_id, body.helpful, datetime.now(UTC), body.reason or None)
        if not await feedback.give(context_of(request).caller.owner, word):
            raise HTTPException(404, _UNKNOWN)

    return router


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure."""
    return FeedbackError(
        error=problem.kind,
        message=problem.message,
        details=problem.details,
        timestamp=datetime.now(UTC),
        request_id=context_of(request).request_id,
    ).model_dump(mode="json")
