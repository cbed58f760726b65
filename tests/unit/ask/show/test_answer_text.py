from dataclasses import replace

import pytest
from tests.unit.fakes import FakeLibrary, make_document

from bythebook.ask.retrieve.passages import selection_passage
from bythebook.ask.show.answer_text import answer_text
from bythebook.ask.show.formatting import needs_mark, with_mark
from bythebook.ask.verify.sentences import locate
from bythebook.domain.answers import HEAD_ROW, Passage, Sentence
from bythebook.domain.books import Document, UnitKind
from bythebook.ingest.chunk import cut_document

LIST, TABLE, CODE = "Rise.\nWalk.", "Body | Mass\nDog | 30 kg", "walk()"
PAGE = make_document(
    ("heading", "Gaits"),
    ("list", LIST),
    ("table", TABLE),
    ("code", CODE),
    ("paragraph", "So be it."),
)


def settle_page(document: Document) -> Document:
    """Give the page with what make_document does not: an ordered list, and a language."""
    blocks = [
        replace(block, ordered=block.kind == "list", language="python" * (block.kind == "code"))
        for block in document.blocks
    ]
    return replace(document, blocks=tuple(blocks))


ORDERED = settle_page(PAGE)


def sentence(text: str, kind: UnitKind, document: Document = PAGE) -> Sentence:
    (chunk,) = cut_document("robots", document, lambda texts: [len(t.split()) for t in texts])
    citation = locate(Passage(chunk, 0.9), text)
    assert citation is not None
    return Sentence(text, (citation,), kind)


def mark(text: str, kind: UnitKind, document: Document) -> str:
    library = FakeLibrary(texts={"walking": document})
    return with_mark(sentence(text, kind), library).mark


@pytest.mark.parametrize(
    ("text", "kind", "document", "expected"),
    [
        ("Rise.", "item", ORDERED, "1)"),
        ("Walk.", "item", ORDERED, "2)"),
        ("Walk.", "item", PAGE, ""),
        ("Body | Mass", "row", PAGE, HEAD_ROW),
        ("Dog | 30 kg", "row", PAGE, ""),
        ("walk()", "code", ORDERED, "python"),
        ("walk()", "code", PAGE, ""),
    ],
)
def test_marks_are_read_off_the_page(
    text: str, kind: UnitKind, document: Document, expected: str
) -> None:
    assert mark(text, kind, document) == expected


def test_a_page_that_has_changed_or_gone_gives_no_mark() -> None:
    moved = replace(ORDERED, text=ORDERED.text.replace("Walk.", "Stop."))
    assert mark("Walk.", "item", moved) == ""
    assert with_mark(sentence("Walk.", "item"), FakeLibrary()).mark == ""


def test_prose_and_selections_are_not_looked_up() -> None:
    assert not needs_mark(sentence("So be it.", "sentence"))
    assert needs_mark(sentence("Walk.", "item"))
    citation = locate(selection_passage("Walk. Run."), "Walk.")
    assert citation is not None
    assert not needs_mark(Sentence("Walk.", (citation,), "item"))


def parts(*texts: tuple[str, UnitKind, str]) -> list[Sentence]:
    return [Sentence(text, (), kind, given) for text, kind, given in texts]


def test_steps_are_a_numbered_list_and_what_follows_is_no_part_of_it() -> None:
    told = parts(
        ("Do this:", "sentence", ""),
        ("Rise.", "item", "1)"),
        ("Walk.", "item", "2)"),
        ("So be it.", "sentence", ""),
    )
    assert answer_text(told) == "Do this:\n\n1) Rise.\n2) Walk.\n\nSo be it."


def test_rows_stand_below_the_names_of_their_columns() -> None:
    told = parts(("Body | Mass", "row", HEAD_ROW), ("Dog | 30 kg", "row", ""))
    assert answer_text(told) == "Body | Mass\n--- | ---\nDog | 30 kg"


def test_code_stands_in_a_fence_that_it_cannot_leave() -> None:
    assert answer_text(parts(("walk()", "code", "python"))) == "```python\nwalk()\n```"
    assert answer_text(parts(("```\nx\n```", "code", ""))) == "````\n```\nx\n```\n````"


def test_what_does_not_end_like_a_sentence_is_a_paragraph_of_its_own() -> None:
    told = parts(("Figure of a heron", "sentence", ""), ("It eats.", "sentence", ""))
    assert answer_text(told) == "Figure of a heron\n\nIt eats."


def test_the_text_of_the_first_sentences_begins_the_whole_text() -> None:
    told = parts(
        ("Figure of a heron", "sentence", ""),
        ("Do this:", "sentence", ""),
        ("Rise.", "item", "1)"),
        ("Body | Mass", "row", HEAD_ROW),
        ("Dog | 30 kg", "row", ""),
        ("walk()", "code", ""),
        ("F = m a", "formula", ""),
        ("So be it.", "sentence", ""),
        ("Amen.", "sentence", ""),
    )
    for count in range(len(told)):
        assert answer_text(told).startswith(answer_text(told[:count]))
