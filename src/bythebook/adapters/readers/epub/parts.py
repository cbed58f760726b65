"""Splits the files of an EPUB into documents with chapters, and finds the part of each id."""

import html
import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bythebook.adapters.readers.epub.contents import ContentsEntry
from bythebook.adapters.readers.epub.package import Package
from bythebook.adapters.readers.html.page.parse import check_size, decode
from bythebook.adapters.readers.plain_text import compute_fingerprint, fold_to_ascii, make_unique

_TAG = re.compile(r"<[A-Za-z][^<>=]{0,200}=[^<>]{0,4000}>")
_ID = re.compile(r"""\s(?:(?:xml:)?id|name)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HREF = re.compile(r"""\shref\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_IMAGE = re.compile(r"<(?:\w+:)?ima?ge?\b", re.IGNORECASE)
_PICTURE = re.compile(r"""\s(?:src|(?:xlink:)?href)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TITLE = re.compile(r"<title[^<>]*>([^<]{1,500})</title>", re.IGNORECASE)
_ALT = re.compile(r"""\salt\s*=\s*["'][^"'<>]*\w""")
_NAME = re.compile(r"</?([A-Za-z][\w:-]{0,20})")
_ENTITY = re.compile(r"&#?\w+;")
_WORD_CHARACTER = re.compile(r"\w")
_MARKUP_ENDS = (("<!--", "-->"), ("<?", "?>"), ("<!", ">"))
_MAX_CUTS = 2000


@dataclass(frozen=True, slots=True)
class Scan:
    """What a search of a file's markup shows, without parsing it."""

    ids: Mapping[str, int]  # position of each id
    references: tuple[str, ...]
    text_start: int | None  # None for a file of images
    title: str  # from its head
    content_hash: str  # equal for equal bytes
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document: a whole file, or the part from one id to the next."""

    document_id: str
    name: str
    cut: str  # the id where it starts; empty for the start of the file
    title: str  # from the table of contents; may be empty
    chapter: str


def scan(content: bytes) -> Scan:
    """Search for ids, references and text; refuse a file that is too large to parse."""
    text = decode(content)
    check_size(text)
    ids: dict[str, int] = {}
    references: dict[str, None] = {}
    pictures: dict[str, None] = {}
    for tag in _TAG.finditer(text):
        for match in _ID.finditer(tag.group()):
            ids.setdefault(html.unescape(match.group(1) or match.group(2) or ""), tag.start())
        for match in _HREF.finditer(tag.group()):
            references[html.unescape(match.group(1) or match.group(2) or "")] = None
        for match in _PICTURE.finditer(tag.group()) if _IMAGE.match(tag.group()) else ():
            pictures[html.unescape(match.group(1) or match.group(2) or "")] = None
    named = _TITLE.search(text)
    title = " ".join(html.unescape(named.group(1)).split()) if named else ""
    mark = compute_fingerprint(content)
    shown = tuple(pictures)
    return Scan(ids, tuple(references), _find_text_start(text), title, mark, shown)


def list_parts(
    package: Package, entries: Sequence[ContentsEntry], scans: Mapping[str, Scan]
) -> Iterator[DocumentPart]:
    """Yield the documents in reading order."""
    by_name: dict[str, list[ContentsEntry]] = {}
    for entry in entries:
        by_name.setdefault(entry.name, []).append(entry)
    # If all entries are below a single one, such as the book's title, start one level down.
    top = 1 if sum(entry.depth == 0 for entry in entries) == 1 else 0
    seen: dict[str, int] = {}
    chapter = ""
    for name in package.texts:
        if name not in scans:
            continue
        chapter = "" if name in package.asides else chapter
        for cut, listed in _split_file(by_name.get(name, []), scans[name], top):
            chapter = listed.chapter if listed is not None else chapter
            title = listed.title if listed is not None else ""
            document_id = make_unique(_make_document_id(name, cut, package.folder), seen)
            yield DocumentPart(document_id, name, cut, title, chapter)


class PartFinder:
    """Finds the part of a file that contains an id."""

    def __init__(self, parts: Sequence[DocumentPart], known: Scan) -> None:
        self.parts = parts
        self._ids = known.ids
        self._starts = [known.ids.get(part.cut, 0) for part in parts]

    def find_part(self, anchor: str) -> DocumentPart:
        """Find the part; an unknown id leads to the start of the file."""
        place = bisect_right(self._starts, self._ids.get(anchor, 0))
        return self.parts[max(place - 1, 0)]


def _split_file(
    own: Sequence[ContentsEntry], known: Scan, top: int
) -> Iterator[tuple[str, ContentsEntry | None]]:
    level = max(min((entry.depth for entry in own), default=0), top)
    cuts: dict[str, ContentsEntry] = {}
    for entry in own:
        if entry.depth <= level and entry.fragment in known.ids:
            cuts.setdefault(entry.fragment, entry)
    if len(cuts) > _MAX_CUTS:
        cuts = {}
    order = sorted(cuts.values(), key=lambda entry: known.ids[entry.fragment])
    whole = next((entry for entry in own if not entry.fragment), None)
    begins_with_words = known.text_start is not None and (
        not order or known.text_start < known.ids[order[0].fragment]
    )
    if whole is None and order and not begins_with_words:
        whole = order.pop(0)
    elif not order:
        whole = whole or min(own, key=lambda entry: entry.depth, default=None)
    yield "", whole
    for entry in order:
        yield entry.fragment, entry


def _make_document_id(name: str, cut: str, folder: str) -> str:
    path = posixpath.splitext(name)[0]
    path = path.removeprefix(f"{folder}/") if folder else path
    return _make_slug(f"{path}/{cut}" if cut else path) or "document"


def _make_slug(path: str) -> str:
    plain = fold_to_ascii(path).lower()
    steps = (re.sub(r"[^a-z0-9._]+", "-", step).strip("-.") for step in plain.split("/"))
    return "/".join(step for step in steps if step)


def _find_text_start(text: str) -> int | None:
    """Find where the text starts, after the head; skip tags, comments and images without text."""
    at = 0
    while at < len(text):
        if text[at] != "<":
            end = text.find("<", at)
            end = len(text) if end < 0 else end
            if _WORD_CHARACTER.search(_ENTITY.sub("", text[at:end])):
                return at
        else:
            end = _find_markup_end(text, at)
            if text.startswith("<img", at) and _ALT.search(text, at, end):
                return at
        at = end
    return None


def _find_markup_end(text: str, at: int) -> int:
    closing = next((end for start, end in _MARKUP_ENDS if text.startswith(start, at)), ">")
    name = _NAME.match(text, at)
    if name and name.group(1).lower() in {"head", "script", "style"} and text[at + 1] != "/":
        tag_end = text.find(">", at)
        closed = re.compile(f"</{name.group(1)}\\s*>", re.IGNORECASE).search(text, at)
        if closed and text[tag_end - 1] != "/":
            return closed.end()
    found = text.find(closing, at + 1)
    return len(text) if found < 0 else found + len(closing)
