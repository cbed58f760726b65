"""The sample book's pages in the order of its sidebar."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2] / "examples" / "book"
TITLE = "Physical AI and Humanoid Robotics: a short course"
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_SIDEBAR = re.compile(r"label: '([^']+)'|^\s*'([\w/-]+)',|^    \},", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SamplePage:
    """A page of the sample book, as written."""

    file: str  # below docs
    slug: str  # "foundations/embodiment"; the index of a chapter is the chapter's own
    title: str
    chapter: str  # the label in the sidebar; empty for a page that stands by itself
    body: str

    @property
    def opens_chapter(self) -> bool:
        """Say whether the page is its chapter's own."""
        return Path(self.file).stem == "index"


@cache
def sample_pages() -> tuple[SamplePage, ...]:
    """Give the pages as the sidebar lists them."""
    return tuple(_pages())


def _pages() -> Iterator[SamplePage]:
    files = {_doc_id(path): path for path in (ROOT / "docs").rglob("*.md*")}
    chapter = ""
    for label, doc_id in _SIDEBAR.findall((ROOT / "sidebars.js").read_text("utf-8")):
        if not doc_id:
            chapter = label  # a closing brace has none
            continue
        path = files.pop(doc_id)
        text = path.read_text("utf-8")
        title = next(line[6:].strip().strip('"') for line in text.split("\n") if "title:" in line)
        body = _FRONT.sub("", text)
        if f"\n# {title}\n" not in body:
            body = f"# {title}\n{body}"  # a site shows the title that only the front matter gives
        file = path.relative_to(ROOT / "docs").as_posix()
        slug = "" if doc_id == "intro" else doc_id.removesuffix("/index")
        yield SamplePage(file, slug, title, chapter, body)
    assert not files, "the sidebar lists every page"


def _doc_id(path: Path) -> str:
    parts = path.relative_to(ROOT / "docs").with_suffix("").parts
    return "/".join(re.sub(r"^\d+-", "", part) for part in parts)
