import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.adapters.stores.index_suite import IndexSuite, MakeCore, shard_file, vectors
from tests.adapters.stores.small_books import (
    BIRDS,
    CRAFTS,
    GLASS,
    HERON,
    PAGES,
    core_over,
    find,
    publish,
)

from bythebook.ask.retrieve.passages import find_hits
from bythebook.bootstrap import Core
from bythebook.domain.questions import Plan
from bythebook.errors import StoreFailed


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Core:
    """A core that only lends its model: loading it once is enough."""
    return core_over(tmp_path_factory.mktemp("unused"))


@pytest.fixture
def core(tmp_path: Path, model: Core) -> Iterator[Core]:
    core = core_over(tmp_path / "data", model)
    yield core
    core.close()
    assert list((tmp_path / "data" / "open").glob("*")) == []


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "source"


@pytest.fixture
def another(model: Core) -> MakeCore:
    return lambda data_dir: core_over(data_dir, model)


@pytest.fixture
def sample(sample_core: Core) -> Core:
    return sample_core


class TestEdgeIndex(IndexSuite):
    """What every index must do."""


# Generations


def test_a_reader_that_holds_the_old_generation_goes_on(core: Core, source: Path) -> None:
    publish(core, source, "tales", {"birds.md": BIRDS})
    old = core.library.books()
    assert find(core, "heron", old)[0].chunk.text == HERON
    publish(core, source, "tales", {"crafts.md": CRAFTS})
    assert find(core, "heron", old)[0].chunk.text == HERON
    assert find(core, "glass")[0].chunk.text == GLASS


# Many readers of one folder


CHILD = """
import asyncio, sys
from pathlib import Path
from bythebook.ask.retrieve.passages import find_hits
from bythebook.bootstrap import Core
from bythebook.domain.questions import Plan
from bythebook.ports import Lookup
from bythebook.settings import Settings

core = Core(Settings(data_dir=Path(sys.argv[1]), threads=1))

async def search():
    vector = await core.embedder.embed_query("How is glass made?")
    hits = await core.index.search(Lookup("How is glass made?", vector, core.library.books(), 1))
    return max(hits, key=lambda hit: hit.cosine).chunk.text

print(asyncio.run(search()), flush=True)
sys.stdin.read()  # until the test says so
print(asyncio.run(search()), flush=True)
if sys.argv[2] == "closes":
    core.close()
"""


class Child:
    """Another process that reads the same folder."""

    def __init__(self, core: Core, ending: str) -> None:
        command = [sys.executable, "-c", CHILD, str(core.settings.data_dir), ending]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline().strip()

    def end(self) -> str:
        out, _ = self.process.communicate("", timeout=300)
        assert self.process.returncode == 0
        return out.strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def test_another_process_reads_along_and_follows_a_new_generation(core: Core, source: Path) -> None:
    publish(core, source, "tales")
    child = Child(core, "closes")
    assert child.first == GLASS
    assert find(core, "How is glass made?")[0].chunk.text == GLASS
    newer = CRAFTS.replace("limestone", "lime")
    publish(core, source, "tales", {"crafts.md": newer})
    assert child.end() == GLASS.replace("limestone", "lime")


def test_copies_of_dead_processes_are_swept_and_those_of_the_living_are_not(
    core: Core, source: Path, model: Core
) -> None:
    publish(core, source, "tales")
    copies = core.settings.data_dir / "open"
    dead = Child(core, "closes")
    dead.kill()
    assert len(list(copies.iterdir())) == 1
    living = Child(core, "closes")
    assert len(list(copies.iterdir())) == 1  # the dead one's is gone
    assert find(core, "glass")[0].chunk.text == GLASS
    assert len(list(copies.iterdir())) == 2
    assert living.end() == GLASS
    assert len(list(copies.iterdir())) == 1


def test_many_readers_that_come_and_go_do_not_disturb_each_other(
    core: Core, source: Path, model: Core
) -> None:
    publish(core, source, "tales")
    failures: list[BaseException] = []

    def visit() -> None:
        try:
            for _ in range(8):
                visitor = core_over(core.settings.data_dir, model)
                assert find(visitor, "glass")[0].chunk.text == GLASS
                visitor.close()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    visitors = [threading.Thread(target=visit) for _ in range(6)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert failures == []


# Damage


def remove(path: Path) -> None:
    path.unlink()


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("term_counts.json", remove),
        ("term_counts.json", cut),
        ("segment.json", remove),
        ("version.info", remove),
        ("version.info", cut),
        ("mutable_id_tracker.mappings", remove),
        ("page_0.dat", remove),
        ("chunk_0.mmap", remove),
        ("status.dat", cut),  # the library panics
        ("edge_config.json", cut),
    ],
)
def test_a_damaged_index_is_a_failed_store_and_leaves_no_heap_of_copies(
    core: Core, source: Path, name: str, damage: Callable[[Path], None]
) -> None:
    publish(core, source, "tales")
    damage(shard_file(core, name))
    for _ in range(2):
        with pytest.raises(StoreFailed):
            find(core, "heron")
    homes = list((core.settings.data_dir / "open").iterdir())
    copies = [path for home in homes for path in home.iterdir() if path.name != "alive"]
    assert len(copies) <= 1  # one at most, not one for each question


def test_damage_in_one_book_spares_the_others(core: Core, source: Path) -> None:
    publish(core, source, "tales")
    publish(core, source, "other", {"birds.md": BIRDS})
    shard_file(core, "segment.json").unlink()
    assert find(core, "heron", [core.library.book("other")])[0].chunk.text == HERON


def test_a_removed_book_is_closed_at_the_next_question(core: Core, source: Path) -> None:
    publish(core, source, "one", {"birds.md": BIRDS})
    publish(core, source, "two", {"birds.md": BIRDS})
    find(core, "Which bird waits at the river?")
    copies = core.settings.data_dir / "open"
    assert len(list(copies.rglob("term_counts.json"))) == 2
    core.index_writer.remove("one")
    assert {hit.chunk.book_id for hit in find(core, "Which bird waits?")} == {"two"}
    assert len(list(copies.rglob("term_counts.json"))) == 1


def test_lost_segments_are_put_right_by_ingesting_again(core: Core, source: Path) -> None:
    publish(core, source, "tales")
    ids = core.index_writer.chunk_ids("tales")
    shutil.rmtree(core.library.generation_folder(core.library.book("tales")) / "shard/segments")
    publish(core, source, "tales")
    assert core.index_writer.chunk_ids("tales") == ids
    assert find(core, "Where does the heron stand?")[0].chunk.text.startswith(HERON)
    assert len(core.library.documents("tales")) == 2


def test_a_disk_without_room_is_refused_in_time_and_the_old_book_stays(
    core: Core, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room that ends under a mapped file would end the process, so it is asked for beforehand."""
    publish(core, source, "tales")
    ids = core.index_writer.chunk_ids("tales")
    usage = shutil.disk_usage(core.settings.data_dir)
    with monkeypatch.context() as small:
        small.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1_000_000))
        for pages in (
            {"new.md": "# N\n\nNew."},
            {**PAGES, "new.md": "# N\n\nNew."},
        ):  # again, mended
            with pytest.raises(StoreFailed, match="old one stays") as caught:
                publish(core, source, "tales", pages)
            assert "room" in caught.value.help_message
    assert core.index_writer.chunk_ids("tales") == ids
    assert find(core, "Where does the heron stand?")[0].chunk.text.startswith(HERON)


# Vectors of what was found


def test_vectors_are_those_of_the_generation_that_found_the_chunks(
    core: Core, source: Path
) -> None:
    publish(core, source, "tales", {"birds.md": BIRDS})
    hits = find(core, "heron")
    before = vectors(core, hits)
    publish(core, source, "tales", {"crafts.md": CRAFTS})
    assert np.array_equal(vectors(core, hits), before)


def test_vectors_of_a_damaged_book_are_a_failure_of_the_store(
    core: Core, source: Path, model: Core
) -> None:
    publish(core, source, "tales")
    hits = find(core, "heron")
    shard_file(core, "segment.json").unlink()
    other = core_over(core.settings.data_dir, model)
    try:
        with pytest.raises(StoreFailed, match="tales"):
            vectors(other, hits)
    finally:
        other.close()


# One section


# Notation


@pytest.mark.parametrize("asked", ["L1 norm", "ℓ₁ norm", r"\ell_1 norm", r"$\ell_{1}$ norm"])
def test_a_question_meets_a_formula_however_both_write_it(
    core: Core, source: Path, asked: str
) -> None:
    pages = {
        "lasso.md": "# Lasso\n\nThe lasso adds the $\\ell_1$ norm of the weights to the loss.",
        "robust.md": "# Robust fits\n\nA robust fit minimises the ℓ₁ norm of what is left over.",
        "ridge.md": "# Ridge\n\nRidge regression adds the $\\ell_2$ norm of the weights to the loss.",
        "glass.md": "# Glass\n\nGlass is made of sand, soda and lime in a furnace.",
    }
    publish(core, source, "book", pages)
    plan = Plan("standard_rag", asked, 5, "book", None)
    hits = asyncio.run(find_hits(plan, core.library.books(), core.ask))
    words = {hit.chunk.document_id: hit.words for hit in hits}
    assert min(words["lasso"], words["robust"]) > words["ridge"] > 0
