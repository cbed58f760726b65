"""The ZIP file of an EPUB: members are read into memory only, counted while they are inflated."""

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bythebook.errors import UnreadableBook

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 16_000_000
MAX_BOOK_BYTES = 128_000_000
MAX_RATIO = 200  # inflated to packed; markup packs a hundredfold at the very most
_SMALL = 1_000_000  # bytes; no ratio makes these a danger
_MAX_DIRECTORY_BYTES = 10_000_000
_DIRECTORY_END = b"PK\5\6"
_MAKE_ANEW = "Make the EPUB anew, or take another copy of it."


class Archive:
    """The members of an EPUB, by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
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
                f"{path} is not an EPUB: it is no ZIP file.", _MAKE_ANEW
            ) from error
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            self.close()
            raise UnreadableBook(
                f"{path} holds {len(members):,} files; {MAX_MEMBERS:,} is the most.", _MAKE_ANEW
            )
        self._members = {member.filename: member for member in members}
        self._times = Counter(member.filename for member in members)
        self._sizes: dict[str, int] = {}
        self._total = 0

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def is_spent(self) -> bool:
        """Whether more was inflated than a book may hold."""
        return self._total > MAX_BOOK_BYTES

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()

    def read(self, name: str) -> bytes:
        """Inflate one member, or say why that cannot be done."""
        member = self._members.get(name)
        if member is None:
            raise UnreadableBook(f"{name} is not in the EPUB.", _MAKE_ANEW)
        self._check(member)
        try:
            content = b"".join(self._pieces(member))
        except (
            zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error,
        ) as error:  # fmt: skip
            raise UnreadableBook(f"{name} is damaged in the EPUB.", _MAKE_ANEW) from error
        self._total += len(content) - self._sizes.get(name, 0)
        self._sizes[name] = len(content)
        if self.is_spent:
            raise UnreadableBook(
                f"{self.path} inflates to more than {MAX_BOOK_BYTES:,} bytes of text.",
                "Split the book.",
            )
        return content

    def _check(self, member: zipfile.ZipInfo) -> None:
        name = member.filename
        if self._times[name] > 1:
            raise UnreadableBook(f"{name} is in the EPUB more than once.", _MAKE_ANEW)
        if member.flag_bits & 0x1:
            raise UnreadableBook(f"{name} is encrypted.", "Take a copy without protection.")
        if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise UnreadableBook(f"{name} is packed in a way that EPUB does not allow.", _MAKE_ANEW)

    def _pieces(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """Inflate bit by bit: what the directory says of sizes may be a lie."""
        total = 0
        most = min(MAX_MEMBER_BYTES, max(_SMALL, member.compress_size * MAX_RATIO))
        with self._zip.open(member) as opened:
            while piece := opened.read(1 << 16):
                total += len(piece)
                if total > most:
                    raise UnreadableBook(
                        f"{member.filename} inflates to more than {most:,} bytes.",
                        "Split the file, or take another copy of the EPUB.",
                    )
                yield piece


def _check_directory(path: Path) -> None:
    """Refuse a directory that would fill the memory before a member is looked at."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 66_000))
        tail = file.read()
    at = tail.rfind(_DIRECTORY_END)
    if at < 0:
        raise zipfile.BadZipFile
    (directory_bytes,) = struct.unpack("<L", tail[at + 12 : at + 16])
    if directory_bytes > _MAX_DIRECTORY_BYTES:
        raise UnreadableBook(f"{path} holds too many files.", _MAKE_ANEW)
