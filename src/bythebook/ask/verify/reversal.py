"""A sentence that says nearly what the book says: whether the small difference turns it."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import starmap
from typing import Literal

from bythebook.ask.verify.facts import OPENERS, names
from bythebook.ask.verify.likeness import sentences_like, words_of
from bythebook.ask.verify.numbers import counts, numbers

NEARLY = 0.8  # of the words: the rest is a change rather than other words for the same
ALL_BUT = 0.9  # of the words: so near that one which makes it stronger was put there to do so
LIKE = 0.6  # of the words: about the same thing
_SMALL = 3  # words of one change
_STEM = 4  # letters that forms of a word share
_MOST_CHARACTERS = 3000

_NEGATIONS = frozenset(
    """not no never none nothing nobody nowhere neither nor without cannot t hardly barely except
    unless fails fail failed lack lacks lacking""".split()
)
_ABSOLUTES = frozenset(
    """only always all exclusively solely entirely completely guaranteed guarantees definitely
    certainly necessarily invariably proven proves""".split()
)
_HEDGES = frozenset(
    """may might some sometimes often usually typically generally mostly partly nearly almost about
    approximately roughly probably possibly likely perhaps many most rarely seldom reportedly
    allegedly""".split()
)
_OPPOSITES: Mapping[str, frozenset[str]] = {
    word: frozenset(group.split("/")[1 - side].split())
    for group in (
        "more greater larger bigger higher/less fewer smaller lower",
        "before earlier preceding/after later following",
        "increase increases increased increasing rise rises rose/decrease decreases decreased decreasing falls fell",
        "above over exceeds exceeding/below under",
        "first/last second", "always all every each both/never none some neither",
        "high/low", "long longer longest/short shorter shortest", "fast faster fastest/slow slower slowest",
        "large largest big biggest/small smallest", "most maximum/least minimum", "best better/worst worse",
        "with/without", "possible/impossible", "true/false", "enable enables enabled/disable disables disabled",
        "allow allows allowed permits/forbid forbids prevents prohibited", "open opens opened/close closes closed",
        "start starts started begin begins began/stop stops stopped end ends ended",
        "add adds added/remove removes removed", "north northern/south southern", "east eastern/west western",
        "left/right", "inside/outside", "accept accepts accepted/reject rejects rejected refused",
        "win wins won/lose loses lost", "strong stronger/weak weaker", "old older/new newer young younger",
        "early/late", "up upper/down lower", "input/output", "import imports/export exports", "male/female",
        "hot hotter/cold colder", "easy easier/hard harder difficult", "success succeeds/failure fails",
        "positive/negative", "safe/unsafe dangerous", "legal/illegal", "cheap cheaper/expensive dearer",
    )
    for side in (0, 1)
    for word in group.split("/")[side].split()
}  # fmt: skip


def difference(
    sentence: str, cited: Sequence[str]
) -> Literal["contradicted", "unsupported"] | None:
    """Tell how a sentence turns the cited one that it nearly is; nothing where it does not."""
    said, likeness = sentences_like(sentence, iter(cited))
    if likeness < NEARLY or len(said) > _MOST_CHARACTERS:
        return None
    changes = _changes(said, sentence)
    known = frozenset(name for one in (said, *cited) for name in names(one))
    if any(_exchanges(*change, known) for change in changes) or _swaps(said, sentence):
        return "contradicted"
    old, new = words_of(said), words_of(sentence)
    negates = _negations(old) != _negations(new) and any(starmap(_negates, changes))
    if negates or any(starmap(_opposes, changes)):
        return "contradicted"
    stronger = (set(new) - set(old)) & _ABSOLUTES or any(_drops_hedge(*one, new) for one in changes)
    return "unsupported" if likeness >= ALL_BUT and stronger else None


def is_about(sentence: str, cited: Sequence[str]) -> bool:
    """Say whether a cited sentence is about the same, so that a wrong fact contradicts it."""
    return sentences_like(sentence, iter(cited))[1] >= LIKE


Change = tuple[
    list[str], list[str]
]  # the words before, the words after; a changed name keeps its case


def _changes(said: str, sentence: str) -> list[Change]:
    before, after = _split_words(said), _split_words(sentence)
    folded = SequenceMatcher(
        None, [w.casefold() for w in before], [w.casefold() for w in after], autojunk=False
    )
    return [
        (before[a:b], after[c:d]) for kind, a, b, c, d in folded.get_opcodes() if kind != "equal"
    ]


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+(?:[.,:]\d+)*", text)


def _negates(before: list[str], after: list[str]) -> bool:
    negated = _negations(_fold(after)) % 2 != _negations(_fold(before)) % 2
    return negated and len(before) <= _SMALL


def _opposes(before: list[str], after: list[str]) -> bool:
    new = set(_fold(after))
    return len(before) <= _SMALL and any(
        _OPPOSITES.get(word, frozenset()) & new for word in _fold(before)
    )


def _drops_hedge(before: list[str], after: list[str], new: list[str]) -> bool:
    """Say whether a change leaves out a "usually" that stands nowhere else."""
    dropped = (set(_fold(before)) & _HEDGES) - set(new)
    return bool(dropped) and len(before) <= _SMALL and not set(_fold(after)) & _HEDGES


def _fold(words: Sequence[str]) -> list[str]:
    return [word.casefold() for word in words]


def _negations(words: Sequence[str]) -> int:
    return sum(word in _NEGATIONS for word in words)


def _exchanges(before: list[str], after: list[str], known: frozenset[str]) -> bool:
    """Say whether a number, a unit or a name was put for another."""
    if max(len(before), len(after)) > _SMALL:
        return False
    old, new = " ".join(before), " ".join(after)
    values = [{v for n in numbers(text) for v in n.values} for text in (old, new)]
    if all(values):
        return not values[0] & values[1]
    measures = _measures(before), _measures(after)
    if all(measures):
        return not measures[0] & measures[1]
    named = [word for word in _find_names(before) if word in known or not word.istitle()]
    others = _find_names(after)
    return bool(named and others) and not any(
        one[:_STEM] == other[:_STEM] for one in named for other in others
    )


def _measures(words: Sequence[str]) -> set[str]:
    return {unit for word in words if (unit := counts(word))}


def _find_names(words: Sequence[str]) -> set[str]:
    """Give names, and identifiers as far as one word shows that it is one."""
    return {
        word
        for word in words
        if (word[0].isupper() or re.search(r"[\d_]|[a-z][A-Z]", word))
        and word.casefold() not in OPENERS
    }


def _swaps(said: str, sentence: str) -> bool:
    """Say whether the words are the same but two of them changed places, as in "A before B"."""
    before, after = (
        [word for word in words_of(text) if word not in {"and", "or"}] for text in (said, sentence)
    )
    if before == after or Counter(before) != Counter(after):
        return False
    moved = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    taken = [before[a:b] for kind, a, b, _, _ in moved if kind in {"delete", "replace"}]
    put = [after[c:d] for kind, _, _, c, d in moved if kind in {"insert", "replace"}]
    return not (len(taken) == len(put) == 1 and taken == put)
