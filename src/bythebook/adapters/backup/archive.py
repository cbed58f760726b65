"""One file of a whole data folder: a compressed tar that begins with a list of its files and their hashes.

bythebook-backup.json      format, version of the program, files with sizes and SHA-256
books/..., records.sqlite  the files
"""

import hashlib
import json
import os
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from bythebook.errors import InputError

FORMAT = "bythebook-backup-1"
_LIST = "bythebook-backup.json"
_MOST_LIST_BYTES = 256 * 1024 * 1024
_BLOCK = 1024 * 1024
_HOLE = 4096
_SAFE_NAME = re.compile(r"(?:books/[a-z0-9][a-z0-9_-]{0,63}/.+|records\.sqlite)")
_BROKEN = (tarfile.TarError, EOFError, zlib.error, UnicodeError)


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file of a backup."""

    name: str
    size: int
    sha256: str


def pack(folder: Path, target: Path, version: str) -> list[PackedFile]:
    """Write all files of a folder to one file that only its owner may read; whole or not at all."""
    files = [_describe(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()]
    listed = {"format": FORMAT, "version": version, "files": [_to_json(one) for one in files]}
    content = json.dumps(listed).encode()
    with (
        _replace_file(target) as file,
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as tar,
    ):
        first = tarfile.TarInfo(_LIST)
        first.size = len(content)
        tar.addfile(first, BytesIO(content))
        for one in files:
            member = tarfile.TarInfo(one.name)
            member.size = one.size
            with (folder / one.name).open("rb") as source:
                tar.addfile(member, source)
    return files


def unpack(source: Path, folder: Path) -> list[PackedFile]:
    """Write the files of a backup into an empty folder, each checked; raise InputError if any is not as listed."""
    try:
        with tarfile.open(source, mode="r|gz") as tar:
            members = iter(tar)
            listed = _read_list(tar, next(members, None), source)
            missing = {one.name: one for one in listed}
            for member in members:
                expected = missing.pop(member.name, None)
                content = tar.extractfile(member) if member.isreg() else None
                if expected is None or content is None:
                    raise _make_damaged_error(
                        source, f"it holds {member.name!r}, which it does not list"
                    )
                _write(content, folder / expected.name, expected, source)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {source}.", "Check the path of the backup.") from error
    except (*_BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None and source.is_file():
            raise InputError(
                f"The backup cannot be unpacked: {error.strerror or error}.",
                "Check the room on the disk and who may read and write.",
            ) from error
        raise _make_damaged_error(source, "it ends early or is no backup") from error
    if missing:
        raise _make_damaged_error(source, f"{len(missing)} of its files are missing")
    return listed


def _describe(path: Path, folder: Path) -> PackedFile:
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return PackedFile(path.relative_to(folder).as_posix(), size, digest.hexdigest())


def _to_json(file: PackedFile) -> list[Any]:
    return [file.name, file.size, file.sha256]


def _read_list(
    tar: tarfile.TarFile, member: tarfile.TarInfo | None, source: Path
) -> list[PackedFile]:
    content = tar.extractfile(member) if member and member.name == _LIST else None
    if member is None or content is None or member.size > _MOST_LIST_BYTES:
        raise _make_damaged_error(source, "it was not made by `bythebook backup`")
    try:
        value = json.loads(content.read())
        files = [PackedFile(str(n), int(size), str(sha)) for n, size, sha in value["files"]]
        known = value["format"] == FORMAT
    except (ValueError, KeyError, TypeError) as error:
        raise _make_damaged_error(source, "its list of files cannot be read") from error
    if not known:
        raise InputError(
            f"{source} is a backup of another version of ByTheBook.",
            "Restore it with the version that made it.",
        )
    if not all(_is_safe(one.name) for one in files):
        raise _make_damaged_error(source, "it names files outside the data folder")
    return files


def _is_safe(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(_SAFE_NAME.fullmatch(name)) and ".." not in parts and "\0" not in name


def _write(content: IO[bytes], place: Path, expected: PackedFile, source: Path) -> None:
    """Write a file with holes where it has only zeros, as index files mostly do."""
    digest = hashlib.sha256()
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as file:
        while block := content.read(_HOLE):
            digest.update(block)
            if block.strip(b"\0"):
                file.write(block)
            else:
                file.seek(len(block), os.SEEK_CUR)
        file.truncate()
        written = file.tell()
    if (written, digest.hexdigest()) != (expected.size, expected.sha256):
        raise _make_damaged_error(source, f"{expected.name} is not as it was packed")


@contextmanager
def _replace_file(target: Path) -> Iterator[IO[bytes]]:
    """Write a file next to its place, readable by its owner only, and put it there once it is whole."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}-", dir=target.parent)
    except OSError as error:
        raise _make_write_error(target, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except OSError as error:
        raise _make_write_error(target, error) from error
    finally:
        Path(name).unlink(missing_ok=True)


def _make_write_error(target: Path, error: OSError) -> InputError:
    return InputError(
        f"The backup cannot be written to {target}: {error.strerror or error}.",
        "Choose a file in a folder that exists, with room for it.",
    )


def _make_damaged_error(source: Path, why: str) -> InputError:
    return InputError(
        f"{source} cannot be restored: {why}. The data folder was not changed.",
        "Use another backup.",
    )
