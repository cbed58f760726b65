"""Request -> the question as it came in."""

import uuid
from dataclasses import replace

from fastapi.requests import Request

from bythebook.domain.questions import Question
from bythebook.domain.records import ContractName
from bythebook.http.wire.context import context_of
from bythebook.operate.incoming_question import IncomingQuestion


def make_incoming_question(
    request: Request,
    contract: ContractName,
    question: Question,
    *,
    session_id: uuid.UUID | None = None,
    selection: str | None = None,
) -> IncomingQuestion:
    """Combine a question with where it came from, limited to the books the caller may read."""
    context = context_of(request)
    caller = context.caller
    readable = replace(question.scope, readable=caller.readable)
    return IncomingQuestion(
        replace(question, scope=readable),
        contract,
        context.request_id,
        caller,
        session_id,
        selection,
        started=context.started,
    )
