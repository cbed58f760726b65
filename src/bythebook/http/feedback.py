"""POST /feedback: what a reader thought of an answer."""

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter
from fastapi.requests import Request
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool
from starlette.exceptions import HTTPException

from bythebook.domain.records import FEEDBACK_REASON_CHARACTERS, Feedback
from bythebook.http.access import AskRoute
from bythebook.http.asking import caller_of
from bythebook.http.fields import NO_NUL
from bythebook.http.problems import Problem, failures
from bythebook.operate.journal import Journal
from bythebook.ports import FeedbackStore

PATH = "/feedback"
_UNKNOWN = "You made no request of this id, or it is no longer kept."
Reason = Annotated[
    str,
    Field(max_length=FEEDBACK_REASON_CHARACTERS),
    NO_NUL,
    AfterValidator(str.strip),
]


class FeedbackRequest(BaseModel):
    """A reader's word on an answer; the latest on a request stands."""

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
    """Why it was not taken."""

    error: str
    message: str
    details: str | None = None
    timestamp: datetime
    request_id: UUID


def feedback_router(feedback: FeedbackStore, journal: Journal) -> APIRouter:
    """Make the route."""
    router = APIRouter(tags=["feedback"], route_class=AskRoute)
    errors = failures(FeedbackError, 401, 403, 404, 413, 422, 429, 500, 503)

    @router.post(PATH, status_code=204, responses=errors, summary="Say whether an answer helped")
    async def give(request: Request, body: FeedbackRequest) -> None:
        """Say whether an answer helped."""
        await journal.settled()  # the request may be so fresh that it is not recorded yet
        word = Feedback(body.request_id, body.helpful, datetime.now(UTC), body.reason or None)
        if not await feedback.give(caller_of(request).owner, word):
            raise HTTPException(404, _UNKNOWN)

    return router


def error_shape(request: Request, problem: Problem) -> dict[str, Any]:
    """Write a failure."""
    return FeedbackError(
        error=problem.kind,
        message=problem.message,
        details=problem.details,
        timestamp=datetime.now(UTC),
        request_id=request.state.request_id,
    ).model_dump(mode="json")
