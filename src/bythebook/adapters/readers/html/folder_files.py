"""The HTML files of a folder, and where links between them lead."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from bythebook.adapters.readers.html.web_pages import Target, path_of
from bythebook.adapters.readers.site.address import BadAddress, WebAddress, join, parse_address
from bythebook.errors import UnreadableBook

HTML = frozenset({".html", ".htm", ".xhtml"})
_MOST_BYTES = 20_000_000
_MOST_FILES = 20_000
_NO_FOLDER = re.compile(r"[._].*|node_modules", re.IGNORECASE)
# Never looked up: links need a place to start from, so deep that one out of the folder is seen.
_ABOVE = "/above" * 16 + "/"
_HOME = parse_address(f"http://folder.invalid{_ABOVE}book/")


def html_files(root: Path) -> list[Path]:
    """Find the HTML files below a folder, in the order of their names, numbers as numbers."""
    found: list[Path] = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not _NO_FOLDER.fullmatch(name))
        found += [Path(folder, name) for name in files if Path(name).suffix.lower() in HTML]
        if len(found) > _MOST_FILES:
            raise UnreadableBook(
                f"{root} holds more than {_MOST_FILES:,} HTML files.",
                "Give the folder of one book.",
            )
    return sorted(found, key=lambda path: _rank(path.relative_to(root)))


def content_of(file: Path, root: Path) -> bytes:
    """Read a file that is in the folder itself, or raise UnreadableBook."""
    try:
        if not file.resolve(strict=True).is_relative_to(root.resolve()):
            raise UnreadableBook("It is a link out of the folder.", "Put the file itself there.")
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            raise UnreadableBook(f"It is larger than {_MOST_BYTES:,} bytes.", "Split the page.")
        return file.read_bytes()
    except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError
        raise UnreadableBook("It cannot be opened.", "Check its permissions.") from error


def address_of(name: str) -> str:
    """Give a file the address that its links are counted from."""
    return _HOME.text + quote(name, errors="surrogateescape")


def key_of(name: str) -> str:
    """Give a file the key of its page."""
    return f"/{path_of(name)}"


class FolderLinks:
    """Where links between the files of a folder lead."""

    def __init__(self, names: Iterator[str], base_url: str) -> None:
        self.keys = frozenset(key_of(name) for name in names)
        try:
            self._base = parse_address(base_url) if base_url else None
        except BadAddress as error:
            raise UnreadableBook(
                f"The base URL {base_url!r} cannot be used: {error}.",
                "Give an address such as https://example.org/book/.",
            ) from error
        self._joined = lru_cache(maxsize=100_000)(self._join)

    def path(self, page: str, base: str, href: str) -> tuple[str, str] | None:
        """Give the path below the folder that a link leads to, and the place on the page."""
        if not href.strip().startswith(("#", "?")):
            page = page[: page.rindex("/") + 1]  # the same for many pages
        return self._joined(page, base, href)

    def find(self, page: str, base: str, href: str) -> Target | None:
        """Give the page that a link leads to, whether or not it is there."""
        found = self.path(page, base, href)
        if found is None:
            return None
        key = key_of(found[0])
        # A built site may have been made for a place below its host's root.
        below = f"/{key[1:].partition('/')[2]}"
        is_below = below != "/" and key not in self.keys and below in self.keys
        return Target(below if is_below else key, found[1])

    def page_at(self, page: str, base: str, href: str) -> str | None:
        """Name the page that a link leads to, if it is there."""
        target = self.find(page, base, href)
        return target.key if target and target.key in self.keys else None

    def _join(self, page: str, base: str, href: str) -> tuple[str, str] | None:
        here = join(parse_address(page), base) if base else (parse_address(page), "")
        found = join(here[0], href) if here else None
        if found is None:
            return None
        inside = self._inside(found[0])
        return None if inside is None else (unquote(inside), found[1])

    def _inside(self, address: WebAddress) -> str | None:
        """Give the path below the folder; none for an address out of it."""
        base = self._base
        if address.origin == _HOME.origin and address.path.startswith(_HOME.path):
            return address.path[len(_HOME.path) :]
        is_ours = address.origin == _HOME.origin or (base and address.origin == base.origin)
        if not is_ours or address.path.startswith("/above/"):
            return None
        if base and address.path.startswith(base.folder):
            return address.path[len(base.folder) :]
        return address.path[1:] if address.origin == _HOME.origin else None


def _rank(path: Path) -> list[tuple[int, list[tuple[int, str]]]]:
    """Rank a file: those of a folder before the folders in it, its index first."""
    ranks = []
    for depth, part in enumerate(path.parts, 1):
        is_file = depth == len(path.parts)
        kind = (0 if path_of(part) == "" else 1) if is_file else 2
        pieces = re.findall(r"\d+|\D+", part.lower())
        ranks.append((kind, [(int(p), "") if p.isdecimal() else (10**12, p) for p in pieces]))
    return ranks
