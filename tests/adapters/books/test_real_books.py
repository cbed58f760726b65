"""Real books, read whole: what no small fixture thinks of."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

import pytest

from bythebook.adapters.readers.markdown.reader import MarkdownReader
from bythebook.domain.books import Chunk, Document, SourceBook
from bythebook.ingest.chunk import WHOLE_TOKENS, cut_document

BOOKS = {
    "rust-book": ("rust-book", "mdBook", 100),
    "docusaurus": ("docusaurus-docs/website", "Docusaurus", 80),
    "kubernetes": ("kubernetes-docs", "Hugo", 420),
}


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text) // 4 + 1 for text in texts]


@dataclass
class Read:
    """A book, its pages, and the chunks of each, all made once."""

    name: str
    book: SourceBook

    @cached_property
    def pages(self) -> list[Document]:
        return [document.read() for document in self.book.documents]

    @cached_property
    def chunks(self) -> list[list[Chunk]]:
        return [cut_document("b", page, count_words) for page in self.pages]


@pytest.fixture(scope="module", params=sorted(BOOKS))
def read(request: pytest.FixtureRequest, eval_data: Path) -> Read:
    folder, _, _ = BOOKS[request.param]
    source = str(eval_data / "books" / folder)
    book = MarkdownReader().read(source, title=None, base_url="https://book.test")
    return Read(request.param, book)


def test_its_kind_is_told_and_its_pages_are_found(read: Read) -> None:
    _, kind, least = BOOKS[read.name]
    assert read.book.reader == kind
    assert len(read.book.documents) >= least


def test_no_word_of_a_site_builder_is_left_outside_of_code(read: Read) -> None:
    if read.name == "docusaurus":  # it writes about its own marks
        return
    for page in read.pages:
        for mark in ("{{<", "{{%", "{{#", "<!--", "{/*"):
            assert mark not in page.text, (page.document_id, mark)


def test_links_that_lead_nowhere_are_few_and_really_missing(read: Read, eval_data: Path) -> None:
    known = {document.document_id for document in read.book.documents}
    links = [link for page in read.pages for link in page.links]
    assert {link.document_id for link in links if link.document_id} <= known
    assert len(links) >= {"rust-book": 150, "docusaurus": 400, "kubernetes": 2400}[read.name]
    broken = {link.target.partition("#")[0].rstrip("/") for link in links if not link.document_id}
    content = eval_data / "books" / "kubernetes-docs" / "content" / "en"
    assert len(broken) == {"rust-book": 0, "docusaurus": 0, "kubernetes": 6}[read.name]
    assert not any((content / target.lstrip("/")).with_suffix(".md").exists() for target in broken)


def test_what_is_not_there_is_summed_up(read: Read) -> None:
    assert len(read.book.warnings) == {"rust-book": 6, "docusaurus": 0, "kubernetes": 8}[read.name]
    assert read.book.skipped == ()


def test_every_page_has_an_id_and_an_address_of_its_own(read: Read) -> None:
    for names in ([d.document_id for d in read.book.documents], [d.url for d in read.pages]):
        assert all(names)
        assert len(set(names)) == len(names)


def test_every_chunk_stands_at_its_offsets_under_its_section(read: Read) -> None:
    for page, chunks in zip(read.pages, read.chunks, strict=True):
        for chunk in chunks:
            assert chunk.document_id == page.document_id
            assert page.text[chunk.char_start : chunk.char_end] == chunk.text
            assert page.section_at(chunk.char_start).title == chunk.section


def test_every_block_but_headings_is_in_some_chunk(read: Read) -> None:
    for page, chunks in zip(read.pages, read.chunks, strict=True):
        spans = [(chunk.char_start, chunk.char_end) for chunk in chunks]
        for block in page.blocks:
            inside = any(start <= block.start < end for start, end in spans)
            assert inside or block.kind == "heading", page.text[block.start : block.end]


def test_chunks_are_of_a_size_and_their_ids_differ(read: Read) -> None:
    chunks = list(chain.from_iterable(read.chunks))
    assert max(chunk.token_count for chunk in chunks) <= 1.5 * WHOLE_TOKENS
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
