import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from tests.unit.fakes import FakeCache, FakeEmbedder, FakeIndexWriter, FakeReader, make_document

from bythebook.cite import make_citation_id
from bythebook.domain.books import Document
from bythebook.domain.reports import CitationSurvival, IngestReport
from bythebook.errors import RecordsFailed
from bythebook.ingest.pipeline import IngestOrder, IngestPorts, ingest

LEGS = "A leg has three joints and a foot that feels the ground."
STEPS = "Every step begins with a shift of weight to the other leg."
PACE = "The pace is what the battery allows, and seldom more than that."


def page(*sentences: str) -> Document:
    return make_document(("heading", "Gaits"), *(("paragraph", one) for one in sentences))


@dataclass
class Recorded:
    """The records of what was cited."""

    ids: list[str] = field(default_factory=list)
    fails: bool = False

    async def list_recent(self, book_id: str, most: int) -> Sequence[str]:
        if self.fails:
            raise RecordsFailed("The records cannot be read.")
        return self.ids[:most]


@dataclass
class Workshop:
    recorded: Recorded = field(default_factory=Recorded)
    writer: FakeIndexWriter = field(default_factory=FakeIndexWriter)

    def run(self, document: Document, *, dry_run: bool = False) -> IngestReport:
        reader = FakeReader([document])
        ports = IngestPorts(reader, FakeEmbedder(), FakeCache(), self.writer, self.recorded)
        order = IngestOrder("robots", "robots", dry_run=dry_run)
        return asyncio.run(ingest(order, ports, lambda _progress: None))


def cite(document: Document, words: str) -> str:
    start = document.text.index(words)
    span = start, start + len(words)
    return str(make_citation_id("robots", document.document_id, document.text, span))


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_report_says_how_many_recent_citations_survive(dry_run: bool) -> None:
    first = page(LEGS, STEPS, PACE)
    workshop = Workshop(Recorded([*(cite(first, one) for one in (LEGS, STEPS, PACE)), "robots.x"]))
    assert workshop.run(first).citations is None  # the book is new: nothing can have been cited
    report = workshop.run(page(STEPS.replace("shift", "move"), LEGS), dry_run=dry_run)
    assert report.citations is not None
    assert report.citations.recent == 3
    assert (report.citations.edited, report.citations.gone) == (1, 1)
    assert report.citations.standing + report.citations.moved == 1
    assert Workshop(Recorded()).run(first).citations is None


def test_records_that_cannot_be_read_do_not_stop_an_ingest() -> None:
    workshop = Workshop(Recorded(["robots.x"], fails=True))
    workshop.run(page(LEGS))
    assert workshop.run(page(STEPS)).citations is None


def test_nothing_changed_means_that_all_stand() -> None:
    text = page(LEGS, STEPS)
    workshop = Workshop(Recorded([cite(text, LEGS), cite(text, STEPS)]))
    workshop.run(text)
    assert workshop.run(text).citations == CitationSurvival(2, 2, 0, 0, 0)
