"""Finds what cross references of AsciiDoc lead to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bythebook.adapters.readers.asciidoc.attributes import BlockAttributes
from bythebook.adapters.readers.asciidoc.blocks import DELIMITER, HEADING
from bythebook.adapters.readers.markdown.pages import SourceFile

_ATTRIBUTES = re.compile(r"^\[(.+)\]$")
_INLINE = re.compile(r"\[\[([\w:.-]+)(?:,\s*([^\]]+))?\]\]|(?<![\w:])anchor:([\w:.-]+)\[([^\]]*)\]")
_MARKUP = re.compile(r"\(\(\(.*?\)\)\)|[`*_#]|\[\[.*?\]\]")
_SUFFIX = re.compile(r"\.(?:adoc|asciidoc|asc)$")


@dataclass(frozen=True, slots=True)
class LabelTarget:
    """Where an id is, and what is shown for it."""

    path: str
    anchor: str
    words: str


@dataclass(slots=True)
class AsciiDocLabels:
    """Every id and title of a book."""

    places: dict[str, LabelTarget] = field(default_factory=dict)
    pages: dict[str, LabelTarget] = field(default_factory=dict)  # by file name without suffix

    def collect(self, files: Sequence[SourceFile]) -> None:
        """Add the ids of each page: those that are written, then those made of titles."""
        made: dict[str, LabelTarget] = {}
        for file in files:
            path = file.relative.as_posix()
            for name, words, is_made in _list_ids(file):
                (made if is_made else self.places).setdefault(name, LabelTarget(path, name, words))
                made.setdefault(words, LabelTarget(path, name, words))
            bare = _SUFFIX.sub("", file.relative.name)
            self.pages[bare] = LabelTarget(path, "", find_title(file.body) or bare)
        for name, place in made.items():
            self.places.setdefault(name, place)

    def find_target(self, target: str) -> tuple[str, str]:
        """Return the address and the words of a target."""
        page, has_anchor, anchor = target.partition("#")
        place = self.places.get(anchor if has_anchor else target)
        if place is None and page:
            bare = _SUFFIX.sub("", page.rpartition("/")[2].rpartition(":")[2])
            place = self.pages.get(bare)
        if place is None:
            words = (anchor or target).rpartition("/")[2].lstrip("_")
            return "", _SUFFIX.sub("", words).replace("_", " ").replace("-", " ")
        return (f"/{place.path}#{place.anchor}" if place.anchor else f"/{place.path}"), place.words

    def list_used(self, file: SourceFile) -> Iterator[str]:
        """List the targets that a page refers to, with what they show."""
        for target in sorted(set(re.findall(r"<<([^<>,\n]+)|xref:([^\s\[\]]+)\[", file.body))):
            name = target[0] or target[1]
            yield f"{name} {' '.join(self.find_target(name))}"


def make_asciidoc_anchor(title: str) -> str:
    """Make a heading's anchor as Asciidoctor does."""
    kept = re.sub(r"[^\w\s.-]", "", title.lower())
    return "_" + re.sub(r"[\s._-]+", "_", kept).strip("_")


def find_title(body: str) -> str | None:
    """Return the first heading of a page."""
    for line, _above in iterate_headings(body):
        if found := HEADING.match(line):
            return clean_title(found.group(2))
    return None


def clean_title(text: str) -> str:
    """Return the words of a title."""
    return " ".join(_MARKUP.sub("", text).split())


def iterate_headings(body: str) -> Iterator[tuple[str, BlockAttributes]]:
    """Yield the lines outside delimited blocks, each with the attributes above it."""
    above = BlockAttributes()
    closing = ""
    for raw in body.split("\n"):
        line = raw.rstrip()
        if closing:
            closing = "" if line == closing else closing
        elif found := DELIMITER.match(line):
            closing = found.group(3) or line
            yield line, above
            above = BlockAttributes()
        elif found := _ATTRIBUTES.match(line):
            above.add_line(found.group(1))
        elif line.startswith(".") and re.match(r"^\.[^\s.]", line):
            above.title = line[1:]
        elif line and not line.startswith("//"):
            yield line, above
            above = BlockAttributes()


def _list_ids(file: SourceFile) -> Iterator[tuple[str, str, bool]]:
    for line, above in iterate_headings(file.body):
        heading = HEADING.match(line)
        words = clean_title(heading.group(2)) if heading else clean_title(above.title)
        for name in above.anchors:
            yield name, words or name, False
        if heading and words:
            yield make_asciidoc_anchor(words), words, True
        for own, given, other, shown in _INLINE.findall(line) if "[" in line else ():
            yield own or other, given or shown or words or own or other, False
