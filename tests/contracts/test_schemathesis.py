"""Requests made from the description, good and bad: the service keeps to what it says of itself."""

import asyncio
import copy
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.schemas import OpenApiSchema
from tests.conftest import SAMPLE, free_port, serve_core
from tests.contracts.fakes import fake_service

from bythebook.adapters.sql.keys import SqlKeyStore
from bythebook.bootstrap import Core
from bythebook.domain.records import KeyTerms
from bythebook.http.app import create_app
from bythebook.http.contracts.description import operations
from bythebook.settings import Settings

EXAMPLES = int(os.environ.get("EXAMPLES", "20"))  # of each operation; 500 is a long run
Case = schemathesis.Case[Any]
schemathesis.openapi.format("uuid4", st.uuids(version=4).map(str))


def load_description(*, locked: bool) -> OpenApiSchema:
    """Load the description, narrowed by what only one service knows: its books and its keys."""
    description = copy.deepcopy(create_app(fake_service()).openapi())
    for _, operation in operations(description):
        if locked and "security" in operation:
            operation["security"] = [one for one in operation["security"] if one]
    return schemathesis.openapi.from_dict(description, config=configuration())


# What is rejected though the description cannot say so, and what stands in for it.
KNOWN = {"book": SAMPLE, "model": "gpt-4", "scope": "book"}


def put_right(case: Case) -> None:
    """Name a book, a model and a scope that there are; write a whole number as one, 5 for 5.0."""
    if case.meta and case.meta.generation.mode.is_positive:
        if "book" in (case.query or {}):
            case.query["book"] = SAMPLE
        if "model" in (case.path_parameters or {}):
            case.path_parameters["model"] = SAMPLE
    if (
        not isinstance(case.body, dict)
        or not case.meta
        or not case.meta.generation.mode.is_positive
    ):
        return
    if case.operation.path == "/v1/chat/completions":  # a question of the user must be among them
        body: dict[str, Any] = {**case.body, "model": SAMPLE}
        question: Any = {"role": "user", "content": "What is ROS 2?"}
        case.body = {**body, "messages": [*body["messages"], question]}
        return
    case.body = {
        name: KNOWN.get(name, value) if isinstance(value, str) else _whole(name, value)
        for name, value in case.body.items()
    }


def _whole(name: str, value: Any) -> Any:
    return int(value) if name == "top_k" and isinstance(value, float) else value


def configuration() -> SchemathesisConfig:
    generation = {
        "max-examples": EXAMPLES,
        "deterministic": True,
        "allow-x00": False,  # no pattern of JSON Schema says so without hiding what is meant
        "database": "none",
        "with-security-parameters": False,  # the key is given, or left out by a check
    }
    return SchemathesisConfig.from_dict(
        {
            "generation": generation,
            "request-timeout": 120,
            "suppress-health-check": ["too_slow"],
        }
    )


open_schema, locked_schema = load_description(locked=False), load_description(locked=True)


@pytest.fixture(scope="module")
def library(sample_core: Core, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample library, for records of its own."""
    folder = tmp_path_factory.mktemp("described") / "library"
    shutil.copytree(sample_core.settings.data_dir, folder)
    return folder


@pytest.fixture(scope="module")
def open_url(library: Path) -> Iterator[str]:
    """A service without keys."""
    with serve_core(without_limits(library)) as server:
        yield server.url


@pytest.fixture(scope="module")
def locked_url(library: Path) -> Iterator[tuple[str, str]]:
    """A service with a key, and the key."""
    folder = shutil.copytree(library, library.with_name("locked"))
    core = without_limits(folder)
    key = asyncio.run(new_key(core))
    with serve_core(core) as server:
        yield server.url, key


def without_limits(folder: Path) -> Core:
    limits = {"limit_key": 0, "limit_session": 0, "limit_ip": 0}
    given = Settings(data_dir=folder, port=free_port())
    return Core(given.model_copy(update=limits))


async def new_key(core: Core) -> str:
    database = core.database()
    issued = await SqlKeyStore(database).create(KeyTerms("admin"), datetime.now(UTC))
    await database.close()
    return issued.secret


@open_schema.parametrize()
def test_an_open_service_keeps_to_its_description(case: Case, open_url: str) -> None:
    put_right(case)
    case.call_and_validate(base_url=open_url)


@locked_schema.parametrize()
def test_a_locked_service_keeps_to_its_description(case: Case, locked_url: tuple[str, str]) -> None:
    url, key = locked_url
    put_right(case)
    case.call_and_validate(base_url=url, headers={"Authorization": f"Bearer {key}"})
