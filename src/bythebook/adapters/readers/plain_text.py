"""What every reader makes a document of: plain text that grows block by block."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from bythebook.domain.books import (
    Block,
    BlockKind,
    Document,
    LeftOut,
    LeftOutReason,
    Link,
    PageMark,
    Section,
    SourceDocument,
)

AnchorOf = Callable[[str], str]
_PARSERS = ("docutils", "lxml", "markdown-it-py", "mdit-py-plugins", "pypdfium2")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading found in a text."""

    title: str
    level: int
    anchor: str | None  # as the source sets it, or none
    start: int


@dataclass(slots=True)
class PlainText:
    """Plain text as it grows, with what stands where in it."""

    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    pages: list[PageMark] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    anchors: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """All of it so far."""
        return "".join(self.parts)

    @property
    def next_start(self) -> int:
        """Where the next block will begin."""
        return self.length + 2 if self.parts else 0

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        level: int = 0,
        ordered: bool = False,
        language: str = "",
    ) -> None:
        """Append a block, parted from the one before by a blank line."""
        if not text.strip():
            return
        text = text.strip("\n") if kind == "code" else text.strip()
        start = self.next_start
        self.parts.append(text if start == 0 else f"\n\n{text}")
        self.length = start + len(text)
        self.blocks.append(Block(kind, start, self.length, level, ordered, language))

    def add_heading(self, title: str, level: int, anchor: str | None = None) -> None:
        """Append a heading; what follows stands under it."""
        title = " ".join(title.split())
        if title:
            self.headings.append(Heading(title, level, anchor, self.next_start))
            self.add("heading", title, level=level)

    def leave_out(self, reason: LeftOutReason, text: str) -> None:
        """Remember visible text that does not belong to the book's words."""
        if text.strip():
            self.left_out.append(LeftOut(reason, text.strip()))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document stands in its book."""

    document_id: str
    title: str
    chapter: str
    url: str = ""


def make_document(
    plain: PlainText, place: Place, anchor_of: AnchorOf, *, headless: bool = False
) -> Document:
    """Make a document of a text; it begins with a heading, which `headless` says is not its own."""
    place = Place(*map(_whole, (place.document_id, place.title, place.chapter, place.url)))
    own, *others = _anchors(plain.headings, anchor_of, headless=headless)
    return Document(
        place.document_id,
        place.title,
        place.chapter,
        _whole(plain.text),
        tuple(plain.blocks),
        # The first heading opens the page: a link to it is a link to the page.
        tuple(_sections(plain, place, ("", *others))),
        place.url,
        pages=tuple(plain.pages),
        links=tuple(dict.fromkeys(plain.links)),
        anchors=tuple(dict.fromkeys((*plain.anchors, *([own] if own else [])))),
        left_out=tuple(plain.left_out),
    )


def _whole(text: str) -> str:
    """Put a question mark for each half of a character, which no file can hold."""
    return text.encode("utf-8", "replace").decode()


def fingerprint(*parts: object) -> str:
    """Give what is the same only for the same parts read by the same readers."""
    digest = hashlib.sha256(_readers_revision())
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(f"\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def _readers_revision() -> bytes:
    """Tell this code and its parsers from others: they may read the same source otherwise."""
    digest = hashlib.sha256(" ".join(version(name) for name in _PARSERS).encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def with_own_ids(documents: Iterable[SourceDocument]) -> tuple[SourceDocument, ...]:
    """Number ids that several documents share, so that each has its own."""
    seen: dict[str, int] = {}
    return tuple(_renamed(document, numbered(document.document_id, seen)) for document in documents)


def numbered(name: str, seen: dict[str, int]) -> str:
    """Number a name that was used before, past the numbers that others have taken."""
    free = name
    while free in seen:
        seen[name] += 1
        free = f"{name}-{seen[name]}"
    seen[free] = 0
    return free


def github_anchor(title: str) -> str:
    """Make a heading's anchor as Docusaurus and GitHub do."""
    kept = re.sub(r"[^\w\- ]", "", title.lower(), flags=re.UNICODE)
    return kept.replace(" ", "-")


def _renamed(document: SourceDocument, document_id: str) -> SourceDocument:
    if document_id == document.document_id:
        return document
    read = document.read
    return SourceDocument(
        document_id,
        fingerprint(document.fingerprint, document_id),
        lambda: replace(read(), document_id=document_id),
    )


def _sections(plain: PlainText, place: Place, anchors: Sequence[str]) -> Iterator[Section]:
    trail: list[Heading] = []
    ends = [heading.start for heading in plain.headings[1:]] + [plain.length]
    for heading, anchor, end in zip(plain.headings, anchors, ends, strict=True):
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        trail.append(heading)
        path = dict.fromkeys((place.chapter, place.title, *(step.title for step in trail)))
        yield Section(heading.title, anchor, tuple(path), heading.start, end)


def _anchors(headings: Sequence[Heading], anchor_of: AnchorOf, *, headless: bool) -> Iterator[str]:
    """Give each heading's anchor; a first one that is not the page's own uses up no name."""
    seen: dict[str, int] = {}
    for number, heading in enumerate(headings):
        if number == 0 and headless:
            yield ""
        else:
            yield heading.anchor or numbered(anchor_of(heading.title), seen)
