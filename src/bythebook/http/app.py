"""The application: takes built parts, builds nothing."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI

from bythebook.ask.pipeline import AskPorts
from bythebook.http import contract_ask, contract_query, contract_rag
from bythebook.http.context import RequestContext
from bythebook.http.contracts_page import contracts_page_router
from bythebook.http.health import Check, examine, health_router
from bythebook.http.pages import pages_router
from bythebook.http.problems import Shape, install_problems


@dataclass(frozen=True, slots=True)
class Service:
    """What the application serves."""

    ask: AskPorts
    reader_url: str
    version: str
    checks: Mapping[str, Check] = field(default_factory=dict)
    close: Callable[[], None] = lambda: None
    models: Sequence[str] = ()  # names of language models that a reader may ask for


def create_app(service: Service) -> FastAPI:
    """Put the routes together over one answer path."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await examine(service.checks)  # opens the models and the index before the first question
        yield
        service.close()

    app = FastAPI(
        title="ByTheBook",
        version=service.version,
        summary="Answers only from the book, each sentence with its quote.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own page loads its script from elsewhere; /docs is ours
        redoc_url=None,
    )
    shapes: dict[str, Shape] = dict.fromkeys(contract_query.PATHS, contract_query.error_shape)
    shapes[contract_rag.PATH] = contract_rag.error_shape
    shapes[contract_ask.PATH] = contract_ask.error_shape
    install_problems(app, shapes, {contract_ask.PATH: contract_ask.STATUSES})
    app.add_middleware(RequestContext)
    app.include_router(contract_query.query_router(service.ask, service.reader_url))
    app.include_router(contract_rag.rag_router(service.ask, service.models))
    app.include_router(contract_ask.ask_router(service.ask))
    app.include_router(health_router(service.checks))
    app.include_router(pages_router(service.ask))
    app.include_router(contracts_page_router(app.openapi))
    return app
