"""Resolves links inside a book."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bythebook.adapters.readers.markdown.pages import MarkdownPage, SourceFile
from bythebook.adapters.readers.markdown.tree import Tree, is_markdown
from bythebook.adapters.readers.notebook.pictures import OUTPUT_PICTURE, load_output
from bythebook.adapters.readers.pictures.shelf import KeptPicture, PictureShelf, find_picture_file
from bythebook.adapters.readers.source_file import is_file_inside
from bythebook.domain.books import Link, MissingPicture

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_CANDIDATES = (  # required text, and a pattern for the target
    ("](", re.compile(r"""\]\(\s*<?([^\s<>"']+)""")),
    ("]:", re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+)", re.MULTILINE)),
    ("href", re.compile(r"""href\s*=\s*["']?\{?["']?([^"'\s>}]+)""")),
    (" to=", re.compile(r"""\sto=["']?\{?["']?([^"'\s>}]+)""")),
)
PICTURE_CANDIDATES = re.compile(
    r"""(?:\]\(\s*<?|\]:\s*<?|\bsrc\s*=\s*["'{]?\s*["']?(?:require\(\s*["'])?)"""
    r"""([^\s<>"']+\.(?:png|jpe?g|gif|webp|avif|svg)\b)""",
    re.IGNORECASE,
)
_STATIC_FOLDERS = ("static", "public", "assets", "images", "")
_GENERATED = re.compile(r"/(?:category|categories|tags)(?:/|$)")  # lists that sites generate
_ENDINGS = (".md", ".mdx", "/_index.md", "/index.md", "/index.mdx", "/README.md")
_PAGE_SUFFIXES = ("", ".md", ".mdx", ".markdown", ".html", ".htm")


@dataclass(frozen=True, slots=True)
class BookLinks:
    """The pages of a book by file and by address."""

    files: Mapping[str, str]  # path from the source folder -> document id
    routes: Mapping[str, str]
    folders: frozenset[str]  # routes below which the book has all existing pages
    tree: Tree
    source_folders: frozenset[str]  # folders of files of any kind
    root: str  # the pages' folder, relative to the source folder
    base_url: str

    def find_candidates(self, page: MarkdownPage, file: SourceFile, body: str) -> tuple[str, ...]:
        """Return the targets of everything that looks like a link; the page changes when they change."""
        found = (pattern.findall(body) for mark, pattern in _CANDIDATES if mark in body)
        targets = set(chain.from_iterable(found))
        leads = (self.find_link(page, file, target.rstrip(")")) for target in sorted(targets))
        return tuple(f"{link.target} {link.document_id}" for link in leads if link)

    def find_picture(
        self, shelf: PictureShelf, file: SourceFile, target: str
    ) -> KeptPicture | MissingPicture:
        """Find the picture that a page shows."""

        def list_places(path: str) -> list[Path]:
            names = [*self._list_names(file, path), *self._list_static_names(path)]
            drawn = [
                f"{posixpath.splitext(name)[0]}.svg" for name in names
            ]  # some tools draw from it
            return [self.tree.root / name for name in dict.fromkeys((*names, *drawn))]

        if output := OUTPUT_PICTURE.fullmatch(target):
            name, cell, place, suffix = output.groups()
            for path in filter(partial(is_file_inside, folder=self.tree.root), list_places(name)):
                load = partial(load_output, path, int(cell), int(place), suffix)
                return shelf.keep(f"{path}#{cell}-{place}", target, load)
        return find_picture_file(shelf, target, self.tree.root, list_places)

    def _list_static_names(self, path: str) -> list[str]:
        """List where site builders look for a file by its address on the site."""
        own = self._strip_base_path(path).lstrip("/")
        folders = dict.fromkeys((self.root, posixpath.dirname(self.root), ""))
        return [
            posixpath.normpath(posixpath.join(folder, static, own))
            for folder in folders
            for static in _STATIC_FOLDERS
        ]

    def find_link(self, page: MarkdownPage, file: SourceFile, target: str) -> Link | None:
        """Return a link that leads, or should lead, to a page of the book; None for any other."""
        path, anchor = self._split_target(target)
        if path is None:
            return None
        if not path:
            return Link(target, page.document_id, anchor) if anchor else None
        found = self._find_by_file(file, path) or self._find_by_route(page, path)
        if found is None:
            return Link(target, "", anchor) if self._is_broken(page, file, path) else None
        return Link(target, found, anchor) if found else None

    def _split_target(self, target: str) -> tuple[str | None, str]:
        """Split a target into path and anchor; the path is None if it leads to another site."""
        try:
            parts = urlsplit(target)
        except ValueError:
            return None, ""
        anchor = unquote(parts.fragment)
        if _SCHEME.match(target):
            base = urlsplit(self.base_url)
            is_own = bool(self.base_url) and parts[:2] == base[:2]
            own = self._strip_base_path(unquote(parts.path)) if is_own else ""
            return (own if self._has_route(own) else None), anchor
        return (None if parts.query and not parts.path else unquote(parts.path)), anchor

    def _has_route(self, route: str) -> bool:
        return bool(route) and _normalize_route(route) in self.routes

    def _strip_base_path(self, path: str) -> str:
        """Remove the base URL's path from a path on the site."""
        above = urlsplit(self.base_url).path.rstrip("/")
        return path.removeprefix(above) if above and path.startswith(f"{above}/") else path

    def _find_by_file(self, file: SourceFile, path: str) -> str | None:
        """Find the page of a file; the id is empty for a file that is not a page."""
        names = self._list_names(file, path)
        for name in names:
            for known in (name, *(f"{name}{ending}" for ending in _ENDINGS)):
                if (found := self.files.get(known)) is not None:
                    return found
        return "" if any(self._exists(name) for name in names) else None

    def _list_names(self, file: SourceFile, path: str) -> list[str]:
        """List the files, from the source folder, that a path in a page may mean."""
        if path.startswith("@site/"):
            above = posixpath.dirname(self.root)
            return [posixpath.normpath(posixpath.join(above, path.removeprefix("@site/")))]
        if path.startswith("/"):
            return [posixpath.normpath(posixpath.join(self.root, path.lstrip("/")))]
        folder = posixpath.join(self.root, file.relative.parent.as_posix())
        return [
            posixpath.normpath(posixpath.join(folder, path)),
            posixpath.normpath(posixpath.join(self.root, path)),
        ]

    def _exists(self, name: str) -> bool:
        return name in self.tree.files or name in self.source_folders

    def _find_by_route(self, page: MarkdownPage, path: str) -> str | None:
        whole = posixpath.join(page.route, path)
        sibling = posixpath.join(posixpath.dirname(page.route), path)
        for route in (
            (self._strip_base_path(path), whole, sibling) if path[0] == "/" else (sibling, whole)
        ):
            if (found := self.routes.get(_normalize_route(route))) is not None:
                return found
        return None

    def _is_broken(self, page: MarkdownPage, file: SourceFile, path: str) -> bool:
        """Return True if a link should lead to a page, where the book is known to be complete."""
        if path.startswith("@") or not self.tree.files:  # nothing else is known about a single file
            return False
        if not path.startswith("/"):
            name = posixpath.normpath(posixpath.join(file.relative.parent.as_posix(), path))
            if name.startswith("..") or name == ".":
                return False
            if is_markdown(path) or (path.endswith(".html") and page.route.endswith(".html")):
                return True
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page.route), path))
        if _GENERATED.search(path):
            return False
        suffix = posixpath.splitext(path.rstrip("/"))[1].lower()
        route = f"{_normalize_route(self._strip_base_path(path))}/"
        return suffix in _PAGE_SUFFIXES and any(route.startswith(f) for f in self.folders)


def collect_links(
    pages: Sequence[MarkdownPage],
    files: Mapping[Path, SourceFile],
    tree: Tree,
    root: str,
    base_url: str,
) -> BookLinks:
    """Collect the addresses of all pages of a book."""
    by_file = {
        posixpath.normpath(
            posixpath.join(root, files[page.path].relative.as_posix())
        ): page.document_id
        for page in pages
    }
    routes: dict[str, str] = {}
    is_docs = posixpath.basename(root) == "docs" or tree.root.name == "docs"
    for page in pages:
        for route in (page.route, *page.aliases):
            routes.setdefault(_normalize_route(route), page.document_id)
        if is_docs:  # the default address of such a folder
            routes.setdefault(_normalize_route(f"/docs{page.route}"), page.document_id)
    folders = {posixpath.dirname(name) for name in tree.files}
    served = [route for route in routes if route.startswith("/docs")] if is_docs else routes
    whole = frozenset(_find_complete_folders(served))
    return BookLinks(by_file, routes, whole, tree, frozenset(folders - {""}), root, base_url)


def _normalize_route(route: str) -> str:
    """Normalize a route that may end with a slash, index.html or .html."""
    route = posixpath.normpath(f"/{route.lstrip('/')}")
    route = route.removesuffix("/index.html").removesuffix(".html")
    return "/" if route in {"", "/index", "/."} else route


def _find_complete_folders(routes: Iterable[str]) -> set[str]:
    """Find the folders that contain pages, starting below the site's root."""
    known = set(routes)
    parents = {posixpath.dirname(route) for route in known}
    leaves = {posixpath.dirname(route) for route in known - parents}
    whole: set[str] = set()
    for route in known - {"/"}:
        parts = route.strip("/").split("/")
        steps = ("/" + "/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
        homes = (step for step in steps if step in parents and (step in known or step in leaves))
        whole.update(f"{home}/" for home in islice(homes, 1))
    return whole
