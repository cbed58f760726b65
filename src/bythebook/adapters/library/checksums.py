"""What the files of a generation held when it was published, so that damage to them is noticed."""

import errno
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CHECKSUMS = "checksums.json"
_BLOCK = 1 << 16
_ZEROS = bytes(_BLOCK)
_GONE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class DamagedFile(Exception):
    """A file of a generation is not what was published."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} {why}")
        self.name = name  # within the generation's folder


@dataclass(frozen=True, slots=True)
class Checksum:
    """What is known of a file."""

    size: int
    digest: str


def checksums_text(folder: Path) -> str:
    """Sum up the files of a generation that is about to be published."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {
        path.relative_to(folder).as_posix(): [path.stat().st_size, digest_file(path)]
        for path in files
        if path.name != CHECKSUMS
    }
    return json.dumps(sums, indent=0)


@lru_cache(maxsize=64)
def load_checksums(folder: Path) -> Mapping[str, Checksum] | None:
    """Read the sums of a generation; none if it was published before there were any."""
    try:
        values = json.loads((folder / CHECKSUMS).read_text("utf-8"))
        return {name: Checksum(int(size), str(digest)) for name, (size, digest) in values.items()}
    except _GONE:
        return None
    except (ValueError, TypeError, AttributeError) as error:
        raise DamagedFile(CHECKSUMS, "cannot be read") from error


def read_file(folder: Path, name: str) -> bytes:
    """Read a whole file of a generation; raise DamagedFile if it is not what was published."""
    try:
        content = (folder / name).read_bytes()
    except _GONE as error:
        raise DamagedFile(name, "is missing") from error
    known = load_checksums(folder)
    if known is not None and known.get(name) != Checksum(len(content), digest_of(content)):
        raise DamagedFile(name, "has changed since it was published")
    return content


def find_damage(
    folder: Path, known: Mapping[str, Checksum], most_bytes: float = math.inf
) -> Iterator[DamagedFile]:
    """Compare all sizes, and contents from the smallest file on until so many bytes were read."""
    sound = []
    for name, expected in known.items():
        try:
            found = (folder / name).stat()
        except _GONE:
            yield DamagedFile(name, "is missing")
            continue
        if found.st_size == expected.size:
            # A shard's files are mostly holes; no block may also mean that none is written yet.
            stored = min(found.st_size, found.st_blocks * 512) or found.st_size
            sound.append((stored, name))
        else:
            why = f"has {found.st_size:,} bytes where {expected.size:,} were published"
            yield DamagedFile(name, why)
    for stored, name in sorted(sound):
        most_bytes -= stored
        if most_bytes < 0:
            return
        if digest_file(folder / name) != known[name].digest:
            yield DamagedFile(name, "has changed since it was published")


def digest_of(content: bytes) -> str:
    """Sum up a content; the same as of a file that holds it."""
    return _digest((at, content[at : at + _BLOCK]) for at in range(0, len(content), _BLOCK))


def digest_file(path: Path) -> str:
    """Sum up a file without reading its holes."""
    return _digest(_blocks(path))


def _digest(blocks: Iterable[tuple[int, bytes]]) -> str:
    """Sum up blocks with their places; zeros are left out, whether they are stored or a hole."""
    total = hashlib.sha256()
    for at, block in blocks:
        if block != _ZEROS[: len(block)]:
            total.update(at.to_bytes(8, "big"))
            total.update(block)
    return total.hexdigest()


def _blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb", buffering=0) as file:
        at = 0
        while (at := _next_stored(file.fileno(), at)) >= 0:
            block = os.pread(file.fileno(), _BLOCK, at)
            if not block:
                return
            yield at, block
            at += _BLOCK


def _next_stored(file: int, at: int) -> int:
    """Return the first block from a place on that is not a hole; -1 if there is none."""
    try:
        stored = os.lseek(file, at, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nothing but a hole, or the end
            return -1
        if error.errno in {errno.EINVAL, errno.ENOTSUP, errno.ENOSYS}:  # a disk that knows no holes
            return at
        raise
    return max(at, stored - stored % _BLOCK)
