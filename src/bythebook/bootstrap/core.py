"""The parts as configured, each made when first needed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import bythebook
from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.calibration_files import CalibrationFiles
from bythebook.adapters.edge_index import EdgeIndex
from bythebook.adapters.edge_press import EdgePress, has_shard
from bythebook.adapters.inference import Crew
from bythebook.adapters.judge_model import JudgeModel
from bythebook.adapters.minilm import MiniLm
from bythebook.adapters.onnx_embedder import OnnxEmbedder
from bythebook.adapters.onnx_judge import OnnxJudge
from bythebook.adapters.readers.any_book import AnyBookReader
from bythebook.adapters.sqlite_vectors import SqliteVectors
from bythebook.ask.compose.extractive import ExtractiveGenerator
from bythebook.ask.pipeline import AskPorts
from bythebook.bootstrap.model_access import ModelAccess, model_access
from bythebook.calibrate.probe import CalibratePorts
from bythebook.domain.books import Book
from bythebook.ingest.pipeline import IngestPorts
from bythebook.ports import KeyStore
from bythebook.settings import Settings

if TYPE_CHECKING:
    from bythebook.adapters.providers.agents.runs import Runs
    from bythebook.adapters.providers.provider_embedder import ProviderEmbedder
    from bythebook.adapters.qdrant.index import QdrantIndex
    from bythebook.adapters.qdrant.layout import QdrantLayout
    from bythebook.adapters.qdrant.line import QdrantLine
    from bythebook.adapters.qdrant.press import QdrantPress
    from bythebook.adapters.sql.database import Database
    from bythebook.bootstrap.models import Models
    from bythebook.http.app import Service


class Core:
    """The parts as configured, each made when first needed."""

    watch_seconds = 30.0  # between two looks at the parts
    upkeep_seconds = 60.0  # between two offers to do what is due

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.library = BookFolder(settings.data_dir)
        self.calibrations = CalibrationFiles(self.library, JudgeModel.model_id)

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
        """The embedder as configured; the SDKs of providers take long to load."""
        given = self.settings
        key = given.embedder_api_key.get_secret_value()
        if given.embedder == "cohere":
            from bythebook.adapters.providers.cohere_embedder import CohereEmbedder

            return CohereEmbedder(key, given.embedder_model, given.embedder_base_url)
        if given.embedder == "openai":
            from bythebook.adapters.providers.openai_embedder import OpenAiEmbedder

            return OpenAiEmbedder(
                key, given.embedder_model, given.embedder_base_url, given.embedder_dimension
            )
        return OnnxEmbedder(self.encoder)

    @cached_property
    def index(self) -> "EdgeIndex | QdrantIndex":
        """The chunk index: embedded, or on the Qdrant server that is set."""
        if self.qdrant is None:
            return EdgeIndex(self.library, self.settings.data_dir)
        from bythebook.adapters.qdrant.index import QdrantIndex

        return QdrantIndex(self.library, self.qdrant, self._qdrant_layout())

    @cached_property
    def qdrant(self) -> "QdrantLine | None":
        """The line to the Qdrant server, if one is set."""
        url = self.settings.qdrant_url
        return self.qdrant_line(url) if url else None

    def qdrant_line(self, url: str) -> "QdrantLine":
        """Lay a line to a Qdrant server, with the key that is set."""
        from bythebook.adapters.qdrant.line import QdrantLine

        return QdrantLine.to(url, self.settings.qdrant_api_key.get_secret_value())

    def qdrant_press(self, line: "QdrantLine") -> "QdrantPress":
        """What makes generations on a Qdrant server."""
        from bythebook.adapters.qdrant.press import QdrantPress

        return QdrantPress(self.library, line, self._qdrant_layout())

    async def copy_to_qdrant(
        self, book: Book, url: str, on_copied: Callable[[int, int], None]
    ) -> bool:
        """Copy a book to a Qdrant server without embedding it; says no if it was there."""
        from bythebook.adapters.qdrant.copy import copy_book

        here = has_shard(self.library, book)  # also where a server is set, which may not have it
        source = EdgeIndex(self.library, self.settings.data_dir) if here else self.index
        line = self.qdrant_line(url)
        try:
            return await copy_book(book, self.library, source, self.qdrant_press(line), on_copied)
        finally:
            line.close()
            source.close()

    def _qdrant_layout(self) -> "QdrantLayout":
        from bythebook.adapters.qdrant.layout import QdrantLayout

        given = self.settings
        return QdrantLayout(
            given.qdrant_shards,
            given.qdrant_replicas,
            given.qdrant_quantisation,
            given.qdrant_on_disk,
        )

    @cached_property
    def judge(self) -> OnnxJudge:
        """The bundled judge."""
        return OnnxJudge(JudgeModel(self.crew), self.encoder)

    @cached_property
    def ask(self) -> AskPorts:
        """What answering needs."""
        ports = AskPorts(
            library=self.library,
            embedder=self.embedder,
            index=self.index,
            calibrations=self.calibrations,
            judge=self.judge,
            support=self.judge,
            generator=ExtractiveGenerator(),
            reader_url=self.settings.reader_url,
        )
        return ports if self.models is None else self.models.answering_with(ports)

    @cached_property
    def model_access(self) -> ModelAccess | None:
        """How a language model is reached, if one is set."""
        return model_access(self.settings)

    @cached_property
    def runs(self) -> "Runs | None":
        """The way to the language model, if one is set; its SDK takes seconds to load."""
        access = self.model_access
        if access is None:
            return None
        from bythebook.adapters.providers.agents.connection import Connection
        from bythebook.adapters.providers.agents.runs import Runs

        return Runs(Connection(access.url, access.model, access.key, access.ids))

    @cached_property
    def models(self) -> "Models | None":
        """The language model in its roles, if one is set."""
        if self.runs is None:
            return None
        from bythebook.bootstrap.models import build_models

        return build_models(self.runs, self.settings)

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
    def press(self) -> "EdgePress | QdrantPress":
        """What makes and removes generations."""
        return EdgePress(self.library) if self.qdrant is None else self.qdrant_press(self.qdrant)

    @cached_property
    def ingest(self) -> IngestPorts:
        """What ingesting needs."""
        cache = SqliteVectors(self.settings.data_dir / "cache" / "vectors.sqlite")
        return IngestPorts(self.reader, self.embedder, cache, self.press)

    @cached_property
    def reader(self) -> AnyBookReader:
        """What reads books of every kind; answering needs none of it, and it takes time to load."""
        from bythebook.adapters.readers.epub.reader import EpubReader
        from bythebook.adapters.readers.html.folder import HtmlFolderReader
        from bythebook.adapters.readers.markdown.reader import MarkdownReader
        from bythebook.adapters.readers.pdf.reader import PdfReader
        from bythebook.adapters.readers.rst.reader import RstReader
        from bythebook.adapters.readers.site.reader import SiteReader

        site = SiteReader(
            self.settings.data_dir / "cache" / "sites", allowed_hosts=self.settings.site_hosts
        )
        return AnyBookReader(
            {
                "markdown": MarkdownReader(),
                "rst": RstReader(),
                "html": HtmlFolderReader(),
                "pdf": PdfReader(),
                "epub": EpubReader(),
                "site": site,
            }
        )

    def service(self) -> "Service":
        """What the HTTP application serves; commands that do not serve need none of it."""
        from bythebook.bootstrap.service import build_service

        return build_service(self)

    def database(self) -> "Database":
        """The records' database, for one event loop; loading its driver takes time."""
        from bythebook.adapters.sql.address import records_address
        from bythebook.adapters.sql.database import Database

        url = self.settings.database_url.get_secret_value()
        return Database(records_address(url, self.settings.data_dir))

    @asynccontextmanager
    async def keys(self) -> AsyncIterator[KeyStore]:
        """Give the keys to the service, for the length of a command."""
        from bythebook.adapters.sql.keys import SqlKeyStore

        async with self.database() as database:
            yield SqlKeyStore(database)

    def log(self) -> None:
        """Have all that this process logs written to stderr, as configured and without secrets."""
        from bythebook.adapters.json_logs import set_up_logs
        from bythebook.adapters.log_secrets import secrets_in

        given = self.settings
        secret = (
            given.database_url,
            given.redis_url,
            given.alert_webhook,
            given.embedder_api_key,
            given.qdrant_api_key,
        )
        model_key = self.model_access.key if self.model_access else ""
        secrets = secrets_in([model_key, *(one.get_secret_value() for one in secret)])
        set_up_logs(given.log_level, given.log_format, secrets)

    def close(self) -> None:
        """Let go of what is open."""
        if "index" in self.__dict__:
            self.index.close()
        line = self.__dict__.get("qdrant")
        if line is not None:  # an ingest has a press but no index
            line.close()


def sample_book() -> Path:
    """Find the sample book: inside an installed package, or beside its source."""
    package = Path(bythebook.__file__).parent
    installed = package / "examples" / "book"
    return installed if installed.is_dir() else package.parents[1] / "examples" / "book"
