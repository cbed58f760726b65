"""Finds the files of a folder in one walk."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from bythebook.adapters.readers.source_file import replace_surrogates
from bythebook.domain.books import Skipped

MARKDOWN = frozenset({".md", ".mdx", ".markdown"})
PAGES = MARKDOWN | frozenset({".ipynb", ".qmd", ".rmd"})
_IGNORED_FOLDERS = frozenset({"node_modules", "venv"})  # pages of other projects


@dataclass(frozen=True, slots=True)
class Tree:
    """Regular files below a folder, and the pages that are not regular files."""

    root: Path
    files: frozenset[str]  # paths relative to the root
    skipped: tuple[Skipped, ...] = ()

    def narrow_to(self, folder: Path) -> "Tree":
        """Return the part of the tree below one of its folders."""
        above = folder.relative_to(self.root).as_posix()
        if above == ".":
            return self
        names = (name for name in self.files if name.startswith(f"{above}/"))
        return Tree(folder, frozenset(name.removeprefix(f"{above}/") for name in names))

    def list_markdown(self, *also: str) -> list[Path]:
        """Return the pages in order; those with a leading underscore only if `also` names them."""
        names = (name for name in self.files if is_markdown(name))
        return sorted(self.root / name for name in names if _is_page(name, also))

    def list_pages(self) -> list[Path]:
        """Return the pages in order, notebooks and Quarto pages among them."""
        names = (name for name in self.files if PurePosixPath(name).suffix.lower() in PAGES)
        return sorted(self.root / name for name in names if _is_page(name, ()))


def is_markdown(name: str) -> bool:
    """Return True if a file name has a Markdown suffix."""
    return PurePosixPath(name).suffix.lower() in MARKDOWN


def walk_tree(root: Path) -> Tree:
    """Walk a folder once; follow links inside it once, and never follow links out of it."""
    walk = _TreeWalker(root)
    walk.walk_folder("")
    while walk.links:
        walk.follow(walk.links.pop(0))
    return Tree(root, frozenset(walk.files), tuple(walk.skipped))


@dataclass(slots=True)
class _TreeWalker:
    root: Path
    files: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)  # real paths of folders and linked files

    def walk_folder(self, top: str) -> None:
        waiting = [top]
        while waiting:
            name = waiting.pop()
            self.seen.add(os.path.realpath(self.root / name))
            for entry in self._list_entries(name):
                path = f"{name}/{entry.name}" if name else entry.name
                if entry.is_symlink():
                    self.links.append(path)
                elif entry.is_dir():
                    waiting.append(path)
                elif entry.is_file():
                    self.files.add(path)
                elif is_markdown(path):
                    self._skip(path, "It is a pipe or a device, not a file.")

    def follow(self, name: str) -> None:
        """Add the target of a link if it is inside the folder and not added already."""
        real = os.path.realpath(self.root / name)
        try:
            mode = Path(real).stat().st_mode
        except OSError:
            if is_markdown(name):
                self._skip(name, "It is a broken link.")
            return
        if not Path(real).is_relative_to(os.path.realpath(self.root)):
            if is_markdown(name) or stat.S_ISDIR(mode):
                self._skip(name, "It is a link to a place outside the folder.")
        elif stat.S_ISDIR(mode):
            if real not in self.seen:
                self.walk_folder(name)
        elif stat.S_ISREG(mode) and self._is_new(real):
            self.seen.add(real)
            self.files.add(name)

    def _is_new(self, real: str) -> bool:
        own = os.path.relpath(real, os.path.realpath(self.root))
        return real not in self.seen and own not in self.files

    def _list_entries(self, name: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / name) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(name or ".", f"The folder cannot be opened ({error.strerror}).")
            return
        for entry in found:
            if not entry.name.startswith(".") and entry.name not in _IGNORED_FOLDERS:
                yield entry

    def _skip(self, name: str, reason: str) -> None:
        self.skipped.append(Skipped(replace_surrogates(name), reason))


def _is_page(name: str, also: tuple[str, ...]) -> bool:
    parts = PurePosixPath(name).parts
    return not any(part.startswith("_") for part in parts[:-1]) and (
        not parts[-1].startswith("_") or parts[-1] in also
    )
