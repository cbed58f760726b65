"""Settings -> adapters -> core: the one place where concrete classes meet."""

from functools import cached_property
from pathlib import Path

import bythebook
from bythebook.adapters.book_folder import BookFolder
from bythebook.adapters.edge_index import EdgeIndex
from bythebook.adapters.edge_press import EdgePress
from bythebook.adapters.minilm import MiniLm
from bythebook.adapters.onnx_embedder import OnnxEmbedder
from bythebook.adapters.readers.any_book import AnyBookReader
from bythebook.adapters.sentence_judge import SentenceJudge
from bythebook.adapters.sqlite_vectors import SqliteVectors
from bythebook.ask.compose import ExtractiveGenerator
from bythebook.ask.pipeline import AskPorts
from bythebook.ask.plan import make_plan
from bythebook.ask.retrieve import retrieve
from bythebook.domain.questions import Question
from bythebook.errors import NoBooks
from bythebook.http.app import Service
from bythebook.ingest.pipeline import IngestPorts
from bythebook.settings import Settings


class Core:
    """The parts as configured, each made when first needed."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.library = BookFolder(settings.data_dir)

    @cached_property
    def encoder(self) -> MiniLm:
        """The bundled sentence encoder, shared by embedder and judge."""
        return MiniLm(threads=self.settings.threads)

    @cached_property
    def embedder(self) -> OnnxEmbedder:
        """The bundled embedder."""
        return OnnxEmbedder(self.encoder)

    @cached_property
    def index(self) -> EdgeIndex:
        """The embedded chunk index."""
        return EdgeIndex(self.library, self.settings.data_dir)

    @cached_property
    def ask(self) -> AskPorts:
        """What answering needs."""
        return AskPorts(
            library=self.library,
            embedder=self.embedder,
            index=self.index,
            judge=SentenceJudge(self.encoder),
            generator=ExtractiveGenerator(),
            reader_url=self.settings.reader_url,
        )

    @cached_property
    def press(self) -> EdgePress:
        """What makes and removes generations."""
        return EdgePress(self.library)

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

    def service(self) -> Service:
        """What the HTTP application serves."""
        checks = {
            "library": self._check_library,
            "embedder": self._check_embedder,
            "index": self._check_index,
        }
        return Service(
            ask=self.ask,
            reader_url=self.settings.reader_url,
            version=bythebook.__version__,
            models=self.settings.model_names,
            checks=checks,
            close=self.close,
        )

    def close(self) -> None:
        """Let go of what is open."""
        if "index" in self.__dict__:
            self.index.close()

    async def _check_library(self) -> None:
        if not self.library.books():
            raise NoBooks("There is no book to ask yet.", "Ingest one: `bythebook ingest PATH`.")

    async def _check_embedder(self) -> None:
        await self.embedder.embed_query("ready?")

    async def _check_index(self) -> None:
        plan = make_plan(Question("Is the book ready?"))
        await retrieve(plan, library=self.library, embedder=self.embedder, index=self.index)


def sample_book() -> Path:
    """Find the sample book: inside an installed package, or beside its source."""
    package = Path(bythebook.__file__).parent
    installed = package / "examples" / "book"
    return installed if installed.is_dir() else package.parents[1] / "examples" / "book"
