"""The application: takes parts that are already built."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, FastAPI

from bythebook.errors import RecordsFailed
from bythebook.http.access.client_address import Network
from bythebook.http.access.cors import CrossOrigin
from bythebook.http.access.keyless import KeylessGuard
from bythebook.http.authors.page import admin_page_router
from bythebook.http.authors.routes import admin_router
from bythebook.http.contracts import ask as contract_ask
from bythebook.http.contracts import chat as contract_chat
from bythebook.http.contracts import feedback, search
from bythebook.http.contracts import query as contract_query
from bythebook.http.contracts import rag as contract_rag
from bythebook.http.contracts.description import DescribedApp
from bythebook.http.contracts.health import Check, Examination, health_router
from bythebook.http.contracts.metrics import metrics_router
from bythebook.http.mcp_api import endpoint as mcp_api
from bythebook.http.openai_api import routes as openai_api
from bythebook.http.pages import suggestions
from bythebook.http.pages.api_docs import api_docs_router
from bythebook.http.pages.assets import assets_router
from bythebook.http.pages.failures import render_problem_if_accepted
from bythebook.http.pages.home import pages_router
from bythebook.http.pages.machines.listing import Listing
from bythebook.http.pages.suggestions import NoSuggestions
from bythebook.http.wire.context import ContextMiddleware
from bythebook.http.wire.draining import Draining
from bythebook.http.wire.problem_handlers import Shape, install_problems
from bythebook.http.wire.request_log import RequestLog
from bythebook.http.wire.room import require_room
from bythebook.operate.access.gate import Gate
from bythebook.operate.answerer import Answerer
from bythebook.operate.conversation import Conversations
from bythebook.operate.insight import Insight
from bythebook.ports import FeedbackStore, Metrics, Suggestions, Threads

_SETTLE_SECONDS = 1.5  # for the last entries, in addition to the grace time of streams


async def _do_nothing() -> None:
    """Open nothing."""


@dataclass(frozen=True, slots=True)
class Service:
    """What the application serves."""

    answerer: Answerer
    gate: Gate
    threads: Threads
    feedback: FeedbackStore
    insight: Insight
    metrics: Metrics
    reader_url: str
    version: str
    checks: Mapping[str, Check] = field(default_factory=dict)  # of the parts that answers need
    other_checks: Mapping[str, Check] = field(default_factory=dict)  # of optional parts
    proxies: Sequence[Network] = ()  # whose X-Forwarded-For is trusted
    suggestions: Suggestions = field(default_factory=NoSuggestions)
    listing: Listing = field(
        default_factory=Listing
    )  # books that machines may find though there are keys
    models: Sequence[str] = ()  # names of language models that a reader may ask for
    duties: Sequence[Callable[[], Coroutine[Any, Any, None]]] = ()  # run as long as it serves
    close: Callable[[], Awaitable[None]] = _do_nothing
    draining: Draining = field(default_factory=Draining)


def create_app(service: Service) -> FastAPI:
    """Build the application over one answer path."""
    ready = Examination(service.checks)
    whole = Examination({**service.checks, **service.other_checks})
    mcp = _mcp_endpoint(service)
    app = DescribedApp(
        title="ByTheBook",
        version=service.version,
        summary="Answers only from the book, each sentence with its quote.",
        lifespan=partial(_lifespan, service, (ready, whole), mcp),
        docs_url=None,  # FastAPI's own page loads its script from elsewhere; /docs is ours
        redoc_url=None,
        redirect_slashes=False,  # the redirect target would come from the caller's Host header
    )
    _install_shapes(app)
    app.state.gate = service.gate
    app.state.draining = service.draining
    app.state.queue = service.answerer.queue
    app.add_middleware(KeylessGuard, ring=service.gate.ring, reader_url=service.reader_url)
    app.add_middleware(CrossOrigin, allows=service.gate.ring.allows_origin)
    app.add_middleware(RequestLog, metrics=service.metrics)
    app.add_middleware(ContextMiddleware, proxies=service.proxies)
    for router in (*_routers(service), api_docs_router(app.openapi)):
        app.include_router(router, dependencies=[Depends(require_room)])
    if mcp is not None:
        app.include_router(mcp_api.mcp_router(mcp), dependencies=[Depends(require_room)])
    app.include_router(health_router(ready, whole))  # always
    return app


def _mcp_endpoint(service: Service) -> mcp_api.McpEndpoint | None:
    """Make what answers assistants, where its SDK is installed."""
    if not mcp_api.is_installed():
        return None
    return mcp_api.McpEndpoint(service.answerer, service.version, service.draining)


@asynccontextmanager
async def _lifespan(
    service: Service,
    health: tuple[Examination, Examination],
    mcp: mcp_api.McpEndpoint | None,
    _app: FastAPI,
) -> AsyncIterator[None]:
    ready, whole = health
    await ready.result()  # opens the models and the index before the first question
    with contextlib.suppress(RecordsFailed):  # the health routes report it
        await service.gate.ring.check()  # reads the keys, which then survive an outage
    runs = (*service.duties, ready.run, whole.run)
    duties = [asyncio.create_task(run()) for run in runs]
    yield
    if mcp is not None:
        await mcp.close()
    await service.answerer.journal.settle(_SETTLE_SECONDS)
    for duty in duties:
        duty.cancel()
    await asyncio.gather(*duties, return_exceptions=True)
    await service.close()


def _install_shapes(app: FastAPI) -> None:
    """Give the failures of each contract their own shape."""
    shapes: dict[str, Shape] = dict.fromkeys(contract_query.PATHS, contract_query.error_shape)
    shapes[contract_rag.PATH] = contract_rag.error_shape
    shapes[contract_ask.PATH] = contract_ask.error_shape
    shapes[feedback.PATH] = feedback.error_shape
    shapes |= dict.fromkeys((search.PATH, suggestions.PATH), search.error_shape)
    shapes |= dict.fromkeys(contract_chat.PLACES, contract_chat.error_shape)
    statuses = dict.fromkeys(contract_chat.PLACES, contract_chat.STATUSES)
    statuses[contract_ask.PATH] = contract_ask.STATUSES
    shapes |= dict.fromkeys(openai_api.PLACES, openai_api.error_shape)
    statuses |= dict.fromkeys(openai_api.PLACES, openai_api.STATUSES)
    shapes[mcp_api.PATH], statuses[mcp_api.PATH] = mcp_api.error_shape, mcp_api.STATUSES
    install_problems(app, shapes, statuses, render_problem_if_accepted)


def _routers(service: Service) -> Sequence[APIRouter]:
    answerer = service.answerer
    return (
        contract_query.query_router(answerer, service.reader_url),
        contract_rag.rag_router(answerer, service.models),
        contract_ask.ask_router(answerer),
        contract_chat.chat_router(Conversations(answerer, service.threads), service.draining),
        openai_api.openai_router(answerer, service.draining),
        search.search_router(answerer.ports),
        suggestions.suggestions_router(answerer.ports.library, service.suggestions),
        feedback.feedback_router(service.feedback, answerer.journal),
        metrics_router(service.metrics, answerer.ports.library),
        admin_router(service.insight),
        admin_page_router(),
        assets_router(),
        pages_router(answerer, service.listing, service.suggestions),
    )
