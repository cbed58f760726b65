"""What every chunk index must do, whichever store is under it: a class of tests to inherit.

The module that inherits it gives the fixtures: `core`, the real parts over that store; `another`, which
makes more of them over a data folder; `sample`, the sample book in it; and `source`, a folder for pages.
"""

import asyncio
import json
import random
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.adapters.stores.small_books import (
    BIRDS,
    CRAFTS,
    GLASS,
    HERON,
    PAGES,
    XK9,
    CountingEmbedder,
    find,
    generations,
    publish,
)

from bythebook.adapters.edge.shard import TermCounts
from bythebook.ask.pipeline import collect
from bythebook.ask.read.confidence import measure_confidence
from bythebook.ask.selection.section import find_section
from bythebook.bootstrap import Core
from bythebook.domain.answers import Answered, Hit, Refused
from bythebook.domain.books import Chunk
from bythebook.domain.questions import Question, Scope, SectionSpan
from bythebook.errors import StoreFailed, WrongEmbedder
from bythebook.ports import Lookup, Vectors

MakeCore = Callable[[Path], Core]


def shard_file(core: Core, name: str) -> Path:
    folder = core.library.generation_folder(core.library.book("tales"))
    return next(path for path in sorted(folder.rglob(name)) if path.is_file())


DAMAGES: dict[str, Callable[[Path], object]] = {
    "term counts": lambda shard: (shard / "term_counts.json").write_text("{}"),
    "ids": lambda shard: (shard / "chunk_ids.txt").write_text(""),
    "revision": lambda shard: (shard / "revision.txt").write_text("0"),
    "cuts": lambda shard: (shard.parent / "cuts" / "00000.json").write_text("[[1, 2]]"),
    "texts": lambda shard: (shard.parent / "documents" / "00000.json").write_text("{"),
    "contents": lambda shard: (shard.parent / "contents.json").unlink(),
}


def list_stored(core: Core) -> tuple[object, ...]:
    shard = core.library.generation_folder(core.library.book("tales")) / "shard"
    counts = TermCounts.load(shard)
    hits = find(core, "the same stone", limit=200)
    terms = {term: count for term, count in counts.counts.items() if count}
    return {hit.chunk.chunk_id: hit.chunk for hit in hits}, counts.chunks, terms


def vectors(core: Core, hits: Sequence[Hit]) -> Vectors:
    return asyncio.run(core.index.vectors([hit.chunk for hit in hits]))


def find_within(core: Core, question: str, span: SectionSpan, limit: int = 30) -> list[Hit]:
    vector = asyncio.run(core.embedder.embed_query(question))
    books = [core.library.book(span.book_id)]
    return list(asyncio.run(core.index.search(Lookup(question, vector, books, limit, span))))


def sections(core: Core, book_id: str) -> Iterator[SectionSpan]:
    for document in core.library.documents(book_id):
        for section in document.sections:
            yield SectionSpan(book_id, document.document_id, section.start, section.end)


class IndexSuite:
    """Searching, generations, what is embedded, damage, vectors, sections."""

    def test_a_passage_is_found_by_its_meaning(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        best = find(core, "A long-legged bird, motionless by a pond, hoping to eat")[0]
        assert best.chunk.text == HERON
        assert best.cosine > 0.3
        assert best.words < 0.1

    def test_a_passage_is_found_by_its_words(self, core: Core, source: Path) -> None:
        filler = {f"{n}.md": f"# Page {n}\n\nValves and parts of kind {n}.\n" for n in range(40)}
        publish(core, source, "tales", {**PAGES, **filler})
        hits = find(core, "XK9000")
        best = max(hits, key=lambda hit: hit.words)
        assert best.chunk.text == XK9
        assert all(hit.words == 0 for hit in hits if "XK9000" not in hit.chunk.text)

    def test_every_hit_has_both_scores_in_their_ranges(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        for question in ("How is glass made from sand?", HERON, "zzz", "heron " * 60, "🤖", "?"):
            hits = find(core, question)
            assert len(hits) == 4
            assert all(-1 <= hit.cosine <= 1.0001 for hit in hits)
            assert all(0 <= hit.words <= 1 for hit in hits)
        exact = find(core, HERON)[0]
        assert exact.chunk.text == HERON
        assert exact.cosine > 0.8
        assert exact.words > 0.5

    def test_a_chunk_comes_back_as_it_was_cut(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        for hit in find(core, "heron"):
            chunk = hit.chunk
            text = core.library.document("tales", chunk.document_id).text
            assert text[chunk.char_start : chunk.char_end] == chunk.text
            assert list(chunk.unit_texts()) == [chunk.text]
            assert chunk.heading_path[-1] == chunk.section
            assert chunk.chunk_id in core.index_writer.chunk_ids("tales")

    def test_the_limit_bounds_what_each_way_finds(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        vector = asyncio.run(core.embedder.embed_query("heron"))
        hits = asyncio.run(core.index.search(Lookup("XK9000", vector, core.library.books(), 1)))
        assert {hit.chunk.text for hit in hits} == {HERON, XK9}  # one by meaning, one by words

    def test_one_book_or_all_are_searched(self, core: Core, source: Path) -> None:
        publish(core, source, "birds", {"birds.md": BIRDS})
        publish(core, source, "crafts", {"crafts.md": CRAFTS})
        assert {hit.chunk.book_id for hit in find(core, "heron")} == {"birds", "crafts"}
        only = find(core, "heron", [core.library.book("crafts")])
        assert {hit.chunk.book_id for hit in only} == {"crafts"}
        assert find(core, "heron", []) == []

    def test_the_same_page_in_two_books_has_two_ids(self, core: Core, source: Path) -> None:
        publish(core, source, "one", {"birds.md": BIRDS})
        publish(core, source, "two", {"birds.md": BIRDS})
        first, second = core.index_writer.chunk_ids("one"), core.index_writer.chunk_ids("two")
        assert len(first) == len(second) == 2
        assert not first & second

    def test_an_open_index_sees_a_new_generation_at_the_next_question(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "tales", {"birds.md": BIRDS})
        index = core.index
        assert find(core, "How is glass made?")[0].chunk.text != GLASS
        publish(core, source, "tales")
        assert find(core, "How is glass made?")[0].chunk.text == GLASS
        assert core.index is index

    def test_a_reader_that_comes_late_with_an_old_pointer_gets_the_new_generation(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "tales", {"birds.md": BIRDS})
        old = core.library.books()
        publish(core, source, "tales", {"crafts.md": CRAFTS})
        assert find(core, "glass", old)[0].chunk.text == GLASS

    def test_no_question_fails_while_generations_change(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        stop = threading.Event()
        failures: list[BaseException] = []
        asked = [0, 0]

        def reader(number: int) -> None:
            try:
                while not stop.is_set():
                    assert find(core, "How is glass made?")[0].chunk.text == GLASS
                    asked[number] += 1
            except BaseException as error:  # noqa: BLE001 - handed to the test
                failures.append(error)

        threads = [threading.Thread(target=reader, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for turn in range(6):
            publish(core, source, "tales", {**PAGES, "more.md": f"# More\n\nPage number {turn}.\n"})
        stop.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert min(asked) > 6

    def test_old_generations_are_removed(self, core: Core, source: Path) -> None:
        for turn in range(3):
            publish(core, source, "tales", {"page.md": f"# Page\n\nTurn number {turn}.\n"})
            assert generations(core, "tales") == [core.library.book("tales").generation]

    def test_a_failed_run_leaves_the_live_generation_alone(self, core: Core, source: Path) -> None:
        class Failing(CountingEmbedder):
            async def embed_passages(self, texts: Sequence[str]) -> Vectors:
                raise OSError("cut off")

        publish(core, source, "tales")
        live = core.library.book("tales")
        with pytest.raises(OSError, match="cut off"):
            publish(
                core, source, "tales", {"new.md": "# N\n\nNew."}, embedder=Failing(core.embedder)
            )
        assert core.library.book("tales") == live
        assert generations(core, "tales") == [live.generation]
        assert find(core, "glass")[0].chunk.text == GLASS

    def test_ingesting_again_gives_the_same_ids_and_embeds_nothing(
        self, core: Core, source: Path
    ) -> None:
        first = CountingEmbedder(core.embedder)
        report = publish(core, source, "tales", embedder=first)
        ids = core.index_writer.chunk_ids("tales")
        assert (
            len(ids) == report.chunks == report.added == report.embedded == len(first.passages) == 4
        )
        second = CountingEmbedder(core.embedder)
        again = publish(core, source, "tales", embedder=second)
        assert core.index_writer.chunk_ids("tales") == ids
        assert second.passages == []
        assert (again.added, again.kept, again.removed, again.embedded) == (0, 4, 0, 0)

    def test_a_change_of_one_page_embeds_only_its_chunk(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        before = core.index_writer.chunk_ids("tales")
        embedder = CountingEmbedder(core.embedder)
        changed = {**PAGES, "birds.md": BIRDS.replace("shallow", "cold")}
        report = publish(core, source, "tales", changed, embedder=embedder)
        assert len(embedder.passages) == 1
        assert "cold water" in embedder.passages[0]
        assert len(before & core.index_writer.chunk_ids("tales")) == 3
        assert (report.added, report.kept, report.removed) == (1, 3, 1)

    def test_a_page_that_moves_within_the_book_is_not_embedded_again(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "tales")
        embedder = CountingEmbedder(core.embedder)
        new_page = {"a-first.md": "# First\n\nA page before all others.\n"}
        publish(core, source, "tales", {**new_page, **PAGES}, embedder=embedder)
        assert len(embedder.passages) == 1

    def test_another_model_embeds_everything(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        embedder = CountingEmbedder(core.embedder, name="another model")
        publish(core, source, "tales", embedder=embedder)
        assert len(embedder.passages) == 4
        assert core.library.book("tales").embedding_model == "another model"

    def test_an_index_of_another_model_is_not_searched(self, core: Core, source: Path) -> None:
        embedder = CountingEmbedder(core.embedder, name="all-MiniLM-L6-v2-another-build")
        publish(core, source, "tales", embedder=embedder)
        with pytest.raises(WrongEmbedder, match="all-MiniLM-L6-v2-another-build") as caught:
            asyncio.run(collect(Question("How is glass made?"), core.ask))
        assert "Ingest 'tales' again" in caught.value.help_message
        ports = replace(core.ask, embedder=embedder)
        assert isinstance(asyncio.run(collect(Question("How is glass made?"), ports)), Answered)

    def test_two_indexes_read_one_folder_side_by_side(
        self, core: Core, source: Path, another: MakeCore
    ) -> None:
        publish(core, source, "tales")
        other = another(core.settings.data_dir)
        assert find(core, "glass")[0].chunk.text == GLASS
        assert find(other, "glass")[0].chunk.text == GLASS
        other.close()
        assert find(core, "heron")[0].chunk.text == HERON
        publish(core, source, "tales", {"crafts.md": CRAFTS})
        assert find(other, "heron")[0].chunk.text != HERON  # a closed index opens again
        other.close()

    def test_term_counts_without_counts_are_a_failed_store(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        shard_file(core, "term_counts.json").write_text(json.dumps({"chunks": 4}))
        with pytest.raises(StoreFailed):
            find(core, "heron")

    def test_a_missing_generation_is_a_failed_store_until_ingested_again(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "tales")
        shutil.rmtree(core.library.generation_folder(core.library.book("tales")))
        with pytest.raises(StoreFailed, match="tales"):
            find(core, "heron")
        report = publish(core, source, "tales")
        assert (report.added, report.embedded) == (4, 0)
        assert find(core, "heron")[0].chunk.text == HERON

    @pytest.mark.parametrize("damage", DAMAGES)
    def test_a_damaged_generation_is_put_right_by_ingesting_again(
        self, core: Core, source: Path, damage: str
    ) -> None:
        publish(core, source, "tales")
        ids = core.index_writer.chunk_ids("tales")
        DAMAGES[damage](core.library.generation_folder(core.library.book("tales")) / "shard")
        publish(core, source, "tales")
        assert core.index_writer.chunk_ids("tales") == ids
        assert find(core, "Where does the heron stand?")[0].chunk.text.startswith(HERON)
        assert len(core.library.documents("tales")) == 2

    def test_a_mended_index_holds_what_a_fresh_one_does(
        self, core: Core, source: Path, tmp_path: Path, another: MakeCore
    ) -> None:
        """Random edits, one after another: ids, payloads and term counts stay those of a fresh run."""
        dice = random.Random(3)
        pages = {f"p{n}.md": f"# P{n}\n\nStone {n}.\n\n## Same\n\nThe same.\n" for n in range(12)}
        publish(core, source, "tales", pages)
        for turn in range(8):
            name = dice.choice(sorted(pages))
            match dice.randrange(4):
                case 0:
                    pages[name] = f"# P\n\nTurn {turn}.\n\n## Same\n\nThe same.\n"
                case 1:
                    pages[f"new{turn}.md"] = f"# New {turn}\n\nStone {dice.randrange(12)}.\n"
                case 2:
                    del pages[name]
                case _:
                    pages[name] = f"# First\n\nMore.\n\n{pages[name]}"
            publish(core, source, "tales", pages)
            fresh = another(tmp_path / f"fresh{turn}")
            publish(fresh, tmp_path / "fresh-source", "tales", pages)
            assert list_stored(core) == list_stored(fresh)
            fresh.close()

    def test_vectors_of_the_sample_book_come_in_order_and_as_they_were_embedded(
        self,
        sample: Core,
    ) -> None:
        hits = find(sample, "How does a robot keep its balance?")[:6]
        embedded = asyncio.run(sample.embedder.embed_passages([h.chunk.context for h in hits]))
        stored = vectors(sample, hits)
        assert stored.shape == (6, sample.embedder.dimension)
        assert np.allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-5)
        cosines = np.sum(stored * embedded, axis=1) / np.linalg.norm(embedded, axis=1)
        assert cosines.min() > 0.98  # int8 embeds alone a little otherwise than in company
        assert np.array_equal(vectors(sample, hits[::-1]), stored[::-1])
        assert vectors(sample, []).shape == (0, 0)

    def test_the_real_passages_of_an_answer_have_a_diversity(self, sample: Core) -> None:
        end = asyncio.run(collect(Question("What is ROS 2?"), sample.ask))
        assert isinstance(end, Answered)
        metrics = asyncio.run(measure_confidence(end, sample.index))
        assert 0.05 < metrics.chunk_diversity < 0.95
        assert metrics.should_answer

    def test_vectors_of_several_books_come_in_the_order_of_the_chunks(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "one", {"birds.md": BIRDS})
        publish(core, source, "two", {"crafts.md": CRAFTS})
        hits = find(core, "heron")
        mixed = [hits[0], hits[2], hits[1], hits[3], hits[0]]
        stored = vectors(core, mixed)
        for row, hit in zip(stored, mixed, strict=True):
            assert np.array_equal(row, vectors(core, [hit])[0])

    def test_a_chunk_that_a_new_generation_no_longer_has_has_no_direction(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "tales")
        hits = sorted(find(core, "heron"), key=lambda hit: hit.chunk.document_id)  # birds, crafts
        before = vectors(core, hits)
        publish(core, source, "tales", {"crafts.md": CRAFTS})
        find(core, "glass")  # another reader's question moves the index on
        after = vectors(core, hits)
        assert after.shape == before.shape
        assert not after[:2].any()
        assert np.array_equal(after[2:], before[2:])

    def test_chunks_of_a_book_that_was_removed_have_no_direction(
        self, core: Core, source: Path
    ) -> None:
        publish(core, source, "tales")
        hits = find(core, "heron")
        core.index_writer.remove("tales")
        assert not vectors(core, hits).any()

    def test_vectors_are_read_where_no_question_was_asked_before(
        self, core: Core, source: Path, another: MakeCore
    ) -> None:
        publish(core, source, "tales")
        hits = find(core, "heron")
        other = another(core.settings.data_dir)
        try:
            assert np.array_equal(vectors(other, hits), vectors(core, hits))
        finally:
            other.close()

    def test_every_section_of_the_sample_book_gives_all_its_chunks_whatever_is_asked(
        self,
        sample: Core,
    ) -> None:
        """The question is nearest to other sections, so that only a filter in the index finds these."""
        question, books = "What is ROS 2?", sample.library.books()

        async def chunks_by_section() -> AsyncIterator[tuple[SectionSpan, Chunk]]:
            vector = await sample.embedder.embed_query(question)
            for span in sections(sample, "physical-ai"):
                for hit in await sample.index.search(Lookup(question, vector, books, 30, span)):
                    yield span, hit.chunk

        async def run() -> list[tuple[SectionSpan, Chunk]]:
            return [found async for found in chunks_by_section()]

        found = asyncio.run(run())
        assert all(span.holds(chunk) for span, chunk in found)
        assert {chunk.chunk_id for _, chunk in found} == sample.index_writer.chunk_ids(
            "physical-ai"
        )

    def test_scores_within_a_section_are_those_of_the_whole_book(self, sample: Core) -> None:
        question = "How do ROS 2 nodes communicate?"
        everywhere = {hit.chunk.chunk_id: hit for hit in find(sample, question, limit=400)}
        for span in list(sections(sample, "physical-ai"))[:40]:
            for hit in find_within(sample, question, span):
                same = everywhere[hit.chunk.chunk_id]
                assert hit.cosine == pytest.approx(same.cosine, abs=1e-6)
                assert hit.words == pytest.approx(same.words, abs=1e-6)

    def test_the_limit_holds_within_a_section_too(self, sample: Core) -> None:
        whole_page = SectionSpan("physical-ai", "index", 0, 10_000)
        assert 1 <= len(find_within(sample, "Who is it for?", whole_page, limit=1)) <= 2

    def test_a_section_of_another_page_or_of_none_is_empty(self, core: Core, source: Path) -> None:
        publish(core, source, "tales")
        assert find_within(core, "heron", SectionSpan("tales", "no-page", 0, 1000)) == []
        assert find_within(core, "heron", SectionSpan("tales", "birds", 0, 3)) == []

    def test_a_selection_leads_to_an_answer_from_its_section_only(self, sample: Core) -> None:
        selected = "the “proportional–derivative” (PD)\n controller"
        span = find_section(selected, sample.library, "physical-ai")
        text = sample.library.document("physical-ai", span.document_id).text
        assert text[span.char_start :].startswith("Open-loop and closed-loop action")
        question = Question("What does closed-loop control correct?", Scope(section=span))
        end = asyncio.run(collect(question, sample.ask))
        assert isinstance(end, Answered)
        assert all(span.holds(passage.chunk) for passage in end.passages)
        elsewhere = replace(question, text="What is URDF?")
        assert isinstance(asyncio.run(collect(elsewhere, sample.ask)), Refused)
