"""Documents -> chunks: runs of blocks under one heading, cut on block and sentence ends."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bythebook.domain.books import Block, Chunk, Document, Section, Unit
from bythebook.domain.units import block_units

CountTokens = Callable[[Sequence[str]], list[int]]

TARGET_TOKENS = 200  # about what one embedding says well
WHOLE_TOKENS = 400  # code and tables up to this stay in one piece
LIMITS = {"code": WHOLE_TOKENS, "table": WHOLE_TOKENS, "formula": WHOLE_TOKENS, "list": 300}
LEAD_TOKENS = 80  # what announces a list goes with it, if it is no longer than this
SMALL_TOKENS = 40  # a piece below this joins its neighbour where it can


@dataclass(frozen=True, slots=True)
class _Piece:
    """Units that stay together, with what they cost."""

    units: tuple[Unit, ...]
    tokens: int
    leads_on: bool  # announces what follows: "... as follows:"

    @property
    def start(self) -> int:
        return self.units[0].start

    @property
    def end(self) -> int:
        return self.units[-1].end


def cut_document(book_id: str, document: Document, count_tokens: CountTokens) -> list[Chunk]:
    """Cut a document into chunks in reading order, with exact offsets into its text."""
    chunks: list[Chunk] = []
    occurrences: Counter[str] = Counter()
    for section, blocks in _by_section(document):
        pieces = list(_pieces(document.text, blocks, count_tokens))
        for group in _packed(pieces):
            chunk = _chunk(book_id, document, section, group, len(chunks))
            occurrence = occurrences[chunk.context]
            occurrences[chunk.context] += 1
            chunks.append(replace(chunk, occurrence=occurrence) if occurrence else chunk)
    return chunks


def _by_section(document: Document) -> Iterator[tuple[Section, list[Block]]]:
    for section in document.sections:
        inside = [
            block
            for block in document.blocks
            if section.start <= block.start < section.end and block.kind != "heading"
        ]
        if inside:
            yield section, inside


def _pieces(text: str, blocks: Sequence[Block], count_tokens: CountTokens) -> Iterator[_Piece]:
    """Cut blocks no further than the target demands; code and tables only past their limit."""
    units = [list(block_units(text, block)) for block in blocks]
    flat = [unit for group in units for unit in group]
    costs = dict(zip(flat, count_tokens([text[u.start : u.end] for u in flat]), strict=True))
    for block, group in zip(blocks, units, strict=True):
        limit = LIMITS.get(block.kind, TARGET_TOKENS)
        leads_on = text[block.start : block.end].rstrip().endswith(":")
        if sum(costs[unit] for unit in group) <= limit:
            yield _Piece(tuple(group), sum(costs[unit] for unit in group), leads_on)
            continue
        small = [
            part for unit in group for part in _shortened(text, unit, costs[unit], count_tokens)
        ]
        yield from _runs(small)


def _runs(parts: Sequence[tuple[Unit, int]]) -> Iterator[_Piece]:
    run: list[Unit] = []
    tokens = 0
    for unit, cost in parts:
        if run and tokens + cost > TARGET_TOKENS:
            yield _Piece(tuple(run), tokens, leads_on=False)
            run, tokens = [], 0
        run.append(unit)
        tokens += cost
    if run:
        yield _Piece(tuple(run), tokens, leads_on=False)


def _shortened(
    text: str, unit: Unit, cost: int, count_tokens: CountTokens
) -> list[tuple[Unit, int]]:
    """Cut a single unit that is too long: at line ends, else at the space nearest the middle."""
    if cost <= WHOLE_TOKENS or unit.end - unit.start < 2:
        return [(unit, cost)]
    middle = (unit.start + unit.end) // 2
    for mark in ("\n", " "):
        before, after = (
            text.rfind(mark, unit.start + 1, middle),
            text.find(mark, middle, unit.end - 1),
        )
        places = [place for place in (before, after) if place > 0]
        if places:
            at = min(places, key=lambda place: abs(place - middle)) + 1
            break
    else:
        at = middle
    halves = [Unit(unit.kind, unit.start, at), Unit(unit.kind, at, unit.end)]
    halves = [half for half in (_stripped(text, half) for half in halves) if half.start < half.end]
    costs = count_tokens([text[half.start : half.end] for half in halves])
    return [
        part
        for half, half_cost in zip(halves, costs, strict=True)
        for part in _shortened(text, half, half_cost, count_tokens)
    ]


def _stripped(text: str, unit: Unit) -> Unit:
    body = text[unit.start : unit.end]
    end = unit.start + len(body.rstrip())
    return Unit(unit.kind, unit.start + len(body) - len(body.lstrip(" \n")), end)


def _packed(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    tokens = 0
    for piece in pieces:
        fits = tokens + piece.tokens <= TARGET_TOKENS
        small = (
            tokens + piece.tokens <= TARGET_TOKENS * 1.2
            and min(tokens, piece.tokens) < SMALL_TOKENS
        )
        if group and not fits and not small:
            announces = group[-1].leads_on and group[-1].tokens <= LEAD_TOKENS
            carried = [group.pop()] if announces else []
            if group:
                yield group
            group, tokens = carried, sum(part.tokens for part in carried)
        group.append(piece)
        tokens += piece.tokens
    if group:
        yield group


def _chunk(
    book_id: str, document: Document, section: Section, group: Sequence[_Piece], index: int
) -> Chunk:
    start, end = group[0].start, group[-1].end
    url = document.url
    return Chunk(
        book_id=book_id,
        document_id=document.document_id,
        chunk_index=index,
        text=document.text[start:end],
        chapter=document.chapter,
        section=section.title,
        heading_path=section.path,
        anchor=section.anchor,
        source_url=f"{url}#{section.anchor}" if url and section.anchor else url,
        page=None,
        char_start=start,
        char_end=end,
        token_count=sum(piece.tokens for piece in group),
        units=tuple(
            Unit(unit.kind, unit.start - start, unit.end - start)
            for piece in group
            for unit in piece.units
        ),
    )
