"""What a PDF's pages show becomes chapters, paragraphs, lists and tables in reading order."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.unit.readers.pdf_writer import OutlineItem, Page, PdfWriter

from bythebook.adapters.readers.pdf.reader import PdfReader
from bythebook.domain.books import BlockKind, Document, SourceBook

HARBOUR = """The harbour master kept a ledger of every
vessel that came in on the evening tide, and
he wrote the names in a small careful hand
which nobody else could read. When the storm
broke the ledger was lost together with most
of the records of that year. It was an impor-
tant loss, because the well-known pilot books
were drawn from it and the later editions had
to be made from memory alone.""".split("\n")
SISTER = """Years afterwards a copy turned up in a trunk
that had belonged to his sister, who lived on
the far side of the bay and had never thought
to mention it. The copy was not complete but
it filled many of the gaps, and it showed how
carefully he had noted the weather and depth
of water at each of the moorings along the
northern quay. It is an important source for
the well-known history of the port.""".split("\n")
CREW = """Sailors came from many towns along the coast
and brought their songs and stories to the
taverns by the quay, where they were heard by
clerks who wrote some of them down in letters
to their families far inland. A few of these
letters are kept in the town hall today.""".split("\n")


def _join(lines: Sequence[str]) -> str:
    return " ".join(lines).replace("impor- tant", "important")


def _read(writer: PdfWriter, folder: Path, base_url: str | None = None) -> SourceBook:
    path = writer.save(folder / "some-book.pdf")
    return PdfReader().read(str(path), title=None, base_url=base_url)


def _documents(writer: PdfWriter, folder: Path) -> list[Document]:
    return [source.read() for source in _read(writer, folder).documents]


def _blocks(document: Document, kind: BlockKind) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind == kind]


def _one(writer: PdfWriter, folder: Path) -> Document:
    (document,) = _documents(writer, folder)
    return document


def _write_book_with_headers(pages: int, outline: list[OutlineItem] | None = None) -> PdfWriter:
    """Write a book with a running header and page numbers."""
    writer = PdfWriter(outline=outline or [])
    for number in range(pages):
        page = writer.page()
        page.text(72, 760, "The Book of Harbours").text(500, 760, str(number + 1))
        page.lines(72, 700, [f"{line} {number}" for line in HARBOUR])
    return writer


@pytest.mark.parametrize("by_rows", [True, False])
def test_columns_are_read_one_after_the_other(tmp_path: Path, by_rows: bool) -> None:
    writer = PdfWriter()
    page = writer.page().text(72, 740, "A heading over both of the columns", 18, "bold")
    if by_rows:
        for number, (left, right) in enumerate(zip(HARBOUR, SISTER, strict=True)):
            page.text(72, 700 - 12 * number, left).text(320, 700 - 12 * number, right)
    else:
        page.lines(72, 700, HARBOUR).lines(320, 697, SISTER)  # lines need not stand level
    page.text(72, 560, "A second heading over both of the columns", 14, "bold")
    page.lines(72, 530, SISTER).lines(320, 530, HARBOUR)
    document = _one(writer, tmp_path)
    first, second = _join(HARBOUR), _join(SISTER)
    assert _blocks(document, "paragraph") == [first, second, second, first]
    assert [section.title for section in document.sections] == [
        "A heading over both of the columns",
        "A second heading over both of the columns",
    ]


def test_three_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    writer = PdfWriter()
    columns = [[line[:24] for line in lines] for lines in (HARBOUR, SISTER, CREW)]
    page = writer.page()
    for number, lines in enumerate(columns):
        page.lines(50 + 180 * number, 700, lines)
    text = _one(writer, tmp_path).text
    places = [text.index(word) for word in ("harbour master", "Years after", "Sailors came")]
    assert places == sorted(places)
    assert "Years" not in text[: text.index("to be made from")]


def test_a_note_in_the_margin_does_not_cut_into_the_text(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.page().lines(72, 700, HARBOUR).lines(420, 664, ["A note about", "the storm"], 8)
    paragraphs = _blocks(_one(writer, tmp_path), "paragraph")
    assert paragraphs == [_join(HARBOUR), "A note about the storm"]


def test_a_paragraph_over_a_column_end_is_one(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.page().lines(72, 700, HARBOUR[:5]).lines(320, 700, HARBOUR[5:])
    assert _blocks(_one(writer, tmp_path), "paragraph") == [_join(HARBOUR)]


def test_a_paragraph_over_a_page_end_is_one_and_the_page_is_marked_in_it(tmp_path: Path) -> None:
    writer = PdfWriter()
    first = writer.page().lines(72, 700, [*SISTER, *HARBOUR[:6]])
    first.text(72, 60, "1 A note at the foot of the first page.", 7)
    second = writer.page().text(72, 720, "Figure 3: The storm.", 9)
    second.lines(72, 690, HARBOUR[6:])
    document = _one(writer, tmp_path)
    whole = next(text for text in _blocks(document, "paragraph") if "ledger of" in text)
    assert whole.endswith("It was an important loss, because the well-known pilot books were drawn "
                          "from it and the later editions had to be made from memory alone.")  # fmt: skip
    assert [mark.number for mark in document.pages] == [1, 2]
    at = document.pages[1].start
    assert document.text[at:].startswith("tant loss, because")
    assert _page_of(document, "foot of the first page") == 1
    assert _page_of(document, "Figure 3") == 2


def _page_of(document: Document, words: str) -> int:
    mark = document.page_at(document.text.index(words))
    assert mark is not None
    return mark.number


def test_pages_have_their_numbers_and_labels_even_if_empty(tmp_path: Path) -> None:
    writer = PdfWriter(labels="0 <</S/r>> 2 <</S/D/St 1>>")
    for _ in range(2):
        writer.page().lines(72, 700, HARBOUR)
    writer.page()
    writer.page().lines(72, 700, SISTER)
    document = _one(writer, tmp_path)
    assert [(mark.number, mark.label) for mark in document.pages] == [
        (1, "i"), (2, "ii"), (3, "1"), (4, "2"),
    ]  # fmt: skip
    assert _page_of(document, "Years afterwards") == 4


def test_running_headers_and_page_numbers_are_left_out_with_a_reason(tmp_path: Path) -> None:
    document = _one(_write_book_with_headers(6), tmp_path)
    assert "Book of Harbours" not in document.text
    reasons = [(item.reason, item.text) for item in document.left_out]
    assert reasons.count(("running header", "The Book of Harbours")) == 6
    assert [text for reason, text in reasons if reason == "page number"] == list("123456")


def test_a_heading_that_stands_once_at_the_height_of_the_headers_stays(tmp_path: Path) -> None:
    writer = _write_book_with_headers(6)
    writer.pages[3].drawing.clear()
    writer.pages[3].text(72, 760, "An Ending Found Once").lines(72, 700, SISTER)
    text = "".join(document.text for document in _documents(writer, tmp_path))
    assert "An Ending Found Once" in text


def test_body_text_that_differs_on_every_page_is_never_a_header(tmp_path: Path) -> None:
    writer = PdfWriter()
    for number in range(8):
        lines = (HARBOUR + SISTER + CREW)[number : number + 9]
        writer.page().lines(72, 760, lines)
    assert _one(writer, tmp_path).left_out == ()


def test_rows_of_cells_become_a_table(tmp_path: Path) -> None:
    writer = PdfWriter()
    page = writer.page().lines(72, 700, HARBOUR)
    rows = [("Name", "Weight", "Colour"), ("Apple", "150 g", "red"), ("Plum", "60 g", "deep blue")]
    for number, row in enumerate(rows):
        for x, cell in zip((72, 200, 300), row, strict=True):
            page.text(x, 560 - 14 * number, cell)
    page.text(72, 500, "Table 1: Fruit and what it weighs.", 9)
    page.text(72, 470, "Table 1 shows what fruit weighs when it is ripe and sold.")
    document = _one(writer, tmp_path)
    assert _blocks(document, "table") == [
        "Name | Weight | Colour\nApple | 150 g | red\nPlum | 60 g | deep blue"
    ]
    assert _blocks(document, "caption") == ["Table 1: Fruit and what it weighs."]


def test_a_cell_of_several_lines_is_one_cell(tmp_path: Path) -> None:
    writer = PdfWriter()
    page = writer.page()
    page.text(72, 700, "Option").text(160, 700, "Meaning")
    page.text(72, 684, "--fast").lines(160, 684, ["Sail faster than the wind", "allows at night"])
    page.text(72, 656, "--slow").text(160, 656, "Sail slower")
    page.text(72, 640, "--stop").lines(160, 640, ["Wait for the tide and", "the wind"])
    assert _blocks(_one(writer, tmp_path), "table") == [
        (
            "Option | Meaning\n--fast | Sail faster than the wind allows at night\n"
            "--slow | Sail slower\n--stop | Wait for the tide and the wind"
        )
    ]


def test_borders_tell_the_cells_of_a_table(tmp_path: Path) -> None:
    writer = PdfWriter()
    page = writer.page().lines(72, 700, HARBOUR)
    for y in (600, 560, 520):
        page.drawing.append(f"72 {y} m 400 {y} l S")
    for x in (72, 150, 400):
        page.drawing.append(f"{x} 600 m {x} 520 l S")
    page.text(80, 580, "Depth").lines(160, 586, ["how deep the water is at", "the lowest tide"])
    page.text(80, 540, "Width").lines(160, 546, ["how wide the gate is when", "it stands open"])
    assert _blocks(_one(writer, tmp_path), "table") == [
        (
            "Depth | how deep the water is at the lowest tide\n"
            "Width | how wide the gate is when it stands open"
        )
    ]


def test_code_keeps_its_lines_and_indentation(tmp_path: Path) -> None:
    code = [
        "def area(radius):",
        "    if radius < 0:",
        "        raise ValueError",
        "    return radius",
    ]
    writer = PdfWriter()
    page = writer.page().lines(72, 700, HARBOUR)
    for number, line in enumerate(code):
        page.text(
            72 + 5.4 * (len(line) - len(line.lstrip())),
            560 - 11 * number,
            line.lstrip(),
            9,
            "fixed",
        )
    assert _blocks(_one(writer, tmp_path), "code") == ["\n".join(code)]


def test_hyphens_in_code_are_no_bullets(tmp_path: Path) -> None:
    writer = PdfWriter()
    page = writer.page().lines(72, 700, HARBOUR)
    page.lines(72, 560, ["lights:", "- red", "- green", "depth: 12"], 9, "fixed")
    document = _one(writer, tmp_path)
    assert _blocks(document, "code") == ["lights:\n- red\n- green\ndepth: 12"]
    assert _blocks(document, "list") == []


def test_an_outdented_term_starts_a_paragraph(tmp_path: Path) -> None:
    writer = PdfWriter()
    page = writer.page().text(72, 700, "Bollard").text(100, 688, "A post on the quay.")
    page.text(72, 676, "Cleat").text(100, 664, "A fitting on deck with two horns.")
    assert "A post on the quay.\n\nCleat" in _one(writer, tmp_path).text


def test_lists_have_one_line_per_item(tmp_path: Path) -> None:
    writer = PdfWriter()
    page = writer.page()
    page.lines(
        72,
        700,
        [
            "• The first item runs on over the end of a line and",
            "  goes on in the next.",
            "• The second.",
        ],
    )
    page.lines(72, 640, ["1. Sail out.", "2. Come back."])
    document = _one(writer, tmp_path)
    assert _blocks(document, "list") == [
        "The first item runs on over the end of a line and goes on in the next.\nThe second.",
        "1. Sail out.\n2. Come back.",
    ]
    assert [block.ordered for block in document.blocks if block.kind == "list"] == [False, True]


def test_ligatures_and_stray_spaces_are_put_right(tmp_path: Path) -> None:
    page = Page()
    page.text(72, 700, "The ﬁnal oﬃce ﬂow".replace("ﬃ", "fﬁ"))
    page.drawing.append("BT /F0 10 Tf 72 680 Td [(har)-20(bour)-300(mas)10( )290(ter)] TJ ET")
    for number, letter in enumerate("LEDGER"):
        page.text(72 + 11 * number, 660, letter)
    text = _one(PdfWriter(pages=[page]), tmp_path).text
    assert "The final office flow" in text
    assert "harbour master" in text
    assert "LEDGER" in text


def test_the_outline_makes_chapters_and_sections_and_titles_stand_once(tmp_path: Path) -> None:
    writer = PdfWriter(title="The Book of Harbours")
    writer.page().text(72, 600, "Title page of the book of harbours")
    writer.page().text(72, 720, "Chapter 1", 24, "bold").text(72, 690, "Boats", 18, "bold")
    writer.pages[1].lines(72, 660, HARBOUR).text(72, 500, "1.1 Sails", 14, "bold")
    writer.pages[1].lines(72, 480, SISTER).text(72, 300, "2 Harbours", 18, "bold")
    writer.pages[1].lines(72, 270, CREW)
    writer.outline = [(0, "1 Boats", 1, 708), (1, "1.1 Sails", 1, 514), (0, "2 Harbours", 1, 318)]
    book = _read(writer, tmp_path)
    front, boats, harbours = (source.read() for source in book.documents)
    assert book.title == "The Book of Harbours"
    assert (front.title, boats.title, harbours.title) == ("Front matter", "1 Boats", "2 Harbours")
    assert (boats.document_id, harbours.document_id) == ("1-boats", "2-harbours")
    assert [section.path for section in boats.sections] == [
        ("1 Boats",), ("1 Boats", "1.1 Sails"),
    ]  # fmt: skip
    assert boats.text.count("Boats") == boats.text.count("Sails") == 1
    assert "Chapter 1" in boats.text
    assert boats.text.endswith("history of the port.")
    assert harbours.text.endswith(_join(CREW))


def test_beside_an_outline_with_sections_only_a_number_makes_a_heading(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.page().text(72, 740, "1 Boats", 18, "bold").text(72, 710, "1.1 Sails", 14, "bold")
    writer.pages[0].lines(72, 690, HARBOUR).text(72, 530, "Mind the tide", 10, "bold")
    writer.pages[0].lines(72, 510, SISTER).text(72, 350, "1.1.1 Ropes", 12, "bold")
    writer.pages[0].lines(72, 330, CREW)
    writer.outline = [(0, "1 Boats", 0, 760), (1, "1.1 Sails", 0, 725)]
    (boats,) = _documents(writer, tmp_path)
    assert [section.title for section in boats.sections] == ["1 Boats", "1.1 Sails", "1.1.1 Ropes"]
    assert "Mind the tide" in boats.text


def test_an_entry_whose_title_is_not_on_the_page_still_makes_a_heading(tmp_path: Path) -> None:
    writer = PdfWriter(
        outline=[(0, "First", 0, None), (0, "Second", 1, 700), (0, "Third", 2, None)]
    )
    for lines in (HARBOUR, SISTER, CREW):
        writer.page().lines(72, 690, lines)
    documents = _documents(writer, tmp_path)
    assert [document.title for document in documents] == ["First", "Second", "Third"]
    assert documents[1].text == f"Second\n\n{_join(SISTER)}"


def test_chapters_of_a_book_in_two_parts_are_documents_of_their_part(tmp_path: Path) -> None:
    outline: list[OutlineItem] = [(0, "Part I Sea", 0, None)]
    outline += [(1, f"Tide {number}", number, None) for number in (0, 1)]
    outline += [(0, "Part II Land", 2, None), (1, "Hill 2", 2, None), (1, "Hill 3", 3, None)]
    writer = PdfWriter(outline=outline)
    for lines in (HARBOUR, SISTER, CREW, HARBOUR):
        writer.page().lines(72, 690, lines)
    documents = _documents(writer, tmp_path)
    assert [(document.chapter, document.title) for document in documents] == [
        ("Part I Sea", "Tide 0"), ("Part I Sea", "Tide 1"),
        ("Part II Land", "Hill 2"), ("Part II Land", "Hill 3"),
    ]  # fmt: skip


def test_without_an_outline_headings_are_known_by_their_looks(tmp_path: Path) -> None:
    writer = PdfWriter()
    for number, lines in enumerate((HARBOUR, SISTER, CREW), start=1):
        page = writer.page().text(72, 720, f"Chapter {number}", 20, "bold")
        page.lines(72, 690, lines).text(72, 500, f"{number}.1 More of it", 13, "bold")
        page.lines(72, 480, CREW)
    documents = _documents(writer, tmp_path)
    assert [document.title for document in documents] == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert [section.path for section in documents[1].sections] == [
        ("Chapter 2",), ("Chapter 2", "2.1 More of it"),
    ]  # fmt: skip


def test_a_book_without_outline_and_headings_is_cut_by_pages(tmp_path: Path) -> None:
    writer = PdfWriter()
    for number in range(45):
        name = chr(97 + number // 7) * 3 + chr(97 + number % 7) * 3
        writer.page().lines(72, 690, [f"{name} {line}" for line in HARBOUR])
    titles = [document.title for document in _documents(writer, tmp_path)]
    assert titles == ["Pages 1–20", "Pages 21–40", "Pages 41–45"]


def test_with_an_address_sections_lead_to_their_pages(tmp_path: Path) -> None:
    writer = _write_book_with_headers(
        4, [(0, "One", 0, None), (1, "One more", 1, None), (0, "Two", 2, None)]
    )
    book = _read(writer, tmp_path, "https://example.org/book.pdf")
    one, two = (source.read() for source in book.documents)
    assert one.url == two.url == book.base_url == "https://example.org/book.pdf"
    assert [section.anchor for section in one.sections] == ["page=1", "page=2"]
    assert [section.anchor for section in two.sections] == ["page=3"]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("A Book of Tides", "A Book of Tides"),
        ("Microsoft Word - tides.docx", "Tides and Moons"),
        ("untitled", "Tides and Moons"),
        ("tides_final.indd", "Tides and Moons"),
        ("", "Tides and Moons"),
    ],
)
def test_the_title_is_the_files_own_only_if_it_reads_like_one(
    tmp_path: Path, written: str, title: str
) -> None:
    writer = PdfWriter(title=written)
    writer.page().text(72, 700, "Tides and Moons", 24).lines(72, 600, HARBOUR)
    assert _read(writer, tmp_path).title == title


def test_equal_books_have_equal_fingerprints_and_a_change_shows(tmp_path: Path) -> None:
    outline: list[OutlineItem] = [(0, "One", 0, None), (0, "Two", 2, None), (0, "Three", 4, None)]
    before = _read(_write_book_with_headers(6, outline), tmp_path)
    again = _read(_write_book_with_headers(6, outline), tmp_path)
    changed = _write_book_with_headers(6, outline)
    changed.pages[3].text(72, 400, "A new line.")
    after = _read(changed, tmp_path)
    marks = [[source.fingerprint for source in book.documents] for book in (before, again, after)]
    assert marks[0] == marks[1]
    assert [one == two for one, two in zip(marks[0], marks[2], strict=True)] == [True, False, True]


def test_lines_that_differ_only_in_numbers_are_text_if_they_stand_in_it(tmp_path: Path) -> None:
    writer = PdfWriter()
    for number in range(5):
        writer.page().lines(72, 760, [f"Line {line} of page {number}." for line in range(50)])
    document = _one(writer, tmp_path)
    assert document.left_out == ()
    assert "Line 0 of page 4." in document.text


def test_the_only_line_of_a_page_is_its_text(tmp_path: Path) -> None:
    writer = PdfWriter()
    for number in range(4):
        writer.page().text(72, 760, f"The harbour in the year 190{number}")
    assert "The harbour in the year 1903" in _one(writer, tmp_path).text


def test_a_page_turned_sideways_is_read_like_any_other(tmp_path: Path) -> None:
    page = Page()
    for number, line in enumerate(HARBOUR):
        page.drawing.append(f"BT /F0 10 Tf 0 1 -1 0 {100 + 12 * number} 72 Tm ({line}) Tj ET")
    page.text(500, 40, "upright note", 8)
    document = _one(PdfWriter(pages=[page]), tmp_path)
    assert _join(HARBOUR) in document.text
    assert "upright note" in document.text


def test_contents_and_index_keep_an_entry_to_a_line(tmp_path: Path) -> None:
    writer = PdfWriter()
    entries = [f"{number} Boats of the year {'. ' * 30}{number + 7}" for number in range(1, 8)]
    writer.page().text(72, 720, "Contents", 18, "bold").lines(72, 690, entries)
    document = _one(writer, tmp_path)
    (listed,) = _blocks(document, "list")
    assert listed.split("\n")[0] == "1 Boats of the year . . . 8"
    assert len(listed.split("\n")) == 7


def test_the_mark_of_a_footnote_is_set_apart_and_an_exponent_is_not(tmp_path: Path) -> None:
    writer = PdfWriter()
    parts = [
        ("It holds a tuple", 0),
        ("1", 4),
        (", of area x", 0),
        ("2", 4),
        (" or less.", 0),
        ("12", 4),
        (" Then more.", 0),
    ]
    shown = " ".join(f"{rise} Ts /F0 {6 if rise else 10} Tf ({text}) Tj" for text, rise in parts)
    writer.page().drawing.append(f"BT 72 700 Td {shown} ET")
    (document,) = (
        PdfReader().read(str(writer.save(tmp_path / "a.pdf")), title="T", base_url=None).documents
    )
    assert "It holds a tuple[1], of area x2 or less.[12] Then more." in document.read().text


def test_text_written_from_right_to_left_is_in_reading_order(tmp_path: Path) -> None:
    lines = ["שלום עולם טוב לכל קורא", "של הספר הזה על אנפה"]
    writer = PdfWriter()
    page = writer.page()
    for number, line in enumerate(lines):
        for place, letter in enumerate(line):
            if letter != " ":  # each letter is drawn at its own place
                code = chr(ord(letter) - 0x5D0 + 65)
                page.text(400 - 8 * place, 700 - 14 * number, code, 12, "hebrew")
    (document,) = (
        PdfReader().read(str(writer.save(tmp_path / "a.pdf")), title="T", base_url=None).documents
    )
    assert document.read().text == f"T\n\n{' '.join(lines)}"
