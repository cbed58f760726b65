"""The HTML files of a folder, and the targets of links between them."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

from bythebook.adapters.readers.html.book.web_pages import Target, strip_page_suffix
from bythebook.adapters.readers.site.address import BadAddress, WebAddress, join, parse_address
from bythebook.errors import UnreadableBook

HTML = frozenset({".html", ".htm", ".xhtml"})
_MAX_BYTES = 20_000_000
_MAX_FILES = 20_000
_IGNORED_FOLDER = re.compile(r"[._].*|node_modules", re.IGNORECASE)
# Never resolved: links need a base address, deep enough to detect links out of the folder.
_PARENT_FOLDERS = "/above" * 16 + "/"
_HOME = parse_address(f"http://folder.invalid{_PARENT_FOLDERS}book/")


def find_html_files(root: Path) -> list[Path]:
    """Find the HTML files below a folder, sorted by name with numbers in numeric order."""
    found: list[Path] = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not _IGNORED_FOLDER.fullmatch(name))
        found += [Path(folder, name) for name in files if Path(name).suffix.lower() in HTML]
        if len(found) > _MAX_FILES:
            raise UnreadableBook(
                f"{root} contains more than {_MAX_FILES:,} HTML files.",
                "Choose the folder of one book.",
            )
    return sorted(found, key=lambda path: _rank(path.relative_to(root)))


def read_content(file: Path, root: Path) -> bytes:
    """Read a file inside the folder, or raise UnreadableBook."""
    try:
        if not file.resolve(strict=True).is_relative_to(root.resolve()):
            raise UnreadableBook(
                "It is a link out of the folder.", "Copy the file into the folder."
            )
        if not file.is_file() or file.stat().st_size > _MAX_BYTES:
            raise UnreadableBook(f"It is larger than {_MAX_BYTES:,} bytes.", "Split the page.")
        return file.read_bytes()
    except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError
        raise UnreadableBook("It cannot be opened.", "Check its permissions.") from error


def make_address(name: str) -> str:
    """Return the base address for the links of a file."""
    return _HOME.text + quote(name, errors="surrogateescape")


def make_key(name: str) -> str:
    """Return the page key of a file."""
    return f"/{strip_page_suffix(name)}"


class FolderLinks:
    """Resolves links between the files of a folder."""

    def __init__(self, names: Iterator[str], base_url: str) -> None:
        self.keys = frozenset(make_key(name) for name in names)
        try:
            self._base = parse_address(base_url) if base_url else None
        except BadAddress as error:
            raise UnreadableBook(
                f"The base URL {base_url!r} cannot be used: {error}.",
                "Use an address such as https://example.org/book/.",
            ) from error
        self._joined = lru_cache(maxsize=100_000)(self._join)

    def find_path(self, page: str, base: str, href: str) -> tuple[str, str] | None:
        """Return the path below the folder that a link leads to, and its anchor."""
        if not href.strip().startswith(("#", "?")):
            page = page[: page.rindex("/") + 1]  # the same for many pages
        return self._joined(page, base, href)

    def find_target(self, page: str, base: str, href: str) -> Target | None:
        """Return the page that a link leads to, even if it does not exist."""
        found = self.find_path(page, base, href)
        if found is None:
            return None
        key = make_key(found[0])
        # A site may have been built for a path below its host's root.
        below = f"/{key[1:].partition('/')[2]}"
        is_below = below != "/" and key not in self.keys and below in self.keys
        return Target(below if is_below else key, found[1])

    def find_page(self, page: str, base: str, href: str) -> str | None:
        """Return the key of an existing page that a link leads to."""
        target = self.find_target(page, base, href)
        return target.key if target and target.key in self.keys else None

    def _join(self, page: str, base: str, href: str) -> tuple[str, str] | None:
        here = join(parse_address(page), base) if base else (parse_address(page), "")
        found = join(here[0], href) if here else None
        if found is None:
            return None
        inside = self._get_inner_path(found[0])
        return None if inside is None else (unquote(inside), found[1])

    def _get_inner_path(self, address: WebAddress) -> str | None:
        """Return the path below the folder; None for an address outside it."""
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
    """Rank a file: the files of a folder before its subfolders, the index first."""
    ranks = []
    for depth, part in enumerate(path.parts, 1):
        is_file = depth == len(path.parts)
        kind = (0 if strip_page_suffix(part) == "" else 1) if is_file else 2
        pieces = re.findall(r"\d+|\D+", part.lower())
        ranks.append((kind, [(int(p), "") if p.isdecimal() else (10**12, p) for p in pieces]))
    return ranks
