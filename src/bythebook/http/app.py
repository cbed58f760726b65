"""The application: takes built parts, builds nothing."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI

from bythebook.ask.pipeline import AskPorts
from bythebook.http import contract_query
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
    install_problems(app, shapes)
    app.add_middleware(RequestContext)
    app.include_router(contract_query.query_router(service.ask, service.reader_url))
    app.include_router(health_router(service.checks))
    app.include_router(pages_router(service.ask))
    app.include_router(contracts_page_router(app.openapi))
    return app
