"""Cuts documents into chunks: groups of blocks under one heading, cut at block and sentence ends."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bythebook.domain.books import Block, Chunk, Cut, Document, Unit
from bythebook.domain.text.units import block_units

CountTokens = Callable[[Sequence[str]], list[int]]

TARGET_TOKENS = 200  # about what one embedding represents well
WHOLE_TOKENS = 400  # code and tables up to this size are not cut
LIMITS = {"code": WHOLE_TOKENS, "table": WHOLE_TOKENS, "formula": WHOLE_TOKENS, "list": 300}
LEAD_TOKENS = 80  # a lead-in up to this size stays with its list
SMALL_TOKENS = 40  # a smaller piece joins its neighbour if possible
# Part of what identifies unchanged documents: raise it when the same text is cut differently.
CUTTER_REVISION = "1"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Units that stay together, and their token count."""

    units: tuple[Unit, ...]
    tokens: int
    leads_on: bool  # introduces what follows: "... as follows:"
    header: str = ""  # the header row of a table that it continues

    @property
    def start(self) -> int:
        return self.units[0].start

    @property
    def end(self) -> int:
        return self.units[-1].end


def cut_document(book_id: str, document: Document, count_tokens: CountTokens) -> list[Chunk]:
    """Cut a document into chunks in reading order."""
    cuts = find_cuts(document, count_tokens)
    return [cut.chunk(book_id, document, number) for number, cut in enumerate(cuts)]


def find_cuts(document: Document, count_tokens: CountTokens) -> tuple[Cut, ...]:
    """Find where to cut a document, with exact offsets into its text."""
    return tuple(
        _make_cut(group)
        for blocks in _group_by_section(document)
        for group in _group_pieces(list(_split_blocks(document.text, blocks, count_tokens)))
    )


def _group_by_section(document: Document) -> Iterator[list[Block]]:
    inside: list[Block] = []
    for block in document.blocks:
        if block.kind != "heading":
            inside.append(block)
        elif inside:
            yield inside
            inside = []
    if inside:
        yield inside


def _split_blocks(
    text: str, blocks: Sequence[Block], count_tokens: CountTokens
) -> Iterator[_Piece]:
    """Split blocks only as far as the target size requires; code and tables only above their limit."""
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
            part for unit in group for part in _split_unit(text, unit, costs[unit], count_tokens)
        ]
        head = text[group[0].start : group[0].end]
        repeated = block.kind == "table" and costs[group[0]] <= LEAD_TOKENS
        yield from _pack_units(small, head if repeated else "")


def _pack_units(parts: Sequence[tuple[Unit, int]], head: str) -> Iterator[_Piece]:
    run: list[Unit] = []
    tokens = 0
    header = ""
    for unit, cost in parts:
        if run and tokens + cost > TARGET_TOKENS:
            yield _Piece(tuple(run), tokens, leads_on=False, header=header)
            run, tokens, header = [], 0, head
        run.append(unit)
        tokens += cost
    if run:
        yield _Piece(tuple(run), tokens, leads_on=False, header=header)


def _split_unit(
    text: str, unit: Unit, cost: int, count_tokens: CountTokens
) -> list[tuple[Unit, int]]:
    """Split a single unit that is too long at a line end, or at the space nearest to the middle."""
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
    halves = [
        half for half in (_strip_unit(text, half) for half in halves) if half.start < half.end
    ]
    costs = count_tokens([text[half.start : half.end] for half in halves])
    return [
        part
        for half, half_cost in zip(halves, costs, strict=True)
        for part in _split_unit(text, half, half_cost, count_tokens)
    ]


def _strip_unit(text: str, unit: Unit) -> Unit:
    body = text[unit.start : unit.end]
    end = unit.start + len(body.rstrip())
    return Unit(unit.kind, unit.start + len(body) - len(body.lstrip(" \n")), end)


def _group_pieces(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
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


def _make_cut(group: Sequence[_Piece]) -> Cut:
    start = group[0].start
    return Cut(
        start=start,
        end=group[-1].end,
        token_count=sum(piece.tokens for piece in group),
        units=tuple(
            Unit(unit.kind, unit.start - start, unit.end - start)
            for piece in group
            for unit in piece.units
        ),
        header=group[0].header,
    )
