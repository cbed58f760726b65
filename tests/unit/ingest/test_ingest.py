import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from tests.unit.fakes import FakeCache, FakeEmbedder, FakeIndexWriter, FakeReader, make_document

from bythebook.domain.books import BlockKind, Document, Link
from bythebook.domain.reports import IngestReport
from bythebook.errors import EmbedderFailed, UnreadableBook
from bythebook.ingest.embed import BATCH
from bythebook.ingest.pipeline import IngestOrder, IngestPorts, ingest
from bythebook.ingest.report import Progress
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
    index_writer: FakeIndexWriter = field(default_factory=FakeIndexWriter)
    progress: list[Progress] = field(default_factory=list)

    def run(self, *, dry_run: bool = False, strict: bool = False) -> IngestReport:
        ports = IngestPorts(self.reader, self.embedder, self.cache, self.index_writer)
        order = IngestOrder("robots", "robots", dry_run=dry_run, strict=strict)
        return asyncio.run(ingest(order, ports, self.progress.append))


def test_a_run_publishes_every_chunk_with_its_vector() -> None:
    workshop = Workshop()
    report = workshop.run()
    (draft,) = workshop.index_writer.drafts
    assert draft.texts == ["One.", "Two."]
    assert draft.vectors == 2
    assert [cut.document for cut in draft.documents] == [ONE, TWO]
    assert draft.published is not None
    assert (draft.published.book_id, draft.published.chunks) == ("robots", 2)
    assert draft.published.embedding_model == workshop.embedder.model_id
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


def test_another_embedding_model_embeds_everything_again() -> None:
    workshop = Workshop()
    workshop.run()
    workshop.embedder.model_id = "another"
    assert workshop.run().embedded == 2


def test_a_document_that_did_not_change_is_not_read_again() -> None:
    workshop = Workshop()
    workshop.run()
    workshop.reader.read_ids.clear()
    workshop.reader.documents = [ONE, CHANGED]
    report = workshop.run()
    assert workshop.reader.read_ids == ["two"]
    assert [document.kept for document in report.documents] == [True, False]


def long_book(pages: int, changed: str = "") -> list[Document]:
    return [
        make_document(
            ("heading", "Gaits"),
            ("paragraph", changed if changed and n == 3 else f"Text {n}."),
            ("heading", "Legs"),
            ("paragraph", f"Leg {n}."),
            document_id=str(n),
        )
        for n in range(pages)
    ]


def test_after_an_edit_only_touched_chunks_are_put_in_and_the_old_ones_taken_out() -> None:
    workshop = Workshop(FakeReader(long_book(10)))
    workshop.run()
    workshop.reader.documents = long_book(10, "Quite another text.")
    report = workshop.run()
    draft = workshop.index_writer.drafts[-1]
    # The paragraph itself, and the one below it, which now stands elsewhere in its document.
    assert sorted(draft.added) == ["Leg 3.", "Quite another text."]
    assert (report.added, report.kept, report.removed, report.embedded) == (1, 19, 1, 1)
    fresh = Workshop(FakeReader(long_book(10, "Quite another text.")))
    fresh.run()
    assert draft.chunks == fresh.index_writer.drafts[-1].chunks


def test_a_damaged_index_is_rebuilt() -> None:
    workshop = Workshop(FakeReader(long_book(10)))
    workshop.run()
    workshop.index_writer.drafts[-1].sound = False
    workshop.run()
    assert len(workshop.index_writer.drafts[-1].added) == 20


def test_of_equal_chunks_the_first_that_is_left_is_indexed_as_in_a_fresh_run() -> None:
    def pages(first: str) -> list[Document]:
        blocks = (("heading", "A"), ("paragraph", first), ("heading", "A"), ("paragraph", "Five."))
        page: list[tuple[BlockKind, str]] = list(blocks)  # type: ignore[arg-type]
        return [make_document(*page, document_id="twice"), *long_book(10)]

    workshop = Workshop(FakeReader(pages("Five.")))
    workshop.run()
    workshop.reader.documents = pages("Sixx.")
    workshop.run()
    fresh = Workshop(FakeReader(pages("Sixx.")))
    fresh.run()
    assert workshop.index_writer.drafts[-1].chunks == fresh.index_writer.drafts[-1].chunks


def test_a_damaged_vector_in_the_cache_is_computed_again() -> None:
    workshop = Workshop()
    workshop.run()
    broken = iter((np.full(4, np.nan, np.float32), np.zeros(3, np.float32)))
    workshop.cache.vectors = {name: next(broken) for name in workshop.cache.vectors}
    workshop.index_writer.drafts.clear()
    assert workshop.run().embedded == 2


def test_the_index_of_a_book_that_changed_much_is_rebuilt() -> None:
    workshop = Workshop()
    workshop.run()
    workshop.reader.documents = [ONE, CHANGED]
    workshop.run()
    assert sorted(workshop.index_writer.drafts[-1].added) == ["Changed.", "One."]


LONG = " ".join(f"Sentence number {n} speaks for itself." for n in range(12))


def test_a_long_text_said_twice_is_indexed_once_whatever_it_stands_under() -> None:
    pages = [
        make_document(("heading", "Gaits"), ("paragraph", LONG), document_id="one"),
        make_document(("heading", "Legs"), ("paragraph", LONG), document_id="two"),
    ]
    report = Workshop(FakeReader(pages)).run()
    assert (report.chunks, report.embedded) == (1, 1)
    assert report.documents[1].left_out == {"duplicate": len(f"Legs{LONG}".replace(" ", ""))}
    assert report.coverage == 1.0


def test_a_short_text_said_twice_is_indexed_once_only_under_the_same_heading() -> None:
    def page(name: str, heading: str) -> Document:
        return make_document(
            ("heading", heading), ("paragraph", "Default: false."), document_id=name
        )

    pages = [page("one", "Gaits"), page("two", "Legs"), page("three", "Gaits")]
    report = Workshop(FakeReader(pages)).run()
    assert [document.chunks for document in report.documents] == [1, 1, 0]


def test_the_second_of_two_equal_texts_takes_over_when_the_first_is_gone() -> None:
    first = make_document(("heading", "Gaits"), ("paragraph", LONG), document_id="first")
    second = make_document(("heading", "Legs"), ("paragraph", LONG), document_id="second")
    others = long_book(10)
    workshop = Workshop(FakeReader([first, second, *others]))
    workshop.run()
    workshop.reader.documents = [second, *others]
    workshop.run()
    draft = workshop.index_writer.drafts[-1]
    assert [c.document_id for c in draft.chunks.values() if c.text == LONG] == ["second"]
    workshop.reader.documents = [first, second, *others]
    workshop.run()
    draft = workshop.index_writer.drafts[-1]
    assert [c.document_id for c in draft.chunks.values() if c.text == LONG] == ["first"]


def test_signs_without_a_letter_are_left_out_as_too_short() -> None:
    document = make_document(
        ("heading", "A"), ("paragraph", "---"), ("heading", "B"), ("paragraph", "Text.")
    )
    report = Workshop(FakeReader([document])).run()
    assert report.documents[0].left_out == {"too short": 3, "heading without text": 1}


def test_a_heading_without_text_is_reported_as_left_out() -> None:
    document = make_document(("heading", "A"), ("paragraph", "Text."), ("heading", "Empty"))
    (reported,) = Workshop(FakeReader([document])).run().documents
    assert reported.left_out == {"heading without text": 5}
    assert (reported.characters, reported.chunked) == (11, 6)


def test_an_unreadable_part_is_skipped_and_reported_and_the_rest_published() -> None:
    bad = {"two": UnreadableBook("It is torn.", "Mend it.")}
    workshop = Workshop(FakeReader([ONE, TWO], unreadable=bad))
    report = workshop.run()
    assert [(part.name, part.reason) for part in report.skipped] == [
        ("two", "It is torn. Mend it.")
    ]
    assert workshop.index_writer.drafts[-1].texts == ["One."]


def test_a_strict_run_publishes_nothing_if_a_part_cannot_be_read() -> None:
    bad = {"two": UnreadableBook("It is torn.", "Mend it.")}
    workshop = Workshop(FakeReader([ONE, TWO], unreadable=bad))
    with pytest.raises(UnreadableBook, match="robots cannot be read: two: It is torn"):
        workshop.run(strict=True)
    assert workshop.index_writer.drafts[-1].published is None


def test_a_book_without_any_text_is_refused() -> None:
    workshop = Workshop(FakeReader([make_document(("heading", "Gaits"))]))
    with pytest.raises(UnreadableBook, match="no text"):
        workshop.run()


def test_broken_links_are_reported() -> None:
    links = (
        Link("two.md", "two"),
        Link("two.md#gaits", "two", "gaits"),
        Link("two.md#notes", "two", "notes"),
        Link("two.md#gone", "two", "gone"),
        Link("three.md", ""),
    )
    pages = [replace(ONE, links=links), replace(TWO, anchors=("notes",))]
    report = Workshop(FakeReader(pages)).run()
    assert [link.target for link in report.broken_links] == ["two.md#gone", "three.md"]


def test_a_dry_run_tells_what_a_paid_embedder_would_cost() -> None:
    workshop = Workshop(embedder=FakeEmbedder(usd_per_million_tokens=2.0))
    report = workshop.run(dry_run=True)
    assert report.tokens == 8  # "Walking > Gaits" and a word, twice
    assert report.cost_usd == pytest.approx(16e-6)


def test_a_dry_run_counts_but_neither_embeds_nor_publishes() -> None:
    workshop = Workshop()
    report = workshop.run(dry_run=True)
    assert (report.chunks, report.embedded, report.published) == (2, 2, False)
    assert workshop.embedder.read == []
    assert workshop.index_writer.drafts == []


def test_a_source_that_cannot_be_read_publishes_nothing() -> None:
    workshop = Workshop(FakeReader([], failure=UnreadableBook("It is no book.")))
    with pytest.raises(UnreadableBook):
        workshop.run()
    assert not any(draft.published for draft in workshop.index_writer.drafts)


def test_a_failing_embedder_publishes_nothing() -> None:
    workshop = Workshop(embedder=FakeEmbedder(failure=EmbedderFailed("It broke.")))
    with pytest.raises(EmbedderFailed):
        workshop.run()
    assert not any(draft.published for draft in workshop.index_writer.drafts)


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
    assert len(workshop.index_writer.drafts[-1].chunks) == BATCH + 10


def test_progress_is_reported_by_stage_up_to_its_total() -> None:
    workshop = Workshop()
    workshop.run()
    stages = list(dict.fromkeys(step.stage for step in workshop.progress))
    assert stages == ["reading", "embedding", "publishing"]
    for stage in stages:
        last = [step for step in workshop.progress if step.stage == stage][-1]
        assert last.done == last.total > 0
