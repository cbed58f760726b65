"""The parts as configured, each made when first needed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bythebook
from bythebook.adapters.library.book_folder import BookFolder
from bythebook.adapters.library.calibration_files import CalibrationFiles
from bythebook.adapters.library.sqlite_vectors import SqliteVectors
from bythebook.adapters.library.suggestion_files import SuggestionFiles
from bythebook.adapters.models.inference import Crew
from bythebook.adapters.models.judge_model import JudgeModel, load_weights
from bythebook.adapters.models.minilm import MiniLm
from bythebook.adapters.operations.service_address import ServiceAddress
from bythebook.ask import AskPorts, ExtractiveGenerator, ReadingJudge
from bythebook.bootstrap import indexes
from bythebook.bootstrap.embedders import make_bundled_embedder, make_provider_embedder
from bythebook.bootstrap.logs import start_logs
from bythebook.bootstrap.model_access import ModelAccess, model_access
from bythebook.bootstrap.readers import make_reader
from bythebook.bootstrap.recorded_citations import RecordedCitations
from bythebook.bootstrap.times import ServiceTimes
from bythebook.calibrate.product_search import CalibratePorts
from bythebook.domain.books import Book
from bythebook.ingest.pipeline import IngestPorts
from bythebook.ports import KeyStore
from bythebook.settings import Settings
from bythebook.suggest import SuggestPorts

if TYPE_CHECKING:
    from bythebook.adapters.edge.index import EdgeIndex
    from bythebook.adapters.edge.writer import EdgeIndexWriter
    from bythebook.adapters.models.onnx_embedder import OnnxEmbedder
    from bythebook.adapters.providers.agents.calls.model_calls import ModelCalls
    from bythebook.adapters.providers.provider_embedder import ProviderEmbedder
    from bythebook.adapters.qdrant.client import SharedQdrantClient
    from bythebook.adapters.qdrant.index import QdrantIndex
    from bythebook.adapters.qdrant.writer import QdrantIndexWriter
    from bythebook.adapters.readers.any_book import AnyBookReader
    from bythebook.adapters.sql.engine.database import Database
    from bythebook.bootstrap.models import Models
    from bythebook.http.app import Service

_REPLACEABLE = {"encoder", "embedder", "index", "index_writer", "judge", "model_calls"}
_MADE_OF_OTHERS = ("ask", "ingest", "calibrate", "models", "suggest")
_TIMES = ServiceTimes()


class Core:
    """The parts as configured, each made when first needed."""

    def __init__(self, settings: Settings, times: ServiceTimes = _TIMES) -> None:
        self.settings = settings
        self.times = times
        self.library = BookFolder(settings.data_dir, settings.older_text_mb)
        self.calibrations = CalibrationFiles(self.library, JudgeModel.model_id)
        self.suggestions = SuggestionFiles(self.library)
        self.service_address = ServiceAddress(settings.data_dir)

    def replace(self, **parts: Any) -> None:
        """Use other parts than those the settings choose, in tests and measurements."""
        if unknown := set(parts) - _REPLACEABLE:
            raise ValueError(f"not a part that can be replaced: {', '.join(unknown)}")
        for name in _MADE_OF_OTHERS:
            self.__dict__.pop(name, None)  # made again, of the new parts
        self.__dict__.update(parts)

    @cached_property
    def crew(self) -> Crew:
        """The threads that the bundled models share."""
        return Crew(self.settings.threads)

    @cached_property
    def encoder(self) -> MiniLm:
        """The bundled sentence encoder."""
        return MiniLm(crew=self.crew)

    @cached_property
    def embedder(self) -> "OnnxEmbedder | ProviderEmbedder":
        """The embedder as configured."""
        return make_provider_embedder(self.settings) or make_bundled_embedder(self.encoder)

    @cached_property
    def qdrant(self) -> "SharedQdrantClient | None":
        """The client of the Qdrant server, if one is set."""
        url = self.settings.qdrant_url
        return indexes.make_qdrant_client(self.settings, url) if url else None

    @cached_property
    def index(self) -> "EdgeIndex | QdrantIndex":
        """The chunk index: embedded, or on the Qdrant server that is set."""
        return indexes.make_index(self.settings, self.library, self.qdrant)

    @cached_property
    def index_writer(self) -> "EdgeIndexWriter | QdrantIndexWriter":
        """What publishes and removes generations."""
        return indexes.make_index_writer(self.settings, self.library, self.qdrant)

    async def copy_to_qdrant(
        self, book: Book, url: str, on_copied: Callable[[int, int], None]
    ) -> bool:
        """Copy a book to a Qdrant server without embedding it; False if it was already there."""
        return await indexes.copy_to_qdrant(
            book, url, self.settings, self.library, lambda: self.index, on_copied
        )

    @cached_property
    def judge(self) -> ReadingJudge:
        """The bundled judge."""
        return ReadingJudge(JudgeModel(self.crew), self.encoder, load_weights())

    @cached_property
    def ask(self) -> AskPorts:
        """What answering needs."""
        ports = self._ask_without_model()
        return ports if self.models is None else self.models.add_to(ports)

    @cached_property
    def suggest(self) -> SuggestPorts:
        """What finding suggested questions needs; never a language model."""
        return SuggestPorts(self._ask_without_model())

    def _ask_without_model(self) -> AskPorts:
        return AskPorts(
            library=self.library,
            embedder=self.embedder,
            index=self.index,
            calibrations=self.calibrations,
            judge=self.judge,
            support=self.judge,
            generator=ExtractiveGenerator(),
            reader_url=self.settings.reader_url,
        )

    @cached_property
    def model_access(self) -> ModelAccess | None:
        """How a language model is reached, if one is set."""
        return model_access(self.settings)

    @cached_property
    def model_calls(self) -> "ModelCalls | None":
        """What calls the language model, if one is set; its SDK takes seconds to load."""
        if self.model_access is None:
            return None
        from bythebook.bootstrap.models import make_model_calls

        return make_model_calls(self.model_access)

    @cached_property
    def models(self) -> "Models | None":
        """The language model in its roles, if one is set."""
        if self.model_calls is None:
            return None
        from bythebook.bootstrap.models import build_models

        return build_models(self.model_calls, self.settings)

    @cached_property
    def calibrate(self) -> CalibratePorts:
        """What fitting scores to a book needs."""
        return CalibratePorts(
            library=self.library,
            embedder=self.embedder,
            index=self.index,
            judge=self.judge,
            judge_model=JudgeModel.model_id,
            calibrations=self.calibrations,
        )

    @cached_property
    def ingest(self) -> IngestPorts:
        """What ingesting needs."""
        cache = SqliteVectors(self.settings.data_dir / "cache" / "vectors.sqlite")
        return IngestPorts(
            self.reader, self.embedder, cache, self.index_writer, RecordedCitations(self)
        )

    @cached_property
    def reader(self) -> "AnyBookReader":
        """What reads books of every kind."""
        return make_reader(self.settings)

    def service(self) -> "Service":
        """What the HTTP application serves; commands that do not serve need none of it."""
        from bythebook.bootstrap.service import build_service

        return build_service(self)

    def running_url(self) -> str | None:
        """Where links to reader pages open: as set, or at a service of this data folder that runs."""
        return self.settings.public_url.rstrip("/") or self.service_address.find()

    def database(self) -> "Database":
        """The records' database, for one event loop; loading its driver takes time."""
        from bythebook.adapters.sql.engine.address import records_address
        from bythebook.adapters.sql.engine.database import Database

        url = self.settings.database_url.get_secret_value()
        return Database(records_address(url, self.settings.data_dir))

    @asynccontextmanager
    async def keys(self) -> AsyncIterator[KeyStore]:
        """Open the keys to the service, for the length of a command."""
        from bythebook.adapters.sql.keys import SqlKeyStore

        async with self.database() as database:
            yield SqlKeyStore(database)

    def log(self) -> None:
        """Write all that this process logs to stderr, as configured and without secrets."""
        start_logs(self.settings, self.model_access.key if self.model_access else "")

    def close(self) -> None:
        """Close what is open."""
        if "index" in self.__dict__:
            self.index.close()
        client = self.__dict__.get("qdrant")
        if client is not None:  # an ingest has a writer but no index
            client.close()


def sample_book() -> Path:
    """Find the sample book: inside an installed package, or next to its source."""
    package = Path(bythebook.__file__).parent
    installed = package / "examples" / "book"
    return installed if installed.is_dir() else package.parents[1] / "examples" / "book"
