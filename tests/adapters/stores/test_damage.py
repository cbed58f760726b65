"""Files of a published book that are lost, cut or changed: noticed, named, and put right by ingesting."""

import errno
import json
import math
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.stores.small_books import BIRDS, GLASS, HERON, PAGES, core_over, find, publish

from bythebook.adapters.edge import index as edge_index
from bythebook.adapters.edge.index import EdgeIndex
from bythebook.adapters.library import book_folder
from bythebook.adapters.library.checksums import (
    CHECKSUMS,
    Checksum,
    DamagedFile,
    digest_file,
    digest_of,
    find_damage,
    load_checksums,
)
from bythebook.adapters.library.damage import find_damaged_files
from bythebook.bootstrap import Core
from bythebook.errors import DamagedBook, StoreFailed


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Core:
    """A core that only lends its model: loading it once is enough."""
    return core_over(tmp_path_factory.mktemp("unused"))


@pytest.fixture
def core(tmp_path: Path, model: Core) -> Iterator[Core]:
    """The real parts over a library with one small book."""
    core = core_over(tmp_path / "data", model)
    publish(core, tmp_path / "source", "tales")
    yield core
    core.close()


def generation(core: Core) -> Path:
    return core.library.generation_folder(core.library.book("tales"))


def file_of(core: Core, name: str) -> Path:
    return next(path for path in sorted(generation(core).rglob(name)) if path.is_file())


def list_files(core: Core) -> list[Path]:
    return sorted(path for path in generation(core).rglob("*") if path.is_file())


def flip(path: Path) -> None:
    """Change one bit in the middle of what is stored, as a bad disk does."""
    content = path.read_bytes()
    stored = [at for at in (len(content) // 3, len(content) // 2, 0) if content[at : at + 1]]
    at = next((at for at in stored if content[at]), stored[0])
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes([content[at] ^ 1]))


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def remove(path: Path) -> None:
    path.unlink()


def fresh(core: Core, model: Core) -> Core:
    """Another process's view: nothing of the book is open or in memory."""
    return core_over(core.settings.data_dir, model)


def require_named(error: DamagedBook, core: Core, name: str) -> None:
    """Require that a failure says which book, which file and what to run."""
    source = core.library.book("tales").source
    assert name in error.what
    assert "'tales'" in error.what
    assert error.help_message == f"Ingest it again: `bythebook ingest {source} --book tales`."
    assert not error.retryable
    assert str(core.settings.data_dir) not in error.what + error.public
    assert source not in error.what + error.public
    assert error.public == (
        "The book 'tales' is damaged. Run `bythebook ingest SOURCE --book tales`."
    )


# What is known of the files


def test_all_files_of_a_generation_are_summed_up(core: Core) -> None:
    known = load_checksums(generation(core))
    assert known is not None
    names = {path.relative_to(generation(core)).as_posix() for path in list_files(core)}
    assert set(known) == names - {CHECKSUMS}
    assert {"contents.json", "report.json", "documents/00000.json", "cuts/00001.json"} <= set(known)
    assert {"shard/term_counts.json", "shard/chunk_ids.txt", "shard/edge_config.json"} <= set(known)


@pytest.mark.parametrize("seed", range(6))
def test_a_sum_is_the_same_whether_zeros_are_stored_or_a_hole(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    pieces = [
        dice.choice((bytes(dice.randrange(200_000)), dice.randbytes(dice.randrange(90_000))))
        for _ in range(6)
    ]
    content = b"".join(pieces)
    stored, sparse = tmp_path / "stored", tmp_path / "sparse"
    stored.write_bytes(content)
    with sparse.open("wb") as file:
        for piece in pieces:
            file.write(piece) if any(piece) else file.seek(len(piece), os.SEEK_CUR)
        file.truncate(len(content))
    assert sparse.read_bytes() == content
    assert digest_file(stored) == digest_file(sparse) == digest_of(content)
    at = dice.randrange(len(content))
    changed = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    assert digest_of(changed) != digest_of(content)
    moved = bytes(1 << 16) + content[: -(1 << 16)]
    assert digest_of(moved) != digest_of(content)


def test_asking_mending_and_copying_a_book_leave_it_whole(
    core: Core, tmp_path: Path, model: Core
) -> None:
    assert core.library.damage("tales", deep=True) is None
    find(core, "heron")
    assert core.library.damage("tales", deep=True) is None
    publish(core, tmp_path / "source", "tales", {**PAGES, "new.md": "# New\n\nA new page.\n"})
    assert core.library.damage("tales", deep=True) is None
    copied = tmp_path / "copied"
    command = ["cp", "-r", "--sparse=never", str(core.settings.data_dir), str(copied)]
    subprocess.run(command, check=True)
    assert core_over(copied, model).library.damage("tales", deep=True) is None


# Looking for damage


def test_a_deep_look_finds_one_bit_in_any_file(core: Core) -> None:
    for path in list_files(core):
        if path.name == CHECKSUMS or not path.stat().st_size:
            continue
        content = path.read_bytes()
        flip(path)
        found = core.library.damage("tales", deep=True)
        assert found is not None, path
        name = path.relative_to(generation(core)).as_posix()
        require_named(found, core, f"{name} has changed since it was published")
        path.write_bytes(content)
    assert core.library.damage("tales", deep=True) is None


@pytest.mark.parametrize("harm", [remove, cut])
def test_a_quick_look_finds_any_file_that_is_lost_or_cut(
    core: Core, harm: Callable[[Path], None]
) -> None:
    for path in list_files(core):
        if path.name == CHECKSUMS or path.stat().st_size < 2:
            continue
        content = path.read_bytes()
        harm(path)
        found = core.library.damage("tales")
        assert found is not None, path
        require_named(found, core, path.relative_to(generation(core)).as_posix())
        path.write_bytes(content)
    assert core.library.damage("tales") is None


def test_many_damaged_files_are_counted(core: Core) -> None:
    shutil.rmtree(generation(core) / "shard")
    found = core.library.damage("tales")
    assert found is not None
    assert found.what.count("is missing") == 3
    assert found.what.endswith(" more.")


def test_damage_to_the_pointer_and_to_the_sums_is_found_too(core: Core) -> None:
    sums = generation(core) / CHECKSUMS
    pointer = core.library.root / "tales" / "current.json"
    for path in (sums, pointer):
        content = path.read_bytes()
        path.write_bytes(content[:-9])
        load_checksums.cache_clear()  # as another process sees it
        found = core.library.damage("tales")
        assert found is not None
        assert f"{path.name} cannot be read" in found.what
        path.write_bytes(content)


def test_a_generation_that_is_replaced_while_it_is_looked_at_is_no_damage(
    core: Core, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace_first(*given: Any, **named: Any) -> list[DamagedFile]:
        monkeypatch.setattr(book_folder, "find_damaged_files", find_damaged_files)
        publish(core, tmp_path / "source", "tales", {"birds.md": BIRDS})
        return find_damaged_files(*given, **named)

    monkeypatch.setattr(book_folder, "find_damaged_files", replace_first)
    assert core.library.damage("tales") is None


# Reading and searching


def test_a_text_that_has_changed_is_not_read(core: Core) -> None:
    path = generation(core) / "documents" / "00000.json"
    path.write_bytes(path.read_bytes().replace(b"grey heron", b"blue heron"))
    json.loads(path.read_bytes())  # sound to look at
    for read in (
        lambda: core.library.document("tales", "birds"),
        lambda: core.library.documents("tales"),
        lambda: core.library.cut_documents(core.library.book("tales")),
    ):
        with pytest.raises(DamagedBook) as caught:
            read()
        require_named(caught.value, core, "documents/00000.json")
    assert GLASS in core.library.document("tales", "crafts").text


def test_a_text_that_has_changed_in_the_index_is_not_quoted(core: Core, model: Core) -> None:
    path = file_of(core, "page_0.dat")
    content = path.read_bytes()
    assert b"grey heron" in content
    path.write_bytes(content.replace(b"grey heron", b"blue heron"))
    other = fresh(core, model)
    with pytest.raises(DamagedBook) as caught:
        find(other, "Which heron stands still?")
    require_named(caught.value, core, "page_0.dat has changed since it was published")
    other.close()


@pytest.mark.parametrize("name", ["term_counts.json", "segment.json", "chunk_0.mmap"])
@pytest.mark.parametrize("harm", [remove, cut, flip])
def test_a_damaged_index_is_named_with_what_to_run(
    core: Core, model: Core, name: str, harm: Callable[[Path], None]
) -> None:
    harm(file_of(core, name))
    other = fresh(core, model)
    with pytest.raises(DamagedBook) as caught:
        find(other, "heron")
    require_named(caught.value, core, name)
    other.close()


def test_a_large_index_is_opened_without_reading_all_of_it(core: Core, model: Core) -> None:
    def open_again() -> Core:
        other = fresh(core, model)
        index = EdgeIndex(other.library, other.settings.data_dir, opening_bytes=20_000)
        other.replace(index=index)
        return other

    flip(file_of(core, "chunk_0.mmap"))
    other = open_again()
    assert len(find(other, "heron")) == 4
    other.close()
    found = core.library.damage("tales", deep=True)  # which is what a deep look is for
    assert found is not None
    assert "chunk_0.mmap" in found.what
    flip(file_of(core, "edge_config.json"))
    other = open_again()
    with pytest.raises(DamagedBook, match=r"edge_config\.json"):
        find(other, "heron")
    other.close()


def test_only_so_many_bytes_are_compared_and_the_smallest_files_first(tmp_path: Path) -> None:
    for name, size in (("large", 50_000), ("small", 10_000)):
        (tmp_path / name).write_bytes(os.urandom(size))
    sums = {
        name: Checksum(size, "another") for name, size in (("large", 50_000), ("small", 10_000))
    }
    found = [
        [damaged.name for damaged in find_damage(tmp_path, sums, most)]
        for most in (0, 30_000, math.inf)
    ]
    assert found == [[], ["small"], ["small", "large"]]


def test_a_failing_search_looks_for_damage_at_the_next_question(
    core: Core, model: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fresh(core, model)
    assert len(find(other, "heron")) == 4
    cut(file_of(core, "page_0.dat"))

    def fail(*_: object) -> object:
        raise RuntimeError("a panic")

    with monkeypatch.context() as failing:
        failing.setattr(edge_index, "search_shard", fail)
        with pytest.raises(StoreFailed, match="'tales' cannot be searched") as caught:
            find(other, "heron")
    assert "doctor --deep" in caught.value.help_message
    with pytest.raises(DamagedBook, match=r"page_0\.dat"):
        find(other, "heron")
    other.close()


def test_what_the_system_refuses_for_a_while_is_no_damage(
    core: Core, model: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    other = fresh(core, model)
    with monkeypatch.context() as busy:
        busy.setattr(Path, "read_bytes", refuse)
        with pytest.raises(StoreFailed, match="Too many open files") as caught:
            other.library.document("tales", "birds")
    assert caught.value.retryable
    with monkeypatch.context() as busy:
        busy.setattr(shutil, "copytree", refuse)
        with pytest.raises(StoreFailed, match="Too many open files") as caught:
            find(other, "heron")
    assert caught.value.retryable
    assert HERON in other.library.document("tales", "birds").text
    assert len(find(other, "heron")) == 4
    other.close()


# Putting it right


def harm_text(core: Core) -> None:
    path = generation(core) / "documents" / "00000.json"
    path.write_bytes(path.read_bytes().replace(b"grey heron", b"blue heron"))


def harm_payload(core: Core) -> None:
    path = file_of(core, "page_0.dat")
    path.write_bytes(path.read_bytes().replace(b"grey heron", b"blue heron"))


def harm_vectors(core: Core) -> None:
    flip(file_of(core, "chunk_0.mmap"))


def harm_term_counts(core: Core) -> None:
    path = file_of(core, "term_counts.json")
    path.write_bytes(path.read_bytes().replace(b": 1,", b": 2,", 1))


def harm_cuts(core: Core) -> None:
    path = generation(core) / "cuts" / "00001.json"
    path.write_bytes(path.read_bytes().replace(b"[0,", b"[1,", 1))


@pytest.mark.parametrize(
    "harm", [harm_text, harm_payload, harm_vectors, harm_term_counts, harm_cuts]
)
def test_ingesting_again_takes_nothing_damaged_over(
    core: Core, tmp_path: Path, model: Core, harm: Callable[[Core], None]
) -> None:
    """Files that are sound to look at, so that only their sums tell."""
    before = {hit.chunk.chunk_id: hit for hit in find(core, "heron")}
    harm(core)
    assert core.library.damage("tales", deep=True) is not None
    other = fresh(core, model)
    report = publish(other, tmp_path / "source", "tales")
    assert report.chunks == 4
    assert other.library.damage("tales", deep=True) is None
    assert HERON in other.library.document("tales", "birds").text
    assert {hit.chunk.chunk_id: hit for hit in find(other, "heron")} == before
    other.close()


# Generations of earlier versions, which have no sums


@pytest.fixture
def earlier(core: Core, model: Core) -> Iterator[Core]:
    (generation(core) / CHECKSUMS).unlink()
    load_checksums.cache_clear()
    earlier = fresh(core, model)
    yield earlier
    earlier.close()


def test_a_generation_without_sums_is_read_searched_and_mended(
    earlier: Core, tmp_path: Path
) -> None:
    assert not earlier.library.has_checksums(earlier.library.book("tales"))
    assert earlier.library.damage("tales") is None
    assert earlier.library.damage("tales", deep=True) is None
    assert HERON in earlier.library.document("tales", "birds").text
    assert len(find(earlier, "heron")) == 4
    report = publish(earlier, tmp_path / "source", "tales")
    assert (report.kept, report.added) == (4, 0)
    assert earlier.library.has_checksums(earlier.library.book("tales"))
    assert earlier.library.damage("tales", deep=True) is None


@pytest.mark.parametrize(
    "name", ["documents/00001.json", "cuts/00000.json", "report.json", "shard/term_counts.json"]
)
def test_what_a_generation_without_sums_lacks_is_found(earlier: Core, name: str) -> None:
    (generation(earlier) / name).unlink()
    found = earlier.library.damage("tales")
    assert found is not None
    require_named(found, earlier, f"{name} is missing")


def test_what_cannot_be_read_of_a_generation_without_sums_is_found_by_a_deep_look(
    earlier: Core,
) -> None:
    (generation(earlier) / "cuts" / "00000.json").write_bytes(b"[[")
    assert earlier.library.damage("tales") is None
    found = earlier.library.damage("tales", deep=True)
    assert found is not None
    require_named(found, earlier, "cuts/00000.json cannot be read")


def test_an_index_without_sums_that_cannot_be_opened_is_damaged(earlier: Core) -> None:
    file_of(earlier, "segment.json").unlink()
    with pytest.raises(DamagedBook) as caught:
        find(earlier, "heron")
    require_named(caught.value, earlier, "shard cannot be opened")
