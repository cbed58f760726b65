"""The ZIP file of an EPUB: members are decompressed in memory, within limits."""

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bythebook.errors import UnreadableBook

_MAX_RATIO = 200  # decompressed to compressed size; markup reaches about a hundred
_SMALL = 1_000_000  # bytes; never dangerous, whatever the ratio
_MAX_DIRECTORY_BYTES = 10_000_000
_DIRECTORY_END = b"PK\5\6"
REPLACE_EPUB = "Create the EPUB again, or use another copy of it."


@dataclass(frozen=True, slots=True)
class EpubBounds:
    """The most that one EPUB may hold."""

    members: int = 20_000
    member_bytes: int = 16_000_000  # decompressed
    book_bytes: int = 128_000_000  # of all text, decompressed


EPUB_BOUNDS = EpubBounds()


class Archive:
    """The members of an EPUB, by name."""

    def __init__(self, path: Path, bounds: EpubBounds = EPUB_BOUNDS) -> None:
        self.path = path
        self._bounds = bounds
        try:
            _check_directory(path)
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise UnreadableBook(
                f"{path} cannot be opened ({error.strerror}).",
                "Check the path and its permissions.",
            ) from error
        except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
            raise UnreadableBook(
                f"{path} is not an EPUB: it is not a ZIP file.", REPLACE_EPUB
            ) from error
        members = self._zip.infolist()
        if len(members) > bounds.members:
            self.close()
            raise UnreadableBook(
                f"{path} contains {len(members):,} files; the limit is {bounds.members:,}.",
                REPLACE_EPUB,
            )
        self._members = {member.filename: member for member in members}
        self._times = Counter(member.filename for member in members)
        self._sizes: dict[str, int] = {}
        self._total = 0

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def is_spent(self) -> bool:
        """Whether the decompressed text exceeds the limit for a book."""
        return self._total > self._bounds.book_bytes

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def read(self, name: str) -> bytes:
        """Decompress one member, or raise UnreadableBook."""
        content = self._decompress(name, self._bounds.member_bytes)
        self._total += len(content) - self._sizes.get(name, 0)
        self._sizes[name] = len(content)
        if self.is_spent:
            raise self._too_much()
        return content

    def read_picture(self, name: str, most: int) -> bytes:
        """Decompress a picture, which does not count as text, or raise UnreadableBook."""
        return self._decompress(name, most)

    def _decompress(self, name: str, most: int) -> bytes:
        member = self._members.get(name)
        if member is None:
            raise UnreadableBook(f"{name} is not in the EPUB.", REPLACE_EPUB)
        self._check(member)
        try:
            return b"".join(self._iterate_pieces(member, most))
        except (
            zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error,
        ) as error:  # fmt: skip
            raise UnreadableBook(f"{name} is damaged in the EPUB.", REPLACE_EPUB) from error

    def _too_much(self) -> UnreadableBook:
        packed = self.path.stat().st_size
        if _MAX_RATIO * packed < self._bounds.book_bytes:
            return UnreadableBook(
                f"{self.path} is a decompression bomb: its {packed:,} bytes inflate to more than "
                f"{self._bounds.book_bytes:,}.",
                "Take another copy of the book.",
            )
        return UnreadableBook(
            f"{self.path} inflates to more than {self._bounds.book_bytes:,} bytes of text.",
            "Split the book.",
        )

    def _check(self, member: zipfile.ZipInfo) -> None:
        name = member.filename
        if self._times[name] > 1:
            raise UnreadableBook(f"{name} is in the EPUB more than once.", REPLACE_EPUB)
        if member.flag_bits & 0x1:
            raise UnreadableBook(f"{name} is encrypted.", "Use a copy without protection.")
        if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise UnreadableBook(
                f"{name} uses a compression that EPUB does not allow.", REPLACE_EPUB
            )

    def _iterate_pieces(self, member: zipfile.ZipInfo, limit: int) -> Iterator[bytes]:
        """Decompress in small steps, because the sizes in the directory may be wrong."""
        total = 0
        most = min(limit, max(_SMALL, member.compress_size * _MAX_RATIO))
        with self._zip.open(member) as opened:
            while piece := opened.read(1 << 16):
                total += len(piece)
                if total > most:
                    raise _too_large(member, most)
                yield piece


def _too_large(member: zipfile.ZipInfo, most: int) -> UnreadableBook:
    # The size that the directory names is no lie here: reading ends with it.
    if member.file_size > member.compress_size * _MAX_RATIO:
        return UnreadableBook(
            f"{member.filename} is a decompression bomb: its {member.compress_size:,} bytes inflate to "
            f"more than {most:,}.",
            "Take another copy of the EPUB.",
        )
    return UnreadableBook(
        f"{member.filename} inflates to more than {most:,} bytes.",
        "Split the file, or take another copy of the EPUB.",
    )


def _check_directory(path: Path) -> None:
    """Refuse a directory that would fill the memory before any member is read."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 66_000))
        tail = file.read()
    at = tail.rfind(_DIRECTORY_END)
    if at < 0:
        raise zipfile.BadZipFile
    (directory_bytes,) = struct.unpack("<L", tail[at + 12 : at + 16])
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        raise UnreadableBook(f"{path} contains too many files.", REPLACE_EPUB)
