"""A folder of web pages, as a generator builds one, or a single page."""

import re
from pathlib import Path
from urllib.parse import quote

from bythebook.adapters.readers.html.beside import beside_warning, is_beside
from bythebook.adapters.readers.html.folder_files import (
    FolderLinks,
    address_of,
    content_of,
    html_files,
    key_of,
)
from bythebook.adapters.readers.html.menu import MenuEntry
from bythebook.adapters.readers.html.reading_order import site_title
from bythebook.adapters.readers.html.survey import Look, RawPage, Surveyor
from bythebook.adapters.readers.html.web_book import source_documents
from bythebook.adapters.readers.html.web_pages import WebPage, WebPages, equal_pages, path_of
from bythebook.adapters.readers.source_file import existing
from bythebook.domain.books import Skipped, SourceBook
from bythebook.errors import UnreadableBook

_MENU = "toc.html"


class HtmlFolderReader:
    """Reads a folder of HTML files, or a single one, as one book."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """Lay a book out, or raise UnreadableBook with what to do."""
        path = existing(source)
        if path.is_file():
            folder = _Folder(path.parent, [path], base_url or "", is_single=True)
        else:
            base = f"{base_url.rstrip('/')}/" if base_url else ""
            folder = _Folder(path, html_files(path), base)
        return folder.book(title)


class _Folder:
    """The pages of a folder as they are looked over."""

    def __init__(
        self, root: Path, files: list[Path], base: str, *, is_single: bool = False
    ) -> None:
        self._root = root
        self._base = base
        self._is_single = is_single
        names = [file.relative_to(root).as_posix() for file in files]
        self._links = FolderLinks(iter(names), base)
        self._surveyor = Surveyor(self._links.page_at)
        self._pages: list[WebPage] = []
        self._skipped: list[Skipped] = []
        self._beside: list[str] = []  # left out as no part of the book
        self._aliases: dict[str, str] = {}
        self._menu: tuple[MenuEntry, ...] = ()
        self._contents: tuple[MenuEntry, ...] = ()
        for file, name in zip(files, names, strict=True):
            self._take(file, name)

    def book(self, title: str | None) -> SourceBook:
        """Make a book of the pages, or raise UnreadableBook if there is none."""
        equal = equal_pages(self._pages)
        pages = [page for page in self._pages if page.key not in equal]
        if not pages:
            reasons = " ".join(f"{one.name}: {one.reason}" for one in self._skipped[:3])
            raise UnreadableBook(
                f"{self._root} holds no HTML page that can be read. {reasons}".strip(),
                "Give a folder with .html files in it.",
            )
        aliases = self._aliases | equal
        book = WebPages(
            pages,
            lambda page, href: self._links.find(page.address, page.survey.base, href),
            gone=frozenset() if self._is_single else self._gone(pages),
            aliases=aliases,
            menu=self._menu,
            contents=self._contents,
        )
        name = title or site_title(pages) or self._root.resolve().name
        reader = "HTML file" if self._is_single else "HTML folder"
        warnings = beside_warning(self._beside)
        documents = source_documents(book)
        return SourceBook(name, reader, self._base, documents, tuple(self._skipped), warnings)

    def _take(self, file: Path, name: str) -> None:
        """Look a file over, and take it into the book if it is a page of it."""
        shown = name.encode("utf-8", "replace").decode()
        try:
            raw = RawPage.of(content_of(file, self._root), None)
            look = self._surveyor.look(raw, address_of(name))
        except UnreadableBook as error:
            self._skipped.append(Skipped(shown, f"{error.what} {error.help_message}"))
            return
        is_part = self._is_single or not is_beside(name, look)
        if not is_part or self._is_menu(name) or self._sends_on(look, name):
            self._beside.append(shown)
            return
        key = key_of(name)
        if key == "/":
            self._note_menu(look)
        address, url = address_of(name), self._url(name)
        self._pages.append(WebPage(key, path_of(name), address, url, raw, look.survey))

    def _url(self, name: str) -> str:
        if self._is_single or not self._base:
            return self._base
        return self._base + quote(re.sub(r"(?:^|(?<=/))index\.html?$", "", name), errors="replace")

    def _note_menu(self, look: Look) -> None:
        """Read the menu of the folder's own page; mdBook keeps it in a page of its own."""
        self._contents = look.contents
        menu = self._root / look.menu_frame
        if look.menu_frame == _MENU and menu.is_file():
            try:
                raw = RawPage.of(content_of(menu, self._root), None)
                self._menu = self._surveyor.menu_page(raw, address_of(_MENU))
            except UnreadableBook:
                return

    def _is_menu(self, name: str) -> bool:
        return name == _MENU and bool(self._menu)

    def _sends_on(self, look: Look, name: str) -> bool:
        """Note where a page sends its readers that says nothing itself."""
        target = self._links.find(address_of(name), "", look.moved_to) if look.moved_to else None
        if target is None or target.key == key_of(name) or target.key not in self._links.keys:
            return False
        self._aliases[key_of(name)] = target.key
        return True

    def _gone(self, pages: list[WebPage]) -> frozenset[str]:
        """Find the keys that links name but no file has."""
        gone = set()
        for page in pages:
            for href in page.survey.article_links:
                found = self._links.path(page.address, page.survey.base, href)
                target = self._links.find(page.address, page.survey.base, href)
                is_known = target is None or target.key in self._links.keys
                if found and target and not is_known and not self._has(found[0]):
                    gone.add(target.key)
        return frozenset(gone)

    def _has(self, path: str) -> bool:
        try:
            return (self._root / path.strip("/")).exists()
        except (OSError, ValueError):
            return False
