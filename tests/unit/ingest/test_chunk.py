import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.fakes import make_document, words

from bythebook.domain.books import BlockKind, Chunk, Document, PageMark
from bythebook.ingest.chunk import (
    CUTTER_REVISION,
    TARGET_TOKENS,
    WHOLE_TOKENS,
    cut_document,
    find_cuts,
)
from bythebook.ingest.duplicates import DuplicateFilter


def cut(document: Document) -> list[Chunk]:
    return cut_document("robots", document, words)


def prose(count: int, word: str = "robot") -> str:
    """Write sentences of ten words each."""
    return " ".join(f"The {word} number {n} walks on its own two feet." for n in range(count // 10))


def lines(count: int) -> str:
    """Write code of four words a line."""
    return "\n".join(f"step_{n} = walk {n}" for n in range(count // 4))


def test_every_chunk_and_unit_stands_where_it_says() -> None:
    document = make_document(
        ("heading", "Gaits"),
        ("paragraph", prose(300)),
        ("list", "first item\nsecond item"),
        ("heading", "Code"),
        ("code", lines(900)),
        ("table", "a | b\n1 | 2"),
    )
    chunks = cut(document)
    assert len(chunks) > 4
    for number, chunk in enumerate(chunks):
        assert chunk.chunk_index == number
        assert document.text[chunk.char_start : chunk.char_end] == chunk.text
        assert chunk.token_count == sum(words(list(chunk.unit_texts())))
        assert chunk.units[0].start == 0
        assert chunk.units[-1].end == len(chunk.text)
        for unit, text in zip(chunk.units, chunk.unit_texts(), strict=True):
            start = chunk.char_start + unit.start
            assert document.text[start : start + len(text)] == text == text.strip()


def test_long_prose_becomes_chunks_of_about_two_hundred_tokens_cut_at_sentence_ends() -> None:
    chunks = cut(make_document(("heading", "Gaits"), ("paragraph", prose(2000))))
    assert len(chunks) == 10
    assert all(150 <= chunk.token_count <= TARGET_TOKENS for chunk in chunks)
    assert all(chunk.text.startswith("The robot") for chunk in chunks)
    assert all(chunk.text.endswith("feet.") for chunk in chunks)


def test_short_paragraphs_share_a_chunk() -> None:
    blocks: list[tuple[BlockKind, str]] = [("paragraph", prose(50)) for _ in range(8)]
    chunks = cut(make_document(("heading", "Gaits"), *blocks))
    assert [chunk.token_count for chunk in chunks] == [200, 200]


def test_a_small_remainder_joins_its_neighbour() -> None:
    chunks = cut(
        make_document(("heading", "Gaits"), ("paragraph", prose(200)), ("paragraph", prose(20)))
    )
    assert [chunk.token_count for chunk in chunks] == [220]


def test_no_chunk_reaches_over_a_heading() -> None:
    chunks = cut(
        make_document(
            ("heading", "Gaits"),
            ("paragraph", "One."),
            ("heading", "Balance"),
            ("paragraph", "Two."),
        )
    )
    assert [(chunk.section, chunk.text) for chunk in chunks] == [
        ("Gaits", "One."),
        ("Balance", "Two."),
    ]


def test_a_heading_without_text_makes_no_chunk() -> None:
    assert cut(make_document(("heading", "Gaits"), ("heading", "Balance"))) == []


def test_code_and_tables_up_to_the_limit_stay_whole() -> None:
    code, table = lines(WHOLE_TOKENS), "\n".join(f"row {n} | x" for n in range(100))
    chunks = cut(
        make_document(
            ("heading", "Gaits"), ("paragraph", prose(100)), ("code", code), ("table", table)
        )
    )
    assert sum(code in chunk.text for chunk in chunks) == 1
    assert sum(table in chunk.text for chunk in chunks) == 1


def test_code_over_the_limit_is_cut_between_lines() -> None:
    code = lines(WHOLE_TOKENS * 3)
    chunks = cut(make_document(("heading", "Gaits"), ("code", code)))
    assert len(chunks) > 2
    assert all(chunk.token_count <= WHOLE_TOKENS for chunk in chunks)
    assert "\n".join(chunk.text for chunk in chunks) == code


def test_a_table_over_the_limit_is_cut_between_rows() -> None:
    table = "\n".join(f"row {n} | x" for n in range(300))
    chunks = cut(make_document(("heading", "Gaits"), ("table", table)))
    assert all(chunk.token_count <= TARGET_TOKENS for chunk in chunks)
    assert "\n".join(chunk.text for chunk in chunks) == table


def test_an_endless_sentence_is_cut_at_words() -> None:
    text = " ".join(f"word{n}" for n in range(1500))
    chunks = cut(make_document(("heading", "Gaits"), ("paragraph", text)))
    assert all(chunk.token_count <= WHOLE_TOKENS for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks) == text


def test_an_announcement_goes_with_the_list_that_follows() -> None:
    chunks = cut(
        make_document(
            ("heading", "Gaits"),
            ("paragraph", prose(150)),
            ("paragraph", "The steps are as follows:"),
            ("list", "\n".join(f"step {n} of the long way" for n in range(25))),
        )
    )
    assert chunks[1].text.startswith("The steps are as follows:")
    assert "step 0 of" in chunks[1].text


def test_ids_stay_when_another_section_changes() -> None:
    def ids(first: str) -> dict[str, str]:
        document = make_document(
            ("heading", "Gaits"),
            ("paragraph", first),
            ("heading", "Balance"),
            ("paragraph", "Two."),
        )
        return {chunk.section: chunk.chunk_id for chunk in cut(document)}

    before, after = ids("One."), ids("One, and a good deal more of it.")
    assert before["Balance"] == after["Balance"]
    assert before["Gaits"] != after["Gaits"]


def test_ids_tell_books_documents_and_headings_apart() -> None:
    def chunk_id(book: str, document_id: str, heading: str) -> str:
        document = make_document(
            ("heading", heading), ("paragraph", "One."), document_id=document_id
        )
        return cut_document(book, document, words)[0].chunk_id

    assert chunk_id("robots", "a", "Gaits") == chunk_id("robots", "a", "Gaits")
    assert len({chunk_id(b, d, h) for b in "xy" for d in "ab" for h in ("G", "H")}) == 8


def test_of_equal_chunks_of_a_document_one_is_indexed() -> None:
    text = prose(200)
    chunks = cut(make_document(("heading", "Gaits"), ("paragraph", text), ("paragraph", text)))
    indexed, left_out = DuplicateFilter().split(chunks)
    assert [chunk.chunk_index for chunk in indexed] == [0]
    assert [(chunk.chunk_index, reason) for chunk, reason in left_out] == [(1, "duplicate")]


def test_a_table_that_goes_on_reads_its_head_row_to_the_embedder_but_does_not_quote_it() -> None:
    table = "\n".join(["joint | torque", *(f"knee {n} | {n}" for n in range(300))])
    first, second, *others = cut(make_document(("heading", "Gaits"), ("table", table)))
    assert first.context.startswith("Walking > Gaits\njoint | torque\nknee 0 | 0")
    for chunk in (second, *others):
        assert chunk.context.startswith("Walking > Gaits\njoint | torque\nknee")
        assert "joint" not in chunk.text


def test_a_chunk_stands_on_the_page_it_begins_on() -> None:
    marks = (PageMark(0, 1, "i"), PageMark(60, 2, "ii"), PageMark(1500, 3, "1"))
    document = replace(make_document(("heading", "Gaits"), ("paragraph", prose(600))), pages=marks)
    for chunk in cut(document):
        page = [mark for mark in marks if mark.start <= chunk.char_start][-1]
        assert chunk.page == page.number
        for offset in range(0, len(chunk.text), 50):
            place = chunk.page_at(offset)
            wanted = document.page_at(chunk.char_start + offset)
            assert place is not None
            assert wanted is not None
            assert (place.number, place.label) == (wanted.number, wanted.label)
    assert {chunk.page for chunk in cut(document)} == {1, 2, 3}


def test_a_chunk_links_to_its_section_and_reads_its_headings_to_the_embedder() -> None:
    document = make_document(
        ("heading", "Gaits"), ("paragraph", "One."), url="https://robots.test/walking"
    )
    (chunk,) = cut(document)
    assert chunk.source_url == "https://robots.test/walking#gaits"
    assert chunk.context == "Walking > Gaits\nOne."


# What each revision of the cutter makes of VARIED. A document that did not change keeps its cuts as long
# as the revision stays: who cuts otherwise adds a line here, never changes one.
VARIED = make_document(
    ("heading", "Gaits"),
    ("paragraph", prose(730)),
    ("paragraph", "The joints are as follows:"),
    ("list", "\n".join(f"joint {n} of the left leg, e.g. the knee" for n in range(60))),
    ("heading", "Balance"),
    ("code", lines(1300)),
    ("table", "\n".join(["joint | torque", *(f"knee {n} | {n} Nm" for n in range(200))])),
    ("caption", "Fig. 3. Torques."),
    ("formula", "\n".join(f"x_{n} = {n} y" for n in range(200))),
)
REVISIONS = {"1": "8cc4af0738fbc15d"}


def test_another_way_of_cutting_has_another_revision() -> None:
    cuts = repr([(c.start, c.end, c.units, c.header) for c in find_cuts(VARIED, words)])
    assert hashlib.sha256(cuts.encode()).hexdigest()[:16] == REVISIONS[CUTTER_REVISION]


KINDS: tuple[BlockKind, ...] = (
    "heading", "paragraph", "list", "table", "code", "formula", "caption",
)  # fmt: skip
_text = st.text(alphabet="ab. \n:A1|\u00a0é。-", min_size=1, max_size=60).filter(str.strip)
_long = st.integers(1, 900).map(lambda n: "word " * (n - 1) + "end.")


@given(st.lists(st.tuples(st.sampled_from(KINDS), _text | _long), max_size=8))
def test_every_character_lies_in_exactly_one_chunk(blocks: list[tuple[BlockKind, str]]) -> None:
    placed = [
        (kind, body.replace("\n", " ") if kind == "heading" else body) for kind, body in blocks
    ]
    document = make_document(("heading", "Gaits"), *placed)
    chunks = cut(document)
    covered = [place for c in chunks for place in range(c.char_start, c.char_end)]
    assert len(covered) == len(set(covered))
    headings = {p for b in document.blocks if b.kind == "heading" for p in range(b.start, b.end)}
    wanted = {p for p, c in enumerate(document.text) if not c.isspace()} - headings
    assert {p for p in covered if not document.text[p].isspace()} == wanted
    quotable = {
        chunk.char_start + place
        for chunk in chunks
        for unit in chunk.units
        for place in range(unit.start, unit.end)
    }
    assert wanted <= quotable
    indexed, _ = DuplicateFilter().split(chunks)
    assert len({chunk.chunk_id for chunk in indexed}) == len(indexed)
