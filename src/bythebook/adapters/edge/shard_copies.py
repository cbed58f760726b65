"""Copies of shard folders, each owned by one process: Qdrant Edge writes into what it opens."""

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


class ShardCopies:
    """Copies that belong to this process; a dead process's are swept away."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._home: Path | None = None
        self._lock: IO[str] | None = None

    @contextmanager
    def open_copy(self, source: Path) -> Iterator[Path]:
        """Give a copy to open; one that cannot be opened is not kept."""
        copy = Path(tempfile.mkdtemp(dir=self._home or self._settle()))
        try:
            copy_shard(source, copy)
            yield copy
        except BaseException:
            shutil.rmtree(copy, ignore_errors=True)
            raise

    def close(self) -> None:
        """Remove all copies of this process."""
        if self._home is not None and self._lock is not None:
            shutil.rmtree(self._home, ignore_errors=True)
            self._lock.close()
            self._home = self._lock = None

    def _settle(self) -> Path:
        self._root.mkdir(parents=True, exist_ok=True)
        self._sweep()
        while True:
            home = Path(tempfile.mkdtemp(dir=self._root))
            lock = (home / "alive").open("w")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.fstat(lock.fileno()).st_nlink:
                self._home, self._lock = home, lock
                return home
            lock.close()  # another process took it for a dead one's before it was locked

    def _sweep(self) -> None:
        for mark in self._root.glob("*/alive"):
            try:
                with mark.open("r+") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(mark.parent, ignore_errors=True)
            except (BlockingIOError, FileNotFoundError):  # in use, or removed by its owner
                continue


def copy_shard(source: Path, target: Path) -> None:
    """Copy a shard's folder into another that is empty."""
    shutil.copytree(source, target, dirs_exist_ok=True, copy_function=_copy_sparse)


def _copy_sparse(source: str, target: str) -> None:
    """Copy a file leaving its holes out: a shard's files are mostly reserved room."""
    with Path(source).open("rb") as old, Path(target).open("wb") as new:
        size = os.fstat(old.fileno()).st_size
        at = 0
        while at < size:
            try:
                at = os.lseek(old.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # nothing but a hole to the end
                    break
                if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}:
                    raise
                shutil.copyfile(source, target)  # a disk that knows no holes
                return
            end = os.lseek(old.fileno(), at, os.SEEK_HOLE)
            old.seek(at)
            new.seek(at)
            new.write(old.read(end - at))
            at = end
        new.truncate(size)
