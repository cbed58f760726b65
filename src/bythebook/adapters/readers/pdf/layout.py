"""Lays a whole book out: pages become one sequence of elements in reading order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from bythebook.adapters.readers.pdf.columns import Patience, Region, order_page
from bythebook.adapters.readers.pdf.elements import Element
from bythebook.adapters.readers.pdf.extraction import ExtractedPage, Extraction, Run
from bythebook.adapters.readers.pdf.flow import join_flows
from bythebook.adapters.readers.pdf.furniture import Dropped, Furniture, find_furniture
from bythebook.adapters.readers.pdf.headings import mark_headings
from bythebook.adapters.readers.pdf.outline import place_outline
from bythebook.adapters.readers.pdf.paragraphs import make_elements
from bythebook.adapters.readers.pdf.rows import Row, make_line
from bythebook.adapters.readers.pdf.words import Vocabulary

_USUAL_SIZE = 10.0
_LEAST_PATIENCE = 200_000  # runs; books take a tenth of a run for each character


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A book in reading order, with what its pages leave out."""

    elements: list[Element]
    vocabulary: Vocabulary
    left_out: dict[int, Dropped]  # by page, counted from 0
    labels: dict[int, str]


def lay_out(extraction: Extraction) -> LaidOut:
    """Put a book's pages into reading order."""
    furniture = find_furniture(extraction.pages)
    vocabulary = Vocabulary()
    sizes = Counter[float]()
    flows = count(1)
    pages: dict[int, list[Element]] = {}
    patience = Patience(_LEAST_PATIENCE + extraction.characters)
    for page in extraction.pages:
        runs = _body(page, furniture)
        for run in runs:
            vocabulary.learn(run.text)
            sizes[round(run.size * 2) / 2] += len(run.text)
        level = [run for run in runs if not run.turned]
        regions = order_page(level, page.rules(), patience)
        pages[page.number] = list(_elements(regions, runs, page.number, flows))
    body = sizes.most_common(1)[0][0] if sizes else _USUAL_SIZE
    pages = place_outline(pages, extraction.outline)
    elements = [element for _, group in sorted(pages.items()) for element in group]
    elements = mark_headings(elements, body)
    labels = {page.number: page.label for page in extraction.pages}
    return LaidOut(join_flows(elements, body), vocabulary, furniture.texts, labels)


def _body(page: ExtractedPage, furniture: Furniture) -> list[Run]:
    dropped = furniture.runs.get(page.number, set())
    return [run for run in page.runs() if run not in dropped]


def _elements(
    regions: Iterator[Region], runs: Sequence[Run], page: int, flows: Iterator[int]
) -> Iterator[Element]:
    """Give what stands on a page; text turned against the rest comes last."""
    for region in regions:
        flow = next(flows)
        for element in make_elements(region, page):
            element.flow = flow
            yield element
    for run in runs:
        if run.turned:
            line = make_line(Row(run.base, run.size, [run]), page)
            yield Element("caption", [line], flow=next(flows))
