"""Small books, and the real parts over them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bythebook.bootstrap import Core
from bythebook.domain.answers import Hit
from bythebook.domain.books import Book
from bythebook.domain.reports import IngestReport
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.ports import Embedder, Lookup, Vector, Vectors
from bythebook.settings import Settings

HERON = "The grey heron stands still in shallow water until a fish comes near."
GLASS = "Glass is made by melting sand with soda ash and limestone."
XK9 = "The part number of the spare valve is XK9000."
BIRDS = f"# Birds\n\n## The heron\n\n{HERON}\n\n## The owl\n\nOwls hunt mice at night by ear.\n"
CRAFTS = f"# Crafts\n\n## Glass\n\n{GLASS}\n\n## Valves\n\n{XK9}\n"
PAGES: Mapping[str, str] = {"birds.md": BIRDS, "crafts.md": CRAFTS}


@dataclass
class CountingEmbedder:
    """A real embedder that remembers which passages it was given."""

    inner: Embedder
    passages: list[str] = field(default_factory=list)
    name: str | None = None

    @property
    def model_id(self) -> str:
        return self.name or self.inner.model_id

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    @property
    def usd_per_million_tokens(self) -> float:
        return self.inner.usd_per_million_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.inner.count_tokens(texts)

    async def embed_query(self, text: str) -> Vector:
        return await self.inner.embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages.extend(texts)
        return await self.inner.embed_passages(texts)


def core_over(data_dir: Path, encoder_of: Core | None = None) -> Core:
    """Make the real parts over a data folder; the model may be that of another core."""
    core = Core(Settings(data_dir=data_dir, threads=2))
    if encoder_of is not None:
        core.replace(encoder=encoder_of.encoder)
    return core


def write_pages(folder: Path, pages: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def publish(
    core: Core,
    folder: Path,
    book_id: str,
    pages: Mapping[str, str] = PAGES,
    *,
    embedder: Embedder | None = None,
) -> IngestReport:
    """Ingest pages as a book."""
    ports = replace(core.ingest, embedder=embedder or core.embedder)
    order = IngestOrder(str(write_pages(folder, pages)), book_id)
    return asyncio.run(ingest(order, ports, lambda _: None))


def find(
    core: Core, question: str, books: Sequence[Book] | None = None, *, limit: int = 10
) -> list[Hit]:
    """Search, best cosine first."""

    async def run() -> Sequence[Hit]:
        vector = await core.embedder.embed_query(question)
        asked = core.library.books() if books is None else books
        return await core.index.search(Lookup(question, vector, asked, limit))

    return sorted(asyncio.run(run()), key=lambda hit: -hit.cosine)


def generations(core: Core, book_id: str) -> list[str]:
    """Name the generations that lie on disk."""
    folder = core.library.root / book_id / "generations"
    return sorted(path.name for path in folder.iterdir())
