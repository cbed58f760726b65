"""Real books, read whole: what no small fixture thinks of."""

from collections.abc import Sequence
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


@pytest.fixture(scope="module", params=sorted(BOOKS))
def read(request: pytest.FixtureRequest, eval_data: Path) -> tuple[str, SourceBook]:
    folder, _, _ = BOOKS[request.param]
    source = str(eval_data / "books" / folder)
    return request.param, MarkdownReader().read(source, title=None, base_url="https://book.test")


def pages(book: SourceBook) -> list[Document]:
    return [document.read() for document in book.documents]


def chunks_of(book: SourceBook) -> list[Chunk]:
    return [chunk for page in pages(book) for chunk in cut_document("b", page, count_words)]


def test_its_kind_is_told_and_its_pages_are_found(read: tuple[str, SourceBook]) -> None:
    name, book = read
    _, kind, least = BOOKS[name]
    assert book.reader == kind
    assert len(book.documents) >= least


def test_no_word_of_a_site_builder_is_left_outside_of_code(read: tuple[str, SourceBook]) -> None:
    name, book = read
    if name == "docusaurus":  # it writes about its own marks
        return
    for page in pages(book):
        for mark in ("{{<", "{{%", "{{#", "<!--", "{/*"):
            assert mark not in page.text, (page.document_id, mark)


def test_links_that_lead_nowhere_are_few_and_really_missing(
    read: tuple[str, SourceBook], eval_data: Path
) -> None:
    name, book = read
    known = {document.document_id for document in book.documents}
    links = [link for page in pages(book) for link in page.links]
    assert {link.document_id for link in links if link.document_id} <= known
    assert len(links) >= {"rust-book": 150, "docusaurus": 400, "kubernetes": 2400}[name]
    broken = {link.target.partition("#")[0].rstrip("/") for link in links if not link.document_id}
    content = eval_data / "books" / "kubernetes-docs" / "content" / "en"
    assert len(broken) == {"rust-book": 0, "docusaurus": 0, "kubernetes": 6}[name]
    assert not any((content / target.lstrip("/")).with_suffix(".md").exists() for target in broken)


def test_what_is_not_there_is_summed_up(read: tuple[str, SourceBook]) -> None:
    name, book = read
    assert len(book.warnings) == {"rust-book": 6, "docusaurus": 0, "kubernetes": 8}[name]
    assert book.skipped == ()


def test_every_page_has_an_id_and_an_address_of_its_own(read: tuple[str, SourceBook]) -> None:
    _, book = read
    for names in ([d.document_id for d in book.documents], [d.url for d in pages(book)]):
        assert all(names)
        assert len(set(names)) == len(names)


def test_every_chunk_stands_at_its_offsets_under_its_section(read: tuple[str, SourceBook]) -> None:
    _, book = read
    by_id = {page.document_id: page for page in pages(book)}
    for chunk in chunks_of(book):
        page = by_id[chunk.document_id]
        assert page.text[chunk.char_start : chunk.char_end] == chunk.text
        assert page.section_at(chunk.char_start).title == chunk.section


def test_every_block_but_headings_is_in_some_chunk(read: tuple[str, SourceBook]) -> None:
    _, book = read
    for page in pages(book):
        spans = [(c.char_start, c.char_end) for c in cut_document("b", page, count_words)]
        for block in page.blocks:
            inside = any(start <= block.start < end for start, end in spans)
            assert inside or block.kind == "heading", page.text[block.start : block.end]


def test_chunks_are_of_a_size_and_their_ids_differ(read: tuple[str, SourceBook]) -> None:
    _, book = read
    chunks = chunks_of(book)
    assert max(chunk.token_count for chunk in chunks) <= 1.5 * WHOLE_TOKENS
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
