"""Which documents the files of an EPUB make, in which chapters, and where their ids stand."""

import html
import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.epub.contents import Entry
from bythebook.adapters.readers.epub.package import Package
from bythebook.adapters.readers.html.parse import check_size, decode
from bythebook.adapters.readers.plain_text import fingerprint, numbered

_TAG = re.compile(r"<[A-Za-z][^<>=]{0,200}=[^<>]{0,4000}>")
_ID = re.compile(r"""\s(?:(?:xml:)?id|name)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HREF = re.compile(r"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,500})</title>", re.IGNORECASE)
_ALT = re.compile(r"""\salt\s*=\s*["'][^"'<>]*\w""")
_NAME = re.compile(r"</?([A-Za-z][\w:-]{0,20})")
_REFERENCE = re.compile(r"&#?\w+;")
_WORD = re.compile(r"\w")
_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<!", ">"))
_MOST_CUTS = 2000


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look at a file's markup tells, without parsing it."""

    ids: Mapping[str, int]  # where each stands
    references: tuple[str, ...]
    first_words: int | None  # where its text begins; none for a file of pictures
    title: str  # that its head gives it
    mark: str  # the same for the same bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that is a document: all of it, or from one id to the next."""

    document_id: str
    name: str
    cut: str  # the id it begins at; empty for the file's beginning
    title: str  # as the table of contents has it; empty if it does not
    chapter: str


def scan(content: bytes) -> Scan:
    """Look for ids, references and words; refuse a file that is too much to parse."""
    text = decode(content)
    check_size(text)
    ids: dict[str, int] = {}
    references: dict[str, None] = {}
    for tag in _TAG.finditer(text):
        for match in _ID.finditer(tag.group()):
            ids.setdefault(html.unescape(match.group(1) or match.group(2) or ""), tag.start())
        for match in _HREF.finditer(tag.group()):
            references[html.unescape(match.group(1) or match.group(2) or "")] = None
    named = _TITLE.search(text)
    title = " ".join(html.unescape(named.group(1)).split()) if named else ""
    return Scan(ids, tuple(references), _first_words(text), title, fingerprint(content))


def lay_out(
    package: Package, entries: Sequence[Entry], scans: Mapping[str, Scan]
) -> Iterator[Piece]:
    """Give the documents in reading order."""
    by_name: dict[str, list[Entry]] = {}
    for entry in entries:
        by_name.setdefault(entry.name, []).append(entry)
    # A table of contents under a single line, such as the book's title, begins one level down.
    top = 1 if sum(entry.depth == 0 for entry in entries) == 1 else 0
    seen: dict[str, int] = {}
    chapter = ""
    for name in package.texts:
        if name not in scans:
            continue
        chapter = "" if name in package.asides else chapter
        for cut, listed in _pieces(by_name.get(name, []), scans[name], top):
            chapter = listed.chapter if listed is not None else chapter
            title = listed.title if listed is not None else ""
            document_id = numbered(_document_id(name, cut, package.folder), seen)
            yield Piece(document_id, name, cut, title, chapter)


class Places:
    """Which of a file's pieces an id stands in."""

    def __init__(self, pieces: Sequence[Piece], known: Scan) -> None:
        self.pieces = pieces
        self._ids = known.ids
        self._starts = [known.ids.get(piece.cut, 0) for piece in pieces]

    def piece_of(self, anchor: str) -> Piece:
        """Find the piece; an id that is not there leads to the file's beginning."""
        place = bisect_right(self._starts, self._ids.get(anchor, 0))
        return self.pieces[max(place - 1, 0)]


def _pieces(own: Sequence[Entry], known: Scan, top: int) -> Iterator[tuple[str, Entry | None]]:
    level = max(min((entry.depth for entry in own), default=0), top)
    cuts: dict[str, Entry] = {}
    for entry in own:
        if entry.depth <= level and entry.fragment in known.ids:
            cuts.setdefault(entry.fragment, entry)
    if len(cuts) > _MOST_CUTS:
        cuts = {}
    order = sorted(cuts.values(), key=lambda entry: known.ids[entry.fragment])
    whole = next((entry for entry in own if not entry.fragment), None)
    begins_with_words = known.first_words is not None and (
        not order or known.first_words < known.ids[order[0].fragment]
    )
    if whole is None and order and not begins_with_words:
        whole = order.pop(0)
    elif not order:
        whole = whole or min(own, key=lambda entry: entry.depth, default=None)
    yield "", whole
    for entry in order:
        yield entry.fragment, entry


def _document_id(name: str, cut: str, folder: str) -> str:
    path = posixpath.splitext(name)[0]
    path = path.removeprefix(f"{folder}/") if folder else path
    return _slug(f"{path}/{cut}" if cut else path) or "document"


def _slug(path: str) -> str:
    plain = unicodedata.normalize("NFKD", path).encode("ascii", "ignore").decode().lower()
    steps = (re.sub(r"[^a-z0-9._]+", "-", step).strip("-.") for step in plain.split("/"))
    return "/".join(step for step in steps if step)


def _first_words(text: str) -> int | None:
    """Find where the text begins, past the head; tags, comments and bare pictures are none."""
    at = 0
    while at < len(text):
        if text[at] != "<":
            end = text.find("<", at)
            end = len(text) if end < 0 else end
            if _WORD.search(_REFERENCE.sub("", text[at:end])):
                return at
        else:
            end = _end_of_markup(text, at)
            if text.startswith("<img", at) and _ALT.search(text, at, end):
                return at
        at = end
    return None


def _end_of_markup(text: str, at: int) -> int:
    closing = next((end for start, end in _ENDS if text.startswith(start, at)), ">")
    name = _NAME.match(text, at)
    if name and name.group(1).lower() in {"head", "script", "style"} and text[at + 1] != "/":
        tag_end = text.find(">", at)
        closed = re.compile(f"</{name.group(1)}\\s*>", re.IGNORECASE).search(text, at)
        if closed and text[tag_end - 1] != "/":
            return closed.end()
    found = text.find(closing, at + 1)
    return len(text) if found < 0 else found + len(closing)
