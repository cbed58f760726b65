"""Pictures of a book: checked by their bytes, within limits, and named by their content."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from bythebook.adapters.readers.pictures.svg import clean_svg
from bythebook.adapters.readers.pictures.types import UnusablePicture, measure_picture
from bythebook.adapters.readers.source_file import is_file_inside, replace_surrogates
from bythebook.domain.books import MissingPicture
from bythebook.domain.marks import Mark, Picture
from bythebook.errors import UnreadableBook

MAX_BYTES = 10_000_000  # of one picture
MAX_BOOK_BYTES = 1_000_000_000  # of all pictures of a book
_MAX_PIXELS = 50_000_000
_LONGEST_NAME = 200  # characters of a target in reports
_REMOTE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_DATA = re.compile(r"data:image/[\w.+-]+((?:;[\w=-]+)*),", re.IGNORECASE)
LoadBytes = Callable[[], bytes]


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A picture that pages show."""

    file: str
    width: int
    height: int

    def make_mark(self) -> Picture:
        """Make its mark, for a range that is not known yet."""
        return Picture(0, 0, self.file, self.width, self.height)


@dataclass(frozen=True, slots=True)
class PictureRequest(Mark):
    """A picture in markup, before its file is looked for."""

    target: str


@dataclass(slots=True)
class PictureShelf:
    """The pictures of one book; it keeps where they are, not their bytes."""

    loaders: dict[str, LoadBytes] = field(default_factory=dict)  # by name in the generation
    known: dict[str, KeptPicture | str] = field(default_factory=dict)  # by source; a str is why not
    bytes_left: int = MAX_BOOK_BYTES

    def keep(self, source: str, target: str, load: LoadBytes) -> KeptPicture | MissingPicture:
        """Check a picture; `source` names its file, `target` is how the page does."""
        if source not in self.known:
            self.known[source] = self._check(load)
        found = self.known[source]
        return found if isinstance(found, KeptPicture) else miss_picture(target, found)

    def load(self, file: str) -> bytes | None:
        """Read a picture again; None if it is no longer the same."""
        try:
            content = _prepare(self.loaders[file]())[0]
        except (KeyError, OSError, UnreadableBook, UnusablePicture):
            return None
        return content if _hash(content) == file.partition(".")[0] else None

    def find(self, target: str) -> KeptPicture | MissingPicture | None:
        """Judge a target by itself: one on another site, or data; None for a file of the book."""
        if _REMOTE.match(target):
            return miss_picture(target, "It is on another site, from which nothing is fetched.")
        if target[:5].lower() == "data:":
            return self.keep(
                _hash(target.encode("utf-8", "replace")), target, lambda: _decode(target)
            )
        return None

    def _check(self, load: LoadBytes) -> KeptPicture | str:
        try:
            content, suffix, width, height = _prepare(load())
        except OSError as error:
            return f"It cannot be opened ({error.strerror})."
        except (UnreadableBook, UnusablePicture) as error:
            return str(error)
        if len(content) > self.bytes_left:
            return "The book has more pictures than are kept."
        self.bytes_left -= len(content)
        file = f"{_hash(content)}.{suffix}"
        self.loaders.setdefault(file, load)
        return KeptPicture(file, width, height)


def miss_picture(target: str, reason: str) -> MissingPicture:
    """Name a picture that is not kept."""
    return MissingPicture(replace_surrogates(target)[:_LONGEST_NAME], reason)


def find_picture_file(
    shelf: PictureShelf, target: str, root: Path, places: Callable[[str], list[Path]]
) -> KeptPicture | MissingPicture:
    """Find a picture of a local book; `places` gives the paths that a target may stand for."""
    if (found := shelf.find(target)) is not None:
        return found
    try:
        path = unquote(urlsplit(target).path)
    except ValueError:
        return miss_picture(target, "It is not an address.")
    for place in places(path) if path else ():
        if _is_file(place, root):
            return shelf.keep(str(place), target, partial(_read, place))
    return miss_picture(target, "There is no such file in the book's folder.")


def _is_file(place: Path, root: Path) -> bool:
    try:
        return is_file_inside(place, root)
    except (OSError, ValueError):
        return False


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def _decode(target: str) -> bytes:
    """Decode a data address."""
    head = _DATA.match(target)
    if head is None or len(target) > 2 * MAX_BYTES:
        raise UnusablePicture("It is no picture.")
    if "base64" not in head.group(1):
        return unquote_to_bytes(target[head.end() :])
    try:
        return base64.b64decode(unquote(target[head.end() :]), validate=False)
    except (binascii.Error, ValueError) as error:
        raise UnusablePicture("Its data is broken.") from error


def _prepare(content: bytes) -> tuple[bytes, str, int, int]:
    """Return a picture as it is kept, with its suffix, width and height."""
    if len(content) > MAX_BYTES:
        raise UnusablePicture(f"It has more than {MAX_BYTES // 1_000_000} MB.")
    size = measure_picture(content)
    if size is None:
        drawing, width, height = clean_svg(content)
        return drawing, "svg", width, height
    if size.width * size.height > _MAX_PIXELS:
        raise UnusablePicture(f"It has more than {_MAX_PIXELS // 1_000_000} million pixels.")
    return content, size.suffix, size.width, size.height


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
