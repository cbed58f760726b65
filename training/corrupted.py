"""Claims that are nearly right: made by rule from supported claims and from sentences of the training books.

A model that only sees changed claims called wrong learns that an edit means "no". So the passage is changed as well:
a changed claim is right over a passage that says the same, and the unchanged claim is wrong there. Every changed
sentence stands on both sides, and only reading tells which.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from training.corrupt import NEW_WORDS, Edit, corrupt, rephrase
from training.examples import Example

MOST_USES = 40  # of one exchange of words, in one book: "with" and "more" stand everywhere
CHANGED_PASSAGE = 0.5  # share of changes that are made in the passage too
TURNED_AROUND = 0.4  # share of those that leave the claim as it was
REPHRASED = 0.6
NEARBY = 3  # units around the evidence that are kept, at most
_PROSE = re.compile(r"[A-Z][^\n|{}<>=]{30,260}[.]")


class Corrupter:
    """Makes corrupted claims by chance, and counts which words it has exchanged how often."""

    def __init__(self, seed: int) -> None:
        self._chooser = random.Random(seed)
        self._uses: Counter[tuple[str, str]] = Counter()

    def make(self, examples: Iterable[Example]) -> Iterator[Example]:
        """Give nearly right claims and right ones in other words, over shortened passages."""
        seen: set[str] = set()
        for example in examples:
            if example.task == "claim" and example.holds and example.evidence:
                yield from self.from_claim(example)
            if example.passage not in seen:
                seen.add(example.passage)
                yield from self.from_passage(example)

    def from_claim(self, whole: Example) -> Iterator[Example]:
        """Corrupt a claim that was written in other words than the passage's."""
        chance = self._chooser.random
        example = self._shorten(whole)
        edit = self._corrupt(example)
        if edit is None:
            return
        yield replace(example, text=edit.text, holds=False, kind=edit.kind)
        if chance() < REPHRASED:
            yield replace(example, text=rephrase(example.text, self._chooser))
        if edit.words and edit.two_way and chance() < CHANGED_PASSAGE:
            changed = _with_words(example, *edit.words)
            if changed is not None:
                yield replace(changed, text=edit.text)
                yield replace(changed, holds=False, kind=edit.kind)

    def from_passage(self, example: Example) -> Iterator[Example]:
        """Claim a sentence of a passage: changed, in other words, and over a passage that is changed itself."""
        chance = self._chooser.random
        spans = enumerate(example.units)
        prose = [n for n, (s, e) in spans if _PROSE.fullmatch(example.passage[s:e])]
        if not prose:
            return
        place = self._chooser.choice(prose)
        said = example.passage[slice(*example.units[place])]
        claim = replace(example, task="claim", text=said, span=None, holds=True, kind="")
        base = self._shorten(replace(claim, evidence=(place,)))
        edit = self._corrupt(base)
        if edit is None:
            return
        yield replace(base, text=edit.text, holds=False, kind=edit.kind)
        yield replace(base, text=rephrase(said, self._chooser) if chance() < REPHRASED else said)
        if chance() < CHANGED_PASSAGE:
            changed = _with_unit(base, base.evidence[0], edit.text)
            yield replace(changed, text=edit.text)
            if edit.two_way and chance() < TURNED_AROUND:
                yield replace(changed, text=said, holds=False, kind=edit.kind)

    def _corrupt(self, example: Example) -> Edit | None:
        edit = corrupt(example.text, _sentences(example), self._chooser)
        if edit is None or (example.split == "train" and edit.kind.endswith(NEW_WORDS)):
            return None  # words that are measured as new are not learnt
        if edit.words:
            self._uses[edit.words] += 1
            if self._uses[edit.words] > MOST_USES:
                return None
        return edit

    def _shorten(self, example: Example) -> Example:
        """Keep the evidence and a few units around it: what is far away teaches little and costs much."""
        low = max(0, example.evidence[0] - self._chooser.randint(0, NEARBY))
        high = min(len(example.units) - 1, example.evidence[-1] + self._chooser.randint(0, NEARBY))
        first, last = example.units[low][0], example.units[high][1]
        return replace(
            example,
            source=f"corrupted {example.source.removeprefix('written ')}",
            passage=example.passage[first:last],
            units=tuple((s - first, e - first) for s, e in example.units[low : high + 1]),
            evidence=tuple(number - low for number in example.evidence),
        )


def _sentences(example: Example) -> list[str]:
    return [example.passage[start:end] for start, end in example.units]


def _with_words(example: Example, old: str, new: str) -> Example | None:
    """Exchange a word in the evidence, where it stands there and nowhere else."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
    holding = [n for n, text in enumerate(_sentences(example)) if pattern.search(text)]
    if len(holding) != 1 or holding[0] not in example.evidence:
        return None
    text = example.passage[slice(*example.units[holding[0]])]
    return _with_unit(example, holding[0], pattern.sub(new, text))


def _with_unit(example: Example, place: int, text: str) -> Example:
    """Replace one unit of a passage."""
    start, end = example.units[place]
    shift = len(text) - (end - start)
    units = [(s + shift * (s > start), e + shift * (e >= end)) for s, e in example.units]
    return replace(
        example,
        passage=example.passage[:start] + text + example.passage[end:],
        units=tuple(units),
    )
