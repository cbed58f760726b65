"""What the targets in a page's markup lead to: places, addresses, pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urljoin

from bythebook.adapters.readers.pictures.shelf import KeptPicture, PictureRequest
from bythebook.adapters.readers.plain_text import PlainText
from bythebook.adapters.readers.rich_text import RichText
from bythebook.domain.books import Link, MissingPicture
from bythebook.domain.marks import LinkMark, Mark, Picture

FindLink = Callable[[str], Link | None]  # None: leads outside the book
FindPicture = Callable[[str], KeptPicture | MissingPicture | None]  # None: not named in reports
_OUTSIDE = ("http://", "https://", "mailto:")


def _find_nothing(_target: str) -> None:
    """Know no place and no picture."""


@dataclass(frozen=True, slots=True)
class PageTargets:
    """Finds what targets lead to, and records it with a page's text."""

    find_link: FindLink = _find_nothing
    find_picture: FindPicture = _find_nothing
    url: str = ""  # of the page on the book's own site; empty if it has none

    def add_link(self, plain: PlainText, target: str) -> LinkMark | None:
        """Record a link into the book; return the mark for the words of any link that leads somewhere."""
        link = self.find_link(target) if target.strip() else None
        if link is not None:
            plain.links.append(link)
            if link.document_id:
                return LinkMark(0, 0, "", link.document_id, link.anchor)
            return None
        target = target.strip()
        whole = target if target.lower().startswith(_OUTSIDE) else self._find_address(target)
        return LinkMark(0, 0, whole) if whole else None

    def add_picture(self, plain: PlainText, target: str) -> Picture | None:
        """Return the mark of a picture; record one that is missing."""
        found = self.find_picture(target.strip()) if target.strip() else None
        if isinstance(found, MissingPicture):
            plain.missing_pictures.append(found)
        return found.make_mark() if isinstance(found, KeptPicture) else None

    def show_pictures(self, plain: PlainText, rich: RichText) -> RichText:
        """Replace the requests for pictures in a text by pictures, and its targets by links."""
        marks: list[Mark] = []
        for mark in rich.marks:
            if isinstance(mark, PictureRequest):
                picture = self.add_picture(plain, mark.target)
                marks += [picture.move(mark.start, mark.end)] if picture else []
            elif isinstance(mark, LinkMark) and mark.url and not mark.document_id:
                found = self.add_link(plain, mark.url)
                marks += [found.move(mark.start, mark.end)] if found else []
            else:
                marks.append(mark)
        return RichText(rich.text, tuple(marks))

    def _find_address(self, target: str) -> str:
        """Return the address of a file on the book's own site."""
        if not self.url or not target or target.startswith(("#", "@")) or ":" in target:
            return ""
        try:
            return urljoin(self.url, target)
        except ValueError:
            return ""
