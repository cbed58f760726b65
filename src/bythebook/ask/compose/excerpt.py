"""Key units of a passage -> an excerpt: the units around them, as the author wrote them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bythebook.ask.compose.context import add_context
from bythebook.ask.compose.paragraphs import (
    belongs_with_next,
    length_of,
    paragraph_of,
    split_paragraphs,
)
from bythebook.domain.answers import Passage
from bythebook.domain.books import Chunk, Unit


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Units of a passage by number, in reading order, and which of them are key, best first."""

    passage: Passage
    units: tuple[int, ...]
    keys: tuple[int, ...]

    @property
    def length(self) -> float:
        """The room that it takes, in words."""
        return sum(length_of(self.passage.chunk, unit) for unit in self.units)

    def text_of(self, unit: int) -> str:
        """Return the words of a unit."""
        place = self.passage.chunk.units[unit]
        return self.passage.chunk.text[place.start : place.end]

    def join(self, other: "Excerpt") -> "Excerpt":
        """Return one excerpt of what two of the same passage show."""
        units = sorted({*self.units, *other.units})
        return Excerpt(self.passage, tuple(units), tuple(dict.fromkeys(self.keys + other.keys)))


def cut_excerpt(
    passage: Passage, units: Sequence[Unit], room: float, *, whole_list: bool
) -> Excerpt:
    """Cut an excerpt around key units, which are given best first.

    The best key is always shown, with what it needs to be understood. Then come the other keys, the rest
    of their paragraphs, what belongs to these, and the paragraphs around, as long as there is room.
    What a key announces is key too, and with `whole_list` all items of a list that answers.
    """
    chunk = passage.chunk
    keys = [chunk.units.index(unit) for unit in units]
    growing = _Growing(chunk, room)
    if not growing.offer(_find_context(chunk, keys[0], whole_list=whole_list)):
        growing.take(_find_context(chunk, keys[0], whole_list=False))
    for key in keys[1:]:
        growing.offer(_find_context(chunk, key, whole_list=whole_list))
    for key in keys:
        if key in growing.shown:
            growing.complete_paragraph(key)
    growing.widen(keys[0])
    also = _find_list(chunk, keys[0]) if whole_list else _find_announced(chunk, keys[0])
    shown = [at for at in dict.fromkeys((*keys, *also)) if at in growing.shown]
    return Excerpt(passage, tuple(sorted(growing.shown)), tuple(shown))


def _find_context(chunk: Chunk, key: int, *, whole_list: bool) -> list[int]:
    needed = add_context(chunk, key, steps=whole_list)
    return [chunk.units.index(unit) for unit in needed]


def _find_list(chunk: Chunk, key: int) -> list[int]:
    """Return the items of the list that a key is in, or that it announces."""
    needed = _find_context(chunk, key, whole_list=True)
    return [at for at in needed if chunk.units[at].kind == "item"]


def _find_announced(chunk: Chunk, key: int) -> list[int]:
    """Return what a key announces, and without which it says nothing."""
    return [at for at in _find_context(chunk, key, whole_list=False) if at > key]


class _Growing:
    """An excerpt while units are added to it."""

    def __init__(self, chunk: Chunk, room: float) -> None:
        self._chunk = chunk
        self._room = room
        self._paragraphs = split_paragraphs(chunk)
        self.shown: set[int] = set()

    def take(self, units: Sequence[int]) -> None:
        """Show units, whether they fit or not."""
        fresh = set(units) - self.shown
        self._room -= sum(length_of(self._chunk, unit) for unit in fresh)
        self.shown |= fresh

    def offer(self, units: Sequence[int]) -> bool:
        """Show units if they all fit."""
        fits = sum(length_of(self._chunk, unit) for unit in set(units) - self.shown) <= self._room
        if fits:
            self.take(units)
        return fits

    def complete_paragraph(self, key: int) -> None:
        """Show the paragraph or list of a key, with what belongs to it; if it is too long, the nearest of it."""
        at = paragraph_of(self._paragraphs, key)
        for other in self._find_attached(at):
            self.offer(self._units(other)[-1:] if other < at else self._units(other))
        if not self.offer(self._units(at)):
            self._grow_within(at, key)

    def _find_attached(self, at: int) -> Iterator[int]:
        if belongs_with_next(self._chunk, self._paragraphs, at):
            yield at + 1
        if at and belongs_with_next(self._chunk, self._paragraphs, at - 1):
            yield at - 1

    def _grow_within(self, at: int, key: int) -> None:
        """Add units of a paragraph in both directions, until the next one does not fit."""
        if self._paragraphs[at].kind == "row":
            return  # a row is understood by its header, not by its neighbours
        first, stop = self._paragraphs[at].first, self._paragraphs[at].stop
        after = ([unit] for unit in range(key + 1, stop))
        before = ([unit] for unit in range(key - 1, first - 1, -1))
        self._alternate(after, before)

    def widen(self, key: int) -> None:
        """Add the paragraphs around the key's, in both directions, until the next one does not fit."""
        at = paragraph_of(self._paragraphs, key)
        if not set(self._units(at)) <= self.shown:
            return  # what stands beyond a paragraph that was cut is not next to what is shown
        following = (self._units(other) for other in range(at + 1, len(self._paragraphs)))
        before = (self._units(other) for other in range(at - 1, -1, -1))
        self._alternate(following, before)

    def _alternate(self, after: Iterator[list[int]], before: Iterator[list[int]]) -> None:
        directions = [after, before]
        while directions:
            for direction in list(directions):
                group = next(direction, None)
                if group is None or not self.offer(group):
                    directions.remove(direction)

    def _units(self, at: int) -> list[int]:
        return list(range(self._paragraphs[at].first, self._paragraphs[at].stop))
