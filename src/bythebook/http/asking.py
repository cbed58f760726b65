"""Request -> the question as it came in."""

import uuid
from dataclasses import replace

from fastapi.requests import Request

from bythebook.domain.access import Caller
from bythebook.domain.questions import Question
from bythebook.domain.records import ContractName
from bythebook.operate.asked import Asked


def caller_of(request: Request) -> Caller:
    """Give who was let in."""
    caller: Caller = request.state.caller
    return caller


def asked_in(
    request: Request,
    contract: ContractName,
    question: Question,
    *,
    session_id: uuid.UUID | None = None,
    text: str = "",
    selection: str | None = None,
) -> Asked:
    """Put a question together with where it came from, within what the caller may read."""
    caller = caller_of(request)
    readable = replace(question.scope, readable=caller.readable)
    return Asked(
        replace(question, scope=readable),
        contract,
        request.state.request_id,
        caller,
        session_id,
        text,
        selection,
        started=request.state.started,
    )
