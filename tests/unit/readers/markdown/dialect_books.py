"""Small books written to a folder, and read whole."""

from collections.abc import Mapping
from pathlib import Path

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.domain.books import Document, SourceBook


def make(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def read(folder: Path) -> SourceBook:
    return MarkdownReader().read(str(folder), title=None, base_url="https://book.test")


def read_pages(folder: Path) -> dict[str, Document]:
    return {page.document_id: page.read() for page in read(folder).documents}


def list_kinds(page: Document) -> list[tuple[str, str]]:
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]
