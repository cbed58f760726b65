"""The application: takes built parts, builds nothing."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, FastAPI

from bythebook.http import (
    contract_ask,
    contract_chat,
    contract_query,
    contract_rag,
    feedback,
    search,
)
from bythebook.http.assets import assets_router
from bythebook.http.authors.page import admin_page_router
from bythebook.http.authors.routes import admin_router
from bythebook.http.client_address import Network
from bythebook.http.context import RequestContext
from bythebook.http.contracts_page import contracts_page_router
from bythebook.http.cors import CrossOrigin
from bythebook.http.description import DescribedApp
from bythebook.http.draining import Draining
from bythebook.http.failure_page import page_where_read
from bythebook.http.health import Check, examine, health_router
from bythebook.http.metrics_page import metrics_router
from bythebook.http.own_names import own_names_only
from bythebook.http.pages import pages_router
from bythebook.http.problems import Shape, install_problems
from bythebook.http.request_log import RequestLog
from bythebook.operate.conversation import Conversations
from bythebook.operate.desk import Desk
from bythebook.operate.gate import Gate
from bythebook.operate.insight import Insight
from bythebook.ports import FeedbackStore, Metrics, Threads

_SETTLE_SECONDS = 1.5  # for the last entries, beside the grace time that streams have


async def _nothing() -> None:
    """Have nothing open."""


@dataclass(frozen=True, slots=True)
class Service:
    """What the application serves."""

    desk: Desk
    gate: Gate
    threads: Threads
    feedback: FeedbackStore
    insight: Insight
    metrics: Metrics
    reader_url: str
    version: str
    checks: Mapping[str, Check] = field(default_factory=dict)  # of what answers need
    other_checks: Mapping[str, Check] = field(default_factory=dict)  # of what they can do without
    proxies: Sequence[Network] = ()  # whose X-Forwarded-For is believed
    models: Sequence[str] = ()  # names of language models that a reader may ask for
    duties: Sequence[Callable[[], Coroutine[Any, Any, None]]] = ()  # run as long as it serves
    close: Callable[[], Awaitable[None]] = _nothing
    draining: Draining = field(default_factory=Draining)


def create_app(service: Service) -> FastAPI:
    """Put the routes together over one answer path."""
    app = DescribedApp(
        title="ByTheBook",
        version=service.version,
        summary="Answers only from the book, each sentence with its quote.",
        lifespan=partial(_lifespan, service),
        docs_url=None,  # FastAPI's own page loads its script from elsewhere; /docs is ours
        redoc_url=None,
        redirect_slashes=False,  # the address it would lead to is the caller's word
    )
    _install_shapes(app)
    app.state.gate = service.gate
    app.state.draining = service.draining
    app.add_middleware(CrossOrigin, origins=service.gate.ring.origins)
    app.add_middleware(RequestLog, metrics=service.metrics)
    app.add_middleware(RequestContext, proxies=service.proxies)
    named = [Depends(own_names_only(service.reader_url))]
    for router in (*_routers(service), contracts_page_router(app.openapi)):
        app.include_router(router, dependencies=named)
    app.include_router(health_router(service.checks, service.other_checks))  # by any name
    return app


@asynccontextmanager
async def _lifespan(service: Service, _app: FastAPI) -> AsyncIterator[None]:
    await examine(service.checks)  # opens the models and the index before the first question
    await service.gate.ring.origins()  # reads the keys, which an outage may then not take away
    duties = [asyncio.create_task(duty()) for duty in service.duties]
    yield
    await service.desk.journal.settled(_SETTLE_SECONDS)
    for duty in duties:
        duty.cancel()
    await asyncio.gather(*duties, return_exceptions=True)
    await service.close()


def _install_shapes(app: FastAPI) -> None:
    """Have each contract tell of failures in its own shape."""
    shapes: dict[str, Shape] = dict.fromkeys(contract_query.PATHS, contract_query.error_shape)
    shapes[contract_rag.PATH] = contract_rag.error_shape
    shapes[contract_ask.PATH] = contract_ask.error_shape
    shapes[feedback.PATH] = feedback.error_shape
    shapes[search.PATH] = search.error_shape
    shapes |= dict.fromkeys(contract_chat.PLACES, contract_chat.error_shape)
    statuses = dict.fromkeys(contract_chat.PLACES, contract_chat.STATUSES)
    statuses[contract_ask.PATH] = contract_ask.STATUSES
    install_problems(app, shapes, statuses, page_where_read)


def _routers(service: Service) -> Sequence[APIRouter]:
    desk = service.desk
    return (
        contract_query.query_router(desk, service.reader_url),
        contract_rag.rag_router(desk, service.models),
        contract_ask.ask_router(desk),
        contract_chat.chat_router(Conversations(desk, service.threads), service.draining),
        search.search_router(desk.ports),
        feedback.feedback_router(service.feedback, desk.journal),
        metrics_router(service.metrics, desk.ports.library),
        admin_router(service.insight),
        admin_page_router(),
        assets_router(),
        pages_router(desk),
    )
