"""Runs that are killed, and runs that meet: the live book stays, the next run is whole."""

import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.adapters.stores.small_books import core_over, find, generations, publish

from bythebook.bootstrap import Core
from bythebook.errors import BusyBook
from bythebook.ingest.embed import BATCH

OLD = {"birds.md": "# Birds\n\nThe heron waits at the river until a fish comes near.\n"}
NEW = {
    f"page{n}.md": f"# Page {n}\n\n"
    + "\n\n".join(
        f"## Part {n}.{m}\n\nStone number {n}-{m} lies on hill {m} of valley {n}."
        for m in range(12)
    )
    for n in range(16)
}
ENDED_SECONDS = 300
CHILD = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
from bythebook.bootstrap import Core
from bythebook.ingest.pipeline import IngestOrder, ingest
from bythebook.settings import Settings

core = Core(Settings(data_dir=Path(sys.argv[1]), threads=1))

class Held:
    # Embeds as many batches as it may, then waits for the signal to go on.
    model_id, dimension = core.embedder.model_id, core.embedder.dimension
    usd_per_million_tokens = 0.0
    count_tokens = core.embedder.count_tokens
    begun = 0
    async def embed_passages(self, texts):
        self.begun += 1
        if self.begun > float(sys.argv[3]):
            await asyncio.to_thread(sys.stdin.readline)
        return await core.embedder.embed_passages(texts)

def tell(progress):
    print(progress.stage, progress.done, flush=True)

async def run():
    ports = replace(core.ingest, embedder=Held())
    await ingest(IngestOrder(sys.argv[2], "tales"), ports, tell)
    print("finished", flush=True)

asyncio.run(run())
"""


class Ingest:
    """An ingest run in a process of its own, which may be held before it embeds a batch."""

    def __init__(self, core: Core, source: Path, batches: float = math.inf) -> None:
        home = core.settings.data_dir
        self.process = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(home), str(source), str(batches)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def wait_for(self, words: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == words:
                return
        pytest.fail(f"the run ended before {words!r}")

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        assert self.process.returncode in {-signal.SIGKILL, 0}  # 0: it was through already

    def end(self) -> None:
        out, _ = self.process.communicate(timeout=ENDED_SECONDS)  # which also lets it go on
        assert self.process.returncode == 0
        assert out.rstrip().endswith("finished")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Core:
    return core_over(tmp_path_factory.mktemp("unused"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, model: Core) -> frozenset[str]:
    """The ids of the new book's chunks when nothing goes wrong."""
    home = tmp_path_factory.mktemp("undisturbed")
    core = core_over(home / "data", model)
    publish(core, home / "source", "tales", NEW)
    return core.index_writer.chunk_ids("tales")


@pytest.fixture
def core(tmp_path: Path, model: Core) -> Iterator[Core]:
    """A library with the old book in it, and the new book's pages next to it."""
    core = core_over(tmp_path / "data", model)
    publish(core, tmp_path / "source", "tales", OLD)
    for name, text in NEW.items():
        (tmp_path / "source" / name).write_text(text)
    (tmp_path / "source" / "birds.md").unlink()
    yield core
    core.close()


def assert_old_book_answers(core: Core) -> None:
    assert find(core, "Where does the heron wait?")[0].chunk.text.startswith("The heron waits")
    assert core.library.document("tales", "birds").text.startswith("Birds")


def assert_next_run_is_whole(core: Core, source: Path, ids: frozenset[str]) -> None:
    Ingest(core, source).end()
    live = core.library.book("tales")
    assert core.index_writer.chunk_ids("tales") == ids
    assert generations(core, "tales") == [live.generation]
    assert (live.documents, live.chunks) == (16, len(ids))
    sentence = "Stone number 3-7 lies on hill 7 of valley 3."
    assert sentence in {hit.chunk.text for hit in find(core, sentence)}
    assert not list(core.library.root.rglob("*.partial"))


def test_a_run_killed_while_embedding_changes_nothing_and_loses_little(
    core: Core, tmp_path: Path, undisturbed: frozenset[str]
) -> None:
    run = Ingest(core, tmp_path / "source", batches=1)
    run.wait_for(f"embedding {BATCH}")
    run.kill()
    assert_old_book_answers(core)
    report = publish(core, tmp_path / "source", "tales", NEW)
    assert report.embedded <= len(undisturbed) - BATCH  # what was safe is not embedded again
    assert core.index_writer.chunk_ids("tales") == undisturbed
    assert generations(core, "tales") == [core.library.book("tales").generation]


def test_runs_killed_at_random_moments_leave_the_old_book_or_the_new(
    core: Core, tmp_path: Path, undisturbed: frozenset[str]
) -> None:
    """Kill at any moment of a run's usual length; KILLS says how often."""
    source = tmp_path / "source"
    started = time.monotonic()
    Ingest(core_over(tmp_path / "elsewhere"), source).end()
    length = time.monotonic() - started
    moments = random.Random(7)
    old = core.library.book("tales")
    through = 0
    for _ in range(int(os.environ.get("KILLS", "4"))):
        publish(core, tmp_path / "old", "tales", OLD)
        shutil.rmtree(core.settings.data_dir / "cache")
        old = core.library.book("tales")
        run = Ingest(core, source)
        time.sleep(moments.uniform(0, length))
        run.kill()
        if core.library.book("tales") == old:
            assert_old_book_answers(core)
        else:
            through += 1
            assert core.index_writer.chunk_ids("tales") == undisturbed
        assert_next_run_is_whole(core, source, undisturbed)
    print(f"killed {os.environ.get('KILLS', '4')} times, {through} after the switch")  # noqa: T201


def test_an_edit_whose_run_is_killed_leaves_the_book_as_it_was(
    core: Core, tmp_path: Path, undisturbed: frozenset[str]
) -> None:
    """An index that is mended rather than made again is as safe."""
    source = tmp_path / "source"
    publish(core, source, "tales", NEW)
    old = core.library.book("tales")
    (source / "page3.md").write_text(NEW["page3.md"].replace("Stone", "Pebble", 1))
    run = Ingest(core, source, batches=0)
    run.wait_for("reading 16")
    run.kill()
    assert core.library.book("tales") == old
    assert core.index_writer.chunk_ids("tales") == undisturbed
    Ingest(core, source).end()
    fresh = core_over(tmp_path / "fresh", core)
    Ingest(fresh, source).end()
    assert (
        core.index_writer.chunk_ids("tales") == fresh.index_writer.chunk_ids("tales") != undisturbed
    )
    assert len(core.index_writer.chunk_ids("tales") - undisturbed) == 1


def test_a_run_killed_while_publishing_leaves_the_old_book_or_the_new(
    core: Core, tmp_path: Path, undisturbed: frozenset[str]
) -> None:
    old = core.library.book("tales")
    moments = random.Random(11)
    for _ in range(3):
        run = Ingest(core, tmp_path / "source")
        run.wait_for("publishing 0")
        time.sleep(moments.uniform(0, 0.05))
        run.kill()
        if core.library.book("tales") == old:
            assert_old_book_answers(core)
        else:
            assert core.index_writer.chunk_ids("tales") == undisturbed
            assert find(core, "hill 7 of valley 3")[0].chunk.section.startswith("Part")
    assert_next_run_is_whole(core, tmp_path / "source", undisturbed)


def test_ctrl_c_while_publishing_comes_too_late_or_changes_nothing(
    core: Core, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    publish(core, source, "tales", NEW)
    moments = random.Random(5)
    for turn in range(4):
        (source / "page3.md").write_text(f"# Page 3\n\nThe turn is {turn}.\n")
        before = core.library.book("tales")
        run = Ingest(core, source)
        run.wait_for("publishing 0")
        time.sleep(moments.uniform(0, 0.06))
        run.process.send_signal(signal.SIGINT)
        out, _ = run.process.communicate(timeout=ENDED_SECONDS)
        after = core.library.book("tales")
        assert ("finished" in out) == (after != before)
        assert generations(core, "tales") == [after.generation]
        assert len(core.library.documents("tales")) == 16
        assert find(core, "hill 7 of valley 4")


def test_the_second_of_two_runs_is_told_and_the_first_ends_well(
    core: Core, tmp_path: Path, undisturbed: frozenset[str]
) -> None:
    first = Ingest(core, tmp_path / "source", batches=1)
    first.wait_for(f"embedding {BATCH}")
    with pytest.raises(BusyBook, match="tales") as caught:
        publish(core, tmp_path / "second", "tales", OLD)
    assert caught.value.retryable
    with pytest.raises(BusyBook):
        core.index_writer.remove("tales")
    publish(core, tmp_path / "other", "other", OLD)  # another book is not held
    assert_old_book_answers(core)
    first.end()
    assert core.index_writer.chunk_ids("tales") == undisturbed
