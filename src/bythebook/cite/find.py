"""The id of a citation -> where its words stand now, or what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

from bythebook.cite.citation_id import CitationId, hash_document
from bythebook.cite.follow import Followed, follow
from bythebook.cite.word_row import Place, WordRow
from bythebook.cite.words import hash_run
from bythebook.domain.books import OlderGeneration

Status = Literal["standing", "moved", "edited", "gone"]
_CLOSE = 0.5  # that the surroundings must be, of 1.5
_CLEAR = 0.3  # by which surroundings must be closer than those of an equal passage
_TELLING = 5  # words that seldom come together twice
_FAR = 60  # words on each side that tell equal passages apart


@dataclass(frozen=True, slots=True)
class FoundCitation:
    """What became of a citation."""

    status: Status
    place: Place | None = None  # where its words, or the edited ones, stand now; None: gone
    words_then: str | None = None  # None if no kept text has them
    stood_in: str | None = None  # title of the page that it was cited from, if known
    published_then: str | None = None


class OlderWords:
    """A generation that was replaced, as words."""

    def __init__(self, generation: OlderGeneration) -> None:
        self.generation = generation

    @cached_property
    def words(self) -> WordRow:
        """The words of the documents that changed after it."""
        return WordRow(self.generation.changed)


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where the words stood in an older generation."""

    older: OlderWords
    at: int


def find_in_place(cited: CitationId, now: WordRow) -> FoundCitation | None:
    """Find words that stand just where they were cited; older text is not needed for them."""
    for one in _candidates(cited, now):
        if one.is_in_place:
            return FoundCitation("standing", now.place_of(one.at, cited.words))
    return None


def find_citation(cited: CitationId, now: WordRow, older: Sequence[OlderWords]) -> FoundCitation:
    """Find the words of a citation in a book; older generations, newest first, tell more."""
    origin = _find_origin(cited, older)
    chosen, is_certain = _choose(cited, now, origin) or (None, False)
    standing = chosen and FoundCitation(
        "standing" if is_certain else "moved", now.place_of(chosen.at, cited.words)
    )
    if origin is None:
        return standing or FoundCitation("gone")
    if standing and (is_certain or (chosen and chosen.sides)):
        return standing
    edited = _follow(cited, now, older, origin, in_place=bool(standing))
    is_new = edited.place and not (standing and _overlap(edited.place, standing.place))
    return edited if is_new or not standing else standing


def _overlap(one: Place, other: Place | None) -> bool:
    return (
        other is not None
        and one.document_id == other.document_id
        and one.start < other.end
        and other.start < one.end
    )


def _follow(
    cited: CitationId,
    now: WordRow,
    older: Sequence[OlderWords],
    origin: _Origin,
    *,
    in_place: bool,
) -> FoundCitation:
    """Find the edited form of a passage; only between its old neighbours, where its words stand elsewhere."""
    then = origin.older.words
    gone = FoundCitation(
        "gone",
        words_then=then.text_of(origin.at, cited.words),
        stood_in=then.document_of(origin.at).title,
        published_then=origin.older.generation.published_at,
    )
    for followed in follow(then, origin.at, cited.words, now):
        if in_place and not followed.in_place:
            continue
        if _comes_from(followed, now, origin, cited.words) and not _stood_then(
            followed, now, origin, cited.words, older
        ):
            return replace(gone, status="edited", place=now.place_of(followed.at, followed.count))
    return gone


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A place where the words stand, and how well it fits what is known of their surroundings."""

    at: int
    sides: int  # on which the words next to it are the same
    is_same_document: bool
    distance: int  # from the offset that they had
    closeness: float = 0.0  # of the wider surroundings, where an older text has them

    @property
    def is_in_place(self) -> bool:
        """True if nothing has changed."""
        return self.is_same_document and not self.distance and self.sides > 0

    @property
    def rank(self) -> tuple[bool, float, bool, int]:
        """The best is greatest."""
        return (
            self.is_in_place,
            self.sides + 2 * self.closeness,
            self.is_same_document,
            -self.distance,
        )


def _choose(
    cited: CitationId, now: WordRow, origin: _Origin | None
) -> tuple[_Candidate, bool] | None:
    """Choose among the places where the words stand; also return whether it is surely the one that was cited."""
    candidates = [
        replace(one, closeness=_closeness(cited, now, one.at, origin) if origin else 0.0)
        for one in _candidates(cited, now)
    ]
    if not candidates:
        return None
    best = max(candidates, key=lambda one: one.rank)
    rivals = [one for one in candidates if one is not best]
    return best, best.is_same_document and (
        best.is_in_place or _is_clear(best, rivals, cited, origin)
    )


def _is_clear(
    best: _Candidate, rivals: Sequence[_Candidate], cited: CitationId, origin: _Origin | None
) -> bool:
    """Return True if a passage that is not at its old offset can be no other than the cited one."""
    if origin is None:
        if rivals:
            return best.sides == 2 and not any(one.sides for one in rivals)
        return best.sides > 0 and cited.words >= _TELLING
    was_repeated = len(origin.older.words.find(cited.run, cited.words)) > 1
    if not rivals and not was_repeated:
        return best.sides > 0 or best.closeness >= _CLOSE
    clear = all(one.closeness <= best.closeness - _CLEAR for one in rivals)
    return clear and best.sides == 2 and best.closeness >= _CLOSE


def _candidates(cited: CitationId, words: WordRow) -> list[_Candidate]:
    return [_candidate(cited, words, at) for at in words.find(cited.run, cited.words)]


def _candidate(cited: CitationId, words: WordRow, at: int) -> _Candidate:
    end = at + cited.words
    before = words.hashes[max(at - cited.before.count, 0) : at]
    after = words.hashes[end : end + cited.after.count]
    sides = sum(
        0 < len(beside) == wanted.count and wanted.fits(hash_run(map(int, beside)))
        for beside, wanted in ((before, cited.before), (after, cited.after))
    )
    same = hash_document(words.document_of(at).document_id) == cited.document
    return _Candidate(at, sides, same, abs(words.start_of(at) - cited.start))


def _closeness(cited: CitationId, now: WordRow, at: int, origin: _Origin) -> float:
    """Return how much of the wider surroundings of a passage is the same as then."""
    then = origin.older.words
    sides = []
    for step in (-_FAR, _FAR):
        old, new = _side(then, origin.at, cited.words, step), _side(now, at, cited.words, step)
        sides.append(SequenceMatcher(None, old, new, autojunk=False).ratio())
    return max(sides) + min(sides) / 2


def _side(words: WordRow, at: int, count: int, step: int) -> list[int]:
    low, high = (at + step, at) if step < 0 else (at + count, at + count + step)
    first, last = words.around(at, at + count)
    first, last = words.around(min(low, first), max(high, last))
    side: list[int] = words.hashes[max(low, first) : min(high, last)].tolist()
    return side


def _find_origin(cited: CitationId, older: Sequence[OlderWords]) -> _Origin | None:
    """Find the words in older generations: at their very place, else where the neighbours fit best."""
    places = [(one, candidate) for one in older for candidate in _candidates(cited, one.words)]
    if not places:
        return None
    where, best = max(places, key=lambda place: place[1].rank)
    return _Origin(where, best.at)


def _comes_from(followed: Followed, now: WordRow, origin: _Origin, count: int) -> bool:
    """Return True if nothing in the older text is more like a passage than the cited words are."""
    back = next(follow(now, followed.at, followed.count, origin.older.words), None)
    return back is None or (back.at < origin.at + count and origin.at < back.at + back.count)


def _stood_then(
    followed: Followed,
    now: WordRow,
    origin: _Origin,
    count: int,
    older: Sequence[OlderWords],
) -> bool:
    """Return True if a passage stood next to the cited one already, so that it cannot be its edited form."""
    document_id = now.document_of(followed.at).document_id
    since = older[: older.index(origin.older) + 1]  # newest first
    if document_id in origin.older.generation.document_ids and not any(
        document_id in one.words.numbers for one in since
    ):
        return True  # the document has not changed since
    run = hash_run(map(int, now.hashes[followed.at : followed.at + followed.count]))
    return any(
        at + followed.count <= origin.at or at >= origin.at + count
        for at in origin.older.words.find(run, followed.count)
    )
