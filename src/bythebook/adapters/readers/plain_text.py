"""The plain text of a document, which every reader builds block by block."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from bythebook.adapters.readers.rich_text import RichText
from bythebook.adapters.readers.source_file import replace_surrogates
from bythebook.domain.books import (
    Block,
    BlockKind,
    Document,
    LeftOut,
    LeftOutReason,
    Link,
    MissingPicture,
    PageMark,
    Section,
    SourceDocument,
)
from bythebook.domain.marks import Anchor, Mark, Picture

MakeAnchor = Callable[[str], str]
_PARSERS = ("docutils", "lxml", "markdown-it-py", "math-core", "mdit-py-plugins", "pypdfium2")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading found in a text."""

    title: str
    level: int
    anchor: str | None  # set by the source; None otherwise
    start: int


@dataclass(slots=True)
class PlainText:
    """Plain text that grows, with its blocks, headings, pages and links."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    pages: list[PageMark] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    missing_pictures: list[MissingPicture] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.parts)

    @property
    def opens_with_heading(self) -> bool:
        """Whether a heading comes before any other text."""
        return bool(self.headings) and self.headings[0].start == 0

    @property
    def next_start(self) -> int:
        """Where the next block starts."""
        return self.length + 2 if self.parts else 0

    def add(
        self,
        kind: BlockKind,
        text: str | RichText,
        *,
        level: int = 0,
        ordered: bool = False,
        language: str = "",
    ) -> None:
        """Append a block after a blank line; marks of an empty text that are pictures are kept."""
        rich = RichText(text) if isinstance(text, str) else text
        rich = rich.strip("\n" if kind == "code" else None)
        start = self.next_start
        self.marks += (mark.move(mark.start + start, mark.end + start) for mark in rich.marks)
        text = rich.text
        if not text.strip():
            return
        self.parts.append(text if start == 0 else f"\n\n{text}")
        self.length = start + len(text)
        self.blocks.append(Block(kind, start, self.length, level, ordered, language))

    def add_heading(self, title: str | RichText, level: int, anchor: str | None = None) -> None:
        """Append a heading; what follows belongs to its section."""
        rich = (RichText(title) if isinstance(title, str) else title).collapse()
        if rich.text:
            self.headings.append(Heading(rich.text, level, anchor, self.next_start))
        self.add("heading", rich, level=level)

    def add_anchor(self, *names: str) -> None:
        """Record names that links lead to; their place is the next block."""
        self.anchors.extend(names)
        self.marks += (Anchor(self.next_start, self.next_start, name) for name in names)

    def mark_blocks(self, mark: Mark) -> None:
        """Mark all blocks from the start of a mark on, if there are any."""
        if mark.start < self.length:
            self.marks.append(mark.move(mark.start, self.length))

    def leave_out(self, reason: LeftOutReason, text: str) -> None:
        """Record visible text that is not part of the document, and why."""
        if text.strip():
            self.left_out.append(LeftOut(reason, text.strip()))


@dataclass(frozen=True, slots=True)
class Place:
    """Identifies a document and its place in the book."""

    document_id: str
    title: str
    chapter: str
    url: str = ""


def make_document(
    plain: PlainText, place: Place, make_anchor: MakeAnchor, *, headless: bool = False
) -> Document:
    """Make a document; `headless` says that its first heading was added and is not in the source."""
    place = Place(
        *map(replace_surrogates, (place.document_id, place.title, place.chapter, place.url))
    )
    own, *others = _make_anchors(plain.headings, make_anchor, headless=headless)
    return Document(
        place.document_id,
        place.title,
        place.chapter,
        replace_surrogates(plain.text),
        tuple(plain.blocks),
        # The first heading starts the page: a link to it is a link to the page.
        tuple(_make_sections(plain, place, ("", *others))),
        place.url,
        pages=tuple(plain.pages),
        links=tuple(dict.fromkeys(plain.links)),
        anchors=tuple(dict.fromkeys((*plain.anchors, *([own] if own else [])))),
        left_out=tuple(plain.left_out),
        marks=tuple(sorted(_list_marks(plain, own), key=lambda mark: (mark.start, -mark.end))),
        missing_pictures=tuple(dict.fromkeys(plain.missing_pictures)),
    )


def _list_marks(plain: PlainText, own_anchor: str) -> Iterator[Mark]:
    """List the marks of a text; a picture in an empty block stands by itself."""
    edges = {block.start for block in plain.blocks} | {plain.next_start}
    for mark in plain.marks:
        if isinstance(mark, Picture) and mark.start == mark.end and mark.start in edges:
            yield replace(mark, display=True)
        else:
            yield mark
    if own_anchor:
        yield Anchor(0, 0, own_anchor)


def compute_fingerprint(*parts: object) -> str:
    """Return a hash that only equal parts read by the same readers have."""
    digest = hashlib.sha256(_hash_readers())
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(f"\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def _hash_readers() -> bytes:
    """Hash this code and its parser versions: a change may read the same source differently."""
    digest = hashlib.sha256(" ".join(version(name) for name in _PARSERS).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def make_ids_unique(documents: Iterable[SourceDocument]) -> tuple[SourceDocument, ...]:
    """Number ids that several documents share."""
    seen: dict[str, int] = {}
    return tuple(
        _rename(document, make_unique(document.document_id, seen)) for document in documents
    )


def make_unique(name: str, seen: dict[str, int]) -> str:
    """Number a name that is already used, skipping numbers that are taken."""
    free = name
    while free in seen:
        seen[name] += 1
        free = f"{name}-{seen[name]}"
    seen[free] = 0
    return free


def fold_to_ascii(text: str) -> str:
    """Remove accents and every other character that is not ASCII."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def make_github_anchor(title: str) -> str:
    """Make a heading's anchor as Docusaurus and GitHub do."""
    kept = re.sub(r"[^\w\- ]", "", title.lower(), flags=re.UNICODE)
    return kept.replace(" ", "-")


def _rename(document: SourceDocument, document_id: str) -> SourceDocument:
    if document_id == document.document_id:
        return document
    read = document.read
    return SourceDocument(
        document_id,
        compute_fingerprint(document.fingerprint, document_id),
        lambda: replace(read(), document_id=document_id),
    )


def _make_sections(plain: PlainText, place: Place, anchors: Sequence[str]) -> Iterator[Section]:
    trail: list[Heading] = []
    ends = [heading.start for heading in plain.headings[1:]] + [plain.length]
    for heading, anchor, end in zip(plain.headings, anchors, ends, strict=True):
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        trail.append(heading)
        path = dict.fromkeys((place.chapter, place.title, *(step.title for step in trail)))
        yield Section(heading.title, anchor, tuple(path), heading.start, end)


def _make_anchors(
    headings: Sequence[Heading], make_anchor: MakeAnchor, *, headless: bool
) -> Iterator[str]:
    """Yield each heading's anchor; an added first heading uses up no name."""
    seen: dict[str, int] = {}
    for number, heading in enumerate(headings):
        if number == 0 and headless:
            yield ""
        else:
            yield heading.anchor or make_unique(make_anchor(heading.title), seen)
