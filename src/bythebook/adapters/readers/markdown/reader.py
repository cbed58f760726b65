"""Markdown folders: Docusaurus, mdBook and plain ones."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

import yaml

from bythebook.adapters.readers.layouts import detect_layout, github_anchor
from bythebook.adapters.readers.markdown_blocks import Heading, PlainText, parse_markdown
from bythebook.adapters.readers.pages import MARKDOWN, Page, SourceFile, first_title
from bythebook.domain.books import Document, Section, SourceBook
from bythebook.errors import UnreadableBook

_FRONT = re.compile(r"\A---[ \t]*\n(.*?\n)??---[ \t]*(?:\n|\Z)", re.DOTALL)


class MarkdownReader:
    """Reads a folder of Markdown, or a single file, as one book."""

    def read(self, source: Path, *, title: str | None, base_url: str | None) -> SourceBook:
        """Read a whole book, or raise UnreadableBook with what to do."""
        if not source.exists():
            raise UnreadableBook(
                f"There is nothing at {source}.", "Check the path, then run ingest again."
            )
        base = f"{base_url.rstrip('/')}/" if base_url else ""
        if source.is_file():
            return self._single(source, title, base_url or "")
        layout = detect_layout(source)
        paths = layout.files(layout.root)
        if not paths:
            raise UnreadableBook(
                f"{source} holds no Markdown file.", "Give a folder with .md or .mdx files in it."
            )
        files = {path: load_file(path, layout.root) for path in paths}
        pages = layout.pages(layout.root, list(files.values()), base)
        documents = tuple(
            _unique(_document(page, files[page.path], layout.anchor) for page in pages)
        )
        _require_text(documents, source)
        warnings = tuple(f"{name} is listed but not there." for name in layout.missing(layout.root))
        name = title or _book_title(source, documents)
        return SourceBook(name, layout.name, base, documents, warnings)

    def _single(self, source: Path, title: str | None, url: str) -> SourceBook:
        if source.suffix.lower() not in MARKDOWN:
            raise UnreadableBook(
                f"{source} is not a Markdown file.", "Give a .md file or a folder of them."
            )
        file = load_file(source, source.parent)
        page = Page(source, source.stem, url, None)
        documents = (_document(page, file, github_anchor),)
        _require_text(documents, source)
        return SourceBook(title or documents[0].title, "Markdown file", url, documents)


def load_file(path: Path, root: Path) -> SourceFile:
    """Read a file as text, or say which file is not text and what to do."""
    if not _is_text(str(path)):
        raise UnreadableBook(
            f"The file name {str(path)!r} is not UTF-8.", "Rename the file, then run ingest again."
        )
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UnreadableBook(
            f"{path} cannot be opened ({error.strerror}).", "Check its permissions."
        ) from error
    if b"\0" in raw:
        raise UnreadableBook(
            f"{path} is not text: it holds binary bytes.",
            "Remove it from the folder, or save it as UTF-8 text.",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableBook(
            f"{path} is not UTF-8 text (byte {error.start}).", "Save the file as UTF-8."
        ) from error
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    front, body = _front_matter(text, path)
    return SourceFile(path, PurePosixPath(path.relative_to(root).as_posix()), front, body)


def _is_text(text: str) -> bool:
    """Say whether a text can be stored: names and YAML may hold halves of characters."""
    return text.isprintable() or text.encode("utf-8", "replace").decode() == text


def _front_matter(text: str, path: Path) -> tuple[dict[str, object], str]:
    match = _FRONT.match(text)
    if match is None:
        return {}, text
    try:
        front = yaml.safe_load(match.group(1) or "{}")
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableBook(
            f"The front matter of {path} is not YAML.",
            "Put right what stands between the --- lines.",
        ) from error
    if front is None:  # comments only
        return {}, text[match.end() :]
    # A thematic break may open a page too: then what follows it is the page's own text.
    return (front, text[match.end() :]) if isinstance(front, dict) else ({}, text)


def _document(page: Page, file: SourceFile, anchor_of: Callable[[str], str]) -> Document:
    plain = parse_markdown(file.body)
    opening = plain.headings[0].title if plain.headings else None
    title = file.word("title") or first_title(file.body) or page.title or opening or file.path.stem
    untitled = "title" in file.front and first_title(file.body) is None
    headless = untitled or opening is None or plain.headings[0].start > 0
    if headless:
        # A site shows the front matter's title as the first heading; text needs one to stand under.
        plain = parse_markdown(f"# {_escaped(title)}\n\n{file.body}")
    if not _is_text(title):
        raise UnreadableBook(
            f"The title of {file.path} is not text.", "Put its front matter right."
        )
    chapter = page.chapter or title
    anchors = tuple(_anchors(plain.headings, anchor_of, headless=headless))
    sections = tuple(_sections(plain, chapter, title, anchors))
    return Document(
        page.document_id, title, chapter, plain.text, tuple(plain.blocks), sections, page.url
    )


def _sections(
    plain: PlainText, chapter: str, title: str, anchors: Sequence[str]
) -> Iterator[Section]:
    trail: list[Heading] = []
    ends = [heading.start for heading in plain.headings[1:]] + [plain.length]
    for heading, anchor, end in zip(plain.headings, anchors, ends, strict=True):
        while trail and trail[-1].level >= heading.level:
            trail.pop()
        trail.append(heading)
        path = tuple(dict.fromkeys((chapter, title, *(step.title for step in trail))))
        yield Section(heading.title, anchor, path, heading.start, end)


def _anchors(
    headings: Sequence[Heading], anchor_of: Callable[[str], str], *, headless: bool
) -> Iterator[str]:
    """Give each heading's anchor; the page's own is the page, and uses up no name if it is ours."""
    seen: dict[str, int] = {}
    for number, heading in enumerate(headings):
        if number == 0 and headless:
            yield ""
            continue
        anchor = heading.anchor or _numbered(anchor_of(heading.title), seen)
        yield anchor if number else ""


def _escaped(title: str) -> str:
    """Write a title so that Markdown reads back just its characters."""
    return re.sub(r"([\\`*_{}\[\]<>#$~&!|])", r"\\\1", " ".join(title.split()))


def _numbered(name: str, seen: dict[str, int]) -> str:
    """Number a name that was used before, past the numbers that others have taken."""
    free = name
    while free in seen:
        seen[name] += 1
        free = f"{name}-{seen[name]}"
    seen[free] = 0
    return free


def _unique(documents: Iterator[Document]) -> Iterator[Document]:
    seen: dict[str, int] = {}
    for document in documents:
        document_id = _numbered(document.document_id, seen)
        yield (
            document
            if document_id == document.document_id
            else replace(document, document_id=document_id)
        )


def _require_text(documents: tuple[Document, ...], source: Path) -> None:
    if not any(block.kind != "heading" for document in documents for block in document.blocks):
        raise UnreadableBook(f"{source} has no text to read.", "Give a book with some words in it.")


def _book_title(source: Path, documents: tuple[Document, ...]) -> str:
    for config in sorted(source.glob("docusaurus.config.*")) + sorted(source.glob("book.toml")):
        found = re.search(
            r"""\btitle\s*[:=]\s*(['"])(.+?)\1""", config.read_text("utf-8", "replace")
        )
        if found:
            return found.group(2)
    return documents[0].title if len(documents) == 1 else source.resolve().name
