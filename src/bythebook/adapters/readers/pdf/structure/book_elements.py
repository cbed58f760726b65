"""Turns all pages of a book into one sequence of elements in reading order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from bythebook.adapters.readers.pdf.extraction import ExtractedPage, Extraction, Run
from bythebook.adapters.readers.pdf.page.columns import ColumnBudget, Region, order_page
from bythebook.adapters.readers.pdf.page.elements import Element
from bythebook.adapters.readers.pdf.page.paragraphs import make_elements
from bythebook.adapters.readers.pdf.page.rows import Row, make_line
from bythebook.adapters.readers.pdf.page.running_headers import (
    Dropped,
    RepeatedText,
    find_repeated_text,
)
from bythebook.adapters.readers.pdf.page.words import Vocabulary
from bythebook.adapters.readers.pdf.structure.continuations import join_continuations
from bythebook.adapters.readers.pdf.structure.headings import mark_headings
from bythebook.adapters.readers.pdf.structure.outline import place_outline

_USUAL_SIZE = 10.0
_MIN_BUDGET = 200_000  # runs; books have about a tenth of a run per character


@dataclass(frozen=True, slots=True)
class BookElements:
    """A book in reading order, with the text that its pages leave out."""

    elements: list[Element]
    vocabulary: Vocabulary
    left_out: dict[int, Dropped]  # by page, counted from 0
    labels: dict[int, str]


def read_elements(extraction: Extraction) -> BookElements:
    """Read the elements of a book in reading order."""
    repeated = find_repeated_text(extraction.pages)
    vocabulary = Vocabulary()
    sizes = Counter[float]()
    flows = count(1)
    pages: dict[int, list[Element]] = {}
    budget = ColumnBudget(_MIN_BUDGET + extraction.characters)
    for page in extraction.pages:
        runs = _remove_repeated(page, repeated)
        for run in runs:
            vocabulary.learn(run.text)
            sizes[round(run.size * 2) / 2] += len(run.text)
        level = [run for run in runs if not run.turned]
        regions = order_page(level, page.rules(), budget)
        pages[page.number] = list(_make_page_elements(regions, runs, page.number, flows))
    body = sizes.most_common(1)[0][0] if sizes else _USUAL_SIZE
    pages = place_outline(pages, extraction.outline)
    elements = [element for _, group in sorted(pages.items()) for element in group]
    elements = mark_headings(elements, body)
    labels = {page.number: page.label for page in extraction.pages}
    return BookElements(join_continuations(elements, body), vocabulary, repeated.texts, labels)


def _remove_repeated(page: ExtractedPage, repeated: RepeatedText) -> list[Run]:
    dropped = repeated.runs.get(page.number, set())
    return [run for run in page.runs() if run not in dropped]


def _make_page_elements(
    regions: Iterator[Region], runs: Sequence[Run], page: int, flows: Iterator[int]
) -> Iterator[Element]:
    """Yield the elements of a page; rotated text comes last."""
    for region in regions:
        flow = next(flows)
        for element in make_elements(region, page):
            element.flow = flow
            yield element
    for run in runs:
        if run.turned:
            line = make_line(Row(run.base, run.size, [run]), page)
            yield Element("caption", [line], flow=next(flows))
