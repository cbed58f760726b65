"""Reads a folder of web pages, as a site generator builds it, or a single page."""

import re
from pathlib import Path
from urllib.parse import quote

from bythebook.adapters.readers.html.book.generated_pages import is_generated_page, warn_left_out
from bythebook.adapters.readers.html.book.menu import MenuEntry
from bythebook.adapters.readers.html.book.reading_order import find_site_title
from bythebook.adapters.readers.html.book.survey import PageSurvey, RawPage, Surveyor
from bythebook.adapters.readers.html.book.web_book import make_source_documents
from bythebook.adapters.readers.html.book.web_pages import (
    WebPage,
    WebPages,
    find_duplicate_pages,
    strip_page_suffix,
)
from bythebook.adapters.readers.html.folder_files import (
    FolderLinks,
    find_html_files,
    make_address,
    make_key,
    read_content,
)
from bythebook.adapters.readers.pictures.shelf import (
    KeptPicture,
    PictureShelf,
    find_picture_file,
)
from bythebook.adapters.readers.source_file import (
    make_folder_url,
    replace_surrogates,
    require_path,
    skip_unreadable,
)
from bythebook.domain.books import MissingPicture, Skipped, SourceBook
from bythebook.errors import UnreadableBook

_MENU = "toc.html"


class HtmlFolderReader:
    """Reads a folder of HTML files, or a single one, as one book."""

    def read(self, source: str, *, title: str | None, base_url: str | None) -> SourceBook:
        """List the book's documents in reading order; raise UnreadableBook with advice if there are none."""
        path = require_path(source)
        if path.is_file():
            folder = _FolderBook(path.parent, [path], base_url or "", is_single=True)
        else:
            folder = _FolderBook(path, find_html_files(path), make_folder_url(base_url))
        return folder.make_book(title)


class _FolderBook:
    """The pages of a folder, surveyed one by one."""

    def __init__(
        self, root: Path, files: list[Path], base: str, *, is_single: bool = False
    ) -> None:
        self._root = root
        self._base = base
        self._is_single = is_single
        names = [file.relative_to(root).as_posix() for file in files]
        self._links = FolderLinks(iter(names), base)
        self._surveyor = Surveyor(self._links.find_page)
        self._pages: list[WebPage] = []
        self._pictures = PictureShelf()
        self._skipped: list[Skipped] = []
        self._generated: list[str] = []  # left out because they are not part of the book
        self._aliases: dict[str, str] = {}
        self._menu: tuple[MenuEntry, ...] = ()
        self._contents: tuple[MenuEntry, ...] = ()
        for file, name in zip(files, names, strict=True):
            self._add_file(file, name)

    def make_book(self, title: str | None) -> SourceBook:
        """Make a book of the pages, or raise UnreadableBook if there are none."""
        equal = find_duplicate_pages(self._pages)
        pages = [page for page in self._pages if page.key not in equal]
        if not pages:
            reasons = " ".join(f"{one.name}: {one.reason}" for one in self._skipped[:3])
            raise UnreadableBook(
                f"{self._root} has no readable HTML page. {reasons}".strip(),
                "Choose a folder that contains .html files.",
            )
        aliases = self._aliases | equal
        book = WebPages(
            pages,
            lambda page, href: self._links.find_target(page.address, page.summary.base, href),
            missing=frozenset() if self._is_single else self._find_missing_keys(pages),
            aliases=aliases,
            menu=self._menu,
            contents=self._contents,
            find_picture=self._find_picture,
        )
        name = title or find_site_title(pages) or self._root.resolve().name
        reader = "HTML file" if self._is_single else "HTML folder"
        warnings = warn_left_out(self._generated)
        documents = make_source_documents(book)
        return SourceBook(
            name,
            reader,
            self._base,
            documents,
            tuple(self._skipped),
            warnings,
            self._pictures.load,
        )

    def _find_picture(self, page: WebPage, target: str) -> KeptPicture | MissingPicture:
        """Find the picture that a page shows, by its place in the folder."""

        def list_places(_path: str) -> list[Path]:
            found = self._links.find_path(page.address, page.summary.base, target)
            inside = found[0].strip("/") if found else ""
            # A site may have been built for a path below its host's root.
            return [self._root / name for name in (inside, inside.partition("/")[2]) if name]

        return find_picture_file(self._pictures, target, self._root, list_places)

    def _add_file(self, file: Path, name: str) -> None:
        """Survey a file and add it to the book if it is one of its pages."""
        shown = replace_surrogates(name)
        try:
            raw = RawPage.pack(read_content(file, self._root), None)
            survey = self._surveyor.survey(raw, make_address(name))
        except UnreadableBook as error:
            self._skipped.append(skip_unreadable(name, error))
            return
        is_part = self._is_single or not is_generated_page(name, survey)
        if not is_part or self._is_menu(name) or self._follow_redirect(survey, name):
            self._generated.append(shown)
            return
        key = make_key(name)
        if key == "/":
            self._read_menu(survey)
        address, url = make_address(name), self._make_url(name)
        self._pages.append(WebPage(key, strip_page_suffix(name), address, url, raw, survey.summary))

    def _make_url(self, name: str) -> str:
        if self._is_single or not self._base:
            return self._base
        return self._base + quote(re.sub(r"(?:^|(?<=/))index\.html?$", "", name), errors="replace")

    def _read_menu(self, survey: PageSurvey) -> None:
        """Read the menu of the start page; mdBook keeps it in a separate page."""
        self._contents = survey.contents
        menu = self._root / survey.menu_frame
        if survey.menu_frame == _MENU and menu.is_file():
            try:
                raw = RawPage.pack(read_content(menu, self._root), None)
                self._menu = self._surveyor.read_menu_page(raw, make_address(_MENU))
            except UnreadableBook:
                return

    def _is_menu(self, name: str) -> bool:
        return name == _MENU and bool(self._menu)

    def _follow_redirect(self, survey: PageSurvey, name: str) -> bool:
        """Record the target of a page that only redirects; return True if it does."""
        target = (
            self._links.find_target(make_address(name), "", survey.moved_to)
            if survey.moved_to
            else None
        )
        if target is None or target.key == make_key(name) or target.key not in self._links.keys:
            return False
        self._aliases[make_key(name)] = target.key
        return True

    def _find_missing_keys(self, pages: list[WebPage]) -> frozenset[str]:
        """Find the keys that links name and no file has."""
        missing = set()
        for page in pages:
            for href in page.summary.article_links:
                found = self._links.find_path(page.address, page.summary.base, href)
                target = self._links.find_target(page.address, page.summary.base, href)
                is_known = target is None or target.key in self._links.keys
                if found and target and not is_known and not self._exists(found[0]):
                    missing.add(target.key)
        return frozenset(missing)

    def _exists(self, path: str) -> bool:
        try:
            return (self._root / path.strip("/")).exists()
        except (OSError, ValueError):
            return False
