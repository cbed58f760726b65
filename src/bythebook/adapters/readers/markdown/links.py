"""Where links inside a book lead."""

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bythebook.adapters.readers.markdown.pages import Page, SourceFile
from bythebook.adapters.readers.markdown.tree import Tree, is_markdown
from bythebook.domain.books import Link

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_CANDIDATES = (  # a text that each needs, and what it leads to
    ("](", re.compile(r"""\]\(\s*<?([^\s<>"']+)""")),
    ("]:", re.compile(r"^ {0,3}\[[^\]\n]+\]:\s*<?([^\s<>]+)", re.MULTILINE)),
    ("href", re.compile(r"""href\s*=\s*["']?\{?["']?([^"'\s>}]+)""")),
    (" to=", re.compile(r"""\sto=["']?\{?["']?([^"'\s>}]+)""")),
)
_GENERATED = re.compile(r"/(?:category|categories|tags)(?:/|$)")  # lists that sites make
_ENDINGS = (".md", ".mdx", "/_index.md", "/index.md", "/index.mdx", "/README.md")
_PAGE_SUFFIXES = ("", ".md", ".mdx", ".markdown", ".html", ".htm")


@dataclass(frozen=True, slots=True)
class BookLinks:
    """The pages of a book by their files and by their addresses."""

    files: Mapping[str, str]  # paths from the source's folder: document ids
    routes: Mapping[str, str]
    folders: frozenset[str]  # routes below which the book has all the pages there are
    tree: Tree
    source_folders: frozenset[str]  # of files of any kind
    root: str  # the pages' folder, from the source's folder
    base_url: str

    def candidates(self, page: Page, file: SourceFile, body: str) -> tuple[str, ...]:
        """Give where all that looks like a link leads: when this changes, the page has changed."""
        found = (pattern.findall(body) for mark, pattern in _CANDIDATES if mark in body)
        targets = set(chain.from_iterable(found))
        leads = (self.find(page, file, target.rstrip(")")) for target in sorted(targets))
        return tuple(f"{link.target} {link.document_id}" for link in leads if link)

    def find(self, page: Page, file: SourceFile, target: str) -> Link | None:
        """Give a link that leads, or should lead, to a page of the book; none for any other."""
        path, anchor = self._own_path(target)
        if path is None:
            return None
        if not path:
            return Link(target, page.document_id, anchor) if anchor else None
        found = self._file(file, path) or self._route(page, path)
        if found is None:
            return Link(target, "", anchor) if self._is_broken(page, file, path) else None
        return Link(target, found, anchor) if found else None

    def _own_path(self, target: str) -> tuple[str | None, str]:
        """Part a target into path and anchor; no path if it leads to another site."""
        try:
            parts = urlsplit(target)
        except ValueError:
            return None, ""
        anchor = unquote(parts.fragment)
        if _SCHEME.match(target):
            base = urlsplit(self.base_url)
            is_own = bool(self.base_url) and parts[:2] == base[:2]
            own = self._routed(unquote(parts.path)) if is_own else ""
            return (own if self._known(own) else None), anchor
        return (None if parts.query and not parts.path else unquote(parts.path)), anchor

    def _known(self, route: str) -> bool:
        return bool(route) and _trimmed(route) in self.routes

    def _routed(self, path: str) -> str:
        """Take the path of the base address off a path on the site."""
        above = urlsplit(self.base_url).path.rstrip("/")
        return path.removeprefix(above) if above and path.startswith(f"{above}/") else path

    def _file(self, file: SourceFile, path: str) -> str | None:
        """Find the page of a file; an empty id for a file that is no page."""
        if path.startswith("@site/"):
            above = posixpath.dirname(self.root)
            names = [posixpath.normpath(posixpath.join(above, path.removeprefix("@site/")))]
        elif path.startswith("/"):
            names = [posixpath.normpath(posixpath.join(self.root, path.lstrip("/")))]
        else:
            folder = posixpath.join(self.root, file.relative.parent.as_posix())
            names = [
                posixpath.normpath(posixpath.join(folder, path)),
                posixpath.normpath(posixpath.join(self.root, path)),
            ]
        for name in names:
            for known in (name, *(f"{name}{ending}" for ending in _ENDINGS)):
                if (found := self.files.get(known)) is not None:
                    return found
        return "" if any(self._is_there(name) for name in names) else None

    def _is_there(self, name: str) -> bool:
        return name in self.tree.files or name in self.source_folders

    def _route(self, page: Page, path: str) -> str | None:
        whole = posixpath.join(page.route, path)
        beside = posixpath.join(posixpath.dirname(page.route), path)
        for route in (self._routed(path), whole, beside) if path[0] == "/" else (beside, whole):
            if (found := self.routes.get(_trimmed(route))) is not None:
                return found
        return None

    def _is_broken(self, page: Page, file: SourceFile, path: str) -> bool:
        """Say whether a link should have led somewhere: only where the book is known to be whole."""
        if path.startswith("@") or not self.tree.files:  # nothing is known beside a single file
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
        route = f"{_trimmed(self._routed(path))}/"
        return suffix in _PAGE_SUFFIXES and any(route.startswith(f) for f in self.folders)


def book_links(
    pages: Sequence[Page], files: Mapping[Path, SourceFile], tree: Tree, root: str, base_url: str
) -> BookLinks:
    """Learn where the pages of a book are."""
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
            routes.setdefault(_trimmed(route), page.document_id)
        if is_docs:  # where such a folder is served if nothing says otherwise
            routes.setdefault(_trimmed(f"/docs{page.route}"), page.document_id)
    folders = {posixpath.dirname(name) for name in tree.files}
    served = [route for route in routes if route.startswith("/docs")] if is_docs else routes
    whole = frozenset(_whole_folders(served))
    return BookLinks(by_file, routes, whole, tree, frozenset(folders - {""}), root, base_url)


def _trimmed(route: str) -> str:
    """Give a route as it is however it is written: a slash, index.html or .html at its end or not."""
    route = posixpath.normpath(f"/{route.lstrip('/')}")
    route = route.removesuffix("/index.html").removesuffix(".html")
    return "/" if route in {"", "/index", "/."} else route


def _whole_folders(routes: Iterable[str]) -> set[str]:
    """Find the folders that pages live in: from the first below the site's root that has one."""
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
