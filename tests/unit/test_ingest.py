import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.unit.fakes import FakeCache, FakeEmbedder, FakePress, FakeReader, make_document

from bythebook.errors import EmbedderFailed, UnreadableBook
from bythebook.ingest.embed import BATCH
from bythebook.ingest.pipeline import IngestOrder, IngestPorts, ingest
from bythebook.ingest.report import IngestReport, Progress
from bythebook.ports import Vectors

ONE = make_document(("heading", "Gaits"), ("paragraph", "One."), document_id="one")
TWO = make_document(("heading", "Gaits"), ("paragraph", "Two."), document_id="two")
CHANGED = make_document(("heading", "Gaits"), ("paragraph", "Changed."), document_id="two")


@dataclass
class Workshop:
    """The parts of a run over fakes."""

    reader: FakeReader = field(default_factory=lambda: FakeReader([ONE, TWO]))
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)
    cache: FakeCache = field(default_factory=FakeCache)
    press: FakePress = field(default_factory=FakePress)
    told: list[Progress] = field(default_factory=list)

    def run(self, *, dry_run: bool = False) -> IngestReport:
        ports = IngestPorts(self.reader, self.embedder, self.cache, self.press)
        order = IngestOrder(Path("robots"), "robots", dry_run=dry_run)
        return asyncio.run(ingest(order, ports, self.told.append))


def test_a_run_publishes_every_chunk_with_its_vector() -> None:
    workshop = Workshop()
    report = workshop.run()
    (edition,) = workshop.press.editions
    assert [chunk.text for chunk in edition.chunks] == ["One.", "Two."]
    assert edition.vectors == 2
    assert edition.documents == (ONE, TWO)
    assert edition.published is not None
    assert (edition.published.book_id, edition.published.chunks) == ("robots", 2)
    assert edition.published.embedding_model == workshop.embedder.model_id
    assert (report.added, report.kept, report.removed, report.embedded) == (2, 0, 0, 2)
    assert report.published


def test_the_embedder_reads_the_headings_with_the_text() -> None:
    workshop = Workshop()
    workshop.run()
    assert sorted(workshop.embedder.read) == ["Walking > Gaits\nOne.", "Walking > Gaits\nTwo."]


def test_only_what_changed_is_embedded_again() -> None:
    workshop = Workshop()
    workshop.run()
    workshop.embedder.read.clear()
    workshop.reader.documents = [ONE, CHANGED]
    report = workshop.run()
    assert workshop.embedder.read == ["Walking > Gaits\nChanged."]
    assert (report.added, report.kept, report.removed, report.embedded) == (1, 1, 1, 1)


def test_another_embedding_model_embeds_everything_anew() -> None:
    workshop = Workshop()
    workshop.run()
    workshop.embedder.model_id = "another"
    assert workshop.run().embedded == 2


def test_equal_texts_are_embedded_once() -> None:
    twin = make_document(("heading", "Gaits"), ("paragraph", "One."), document_id="twin")
    workshop = Workshop(FakeReader([ONE, twin]))
    report = workshop.run()
    assert (report.chunks, report.embedded, len(workshop.embedder.read)) == (2, 1, 1)


def test_a_dry_run_counts_but_neither_embeds_nor_publishes() -> None:
    workshop = Workshop()
    report = workshop.run(dry_run=True)
    assert (report.chunks, report.embedded, report.published) == (2, 2, False)
    assert workshop.embedder.read == []
    assert workshop.press.editions == []


def test_a_source_that_cannot_be_read_publishes_nothing() -> None:
    workshop = Workshop(FakeReader([], failure=UnreadableBook("It is no book.")))
    with pytest.raises(UnreadableBook):
        workshop.run()
    assert not any(edition.published for edition in workshop.press.editions)


def test_a_failing_embedder_publishes_nothing() -> None:
    workshop = Workshop(embedder=FakeEmbedder(failure=EmbedderFailed("It broke.")))
    with pytest.raises(EmbedderFailed):
        workshop.run()
    assert not any(edition.published for edition in workshop.press.editions)


def test_vectors_that_are_no_numbers_are_not_stored() -> None:
    workshop = Workshop(embedder=FakeEmbedder(value=math.nan))
    with pytest.raises(EmbedderFailed, match="finite"):
        workshop.run()
    assert workshop.cache.vectors == {}


def test_a_run_that_broke_off_goes_on_where_it_stopped() -> None:
    @dataclass
    class Breaking(FakeEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if self.read:
                raise EmbedderFailed("It broke.")
            return await super().embed_passages(texts)

    documents = [
        make_document(("heading", "Gaits"), ("paragraph", f"Text {n}."), document_id=str(n))
        for n in range(BATCH + 10)
    ]
    workshop = Workshop(FakeReader(documents), Breaking())
    with pytest.raises(EmbedderFailed):
        workshop.run()
    workshop.embedder = FakeEmbedder()
    assert workshop.run().embedded == 10
    assert len(workshop.press.editions[-1].chunks) == BATCH + 10


def test_progress_is_told_stage_by_stage_up_to_its_total() -> None:
    workshop = Workshop()
    workshop.run()
    stages = list(dict.fromkeys(step.stage for step in workshop.told))
    assert stages == ["reading", "embedding", "publishing"]
    for stage in stages:
        last = [step for step in workshop.told if step.stage == stage][-1]
        assert last.done == last.total > 0
