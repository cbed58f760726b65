"""A backup -> a data folder: unpacked and checked next to what is there, then put in its place."""

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bythebook.adapters.backup.archive import PackedFile, unpack
from bythebook.adapters.operations.service_address import ServiceAddress
from bythebook.adapters.sql.engine.address import RECORDS_FILE
from bythebook.errors import BusyBook, InputError

_STORED = ("books", RECORDS_FILE, f"{RECORDS_FILE}-wal", f"{RECORDS_FILE}-shm")


def restore(source: Path, data_dir: Path, *, replace: bool) -> list[PackedFile]:
    """Put the books and records of a backup into a data folder that no service uses; nothing is merged."""
    _require_no_service(data_dir)
    held = [data_dir / name for name in _STORED if (data_dir / name).exists()]
    if held and not replace:
        raise InputError(
            f"The data folder {data_dir} holds books or records already.",
            "Choose another folder with BYTHEBOOK_DATA_DIR, or give --replace to remove what it holds.",
        )
    data_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=data_dir) as name:
        unpacked, replaced = Path(name) / "unpacked", Path(name) / "replaced"
        unpacked.mkdir()
        replaced.mkdir()
        files = unpack(source, unpacked)
        with _hold_books(data_dir):
            _require_no_service(data_dir)
            _exchange(data_dir, unpacked, replaced)
    return files


def _exchange(data_dir: Path, unpacked: Path, replaced: Path) -> None:
    """Move the stored files out and the unpacked ones in; back again if that fails."""
    moved: list[tuple[Path, Path]] = []

    def move(path: Path, place: Path) -> None:
        path.rename(place)
        moved.append((path, place))

    try:
        for path in [data_dir / name for name in _STORED if (data_dir / name).exists()]:
            move(path, replaced / path.name)
        for path in sorted(unpacked.iterdir()):
            move(path, data_dir / path.name)
    except OSError as error:
        for path, place in reversed(moved):
            place.rename(path)
        raise InputError(
            f"The data folder {data_dir} cannot be changed: {error.strerror or error}.",
            "It is as it was. Check the disk and who may write.",
        ) from error
    shutil.rmtree(data_dir / "open", ignore_errors=True)  # copies of what was there


def _require_no_service(data_dir: Path) -> None:
    if url := ServiceAddress(data_dir).find():
        raise BusyBook(
            f"A service at {url} uses the data folder {data_dir}.",
            "Stop it, then restore again.",
        )


@contextmanager
def _hold_books(data_dir: Path) -> Iterator[None]:
    """Keep runs that make new generations out while their books are replaced."""
    with ExitStack() as stack:
        for path in sorted((data_dir / "books").glob("*/ingest.lock")):
            lock = stack.enter_context(path.open("a"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BusyBook(
                    f"The book {path.parent.name!r} is being ingested.",
                    "Wait until the run ends, then restore again.",
                ) from error
        yield
