"""Whether people who only look at pages may also ask."""

from typing import Annotated

from fastapi import Depends
from fastapi.requests import Request

from bythebook.errors import RecordsFailed
from bythebook.http.access.gate_routes import gate_of


async def _may_ask(request: Request) -> bool:
    """Return True if a page, which has no key, would be answered."""
    try:
        return await gate_of(request).ring.is_open()
    except RecordsFailed:
        return False


MayAsk = Annotated[bool, Depends(_may_ask)]
