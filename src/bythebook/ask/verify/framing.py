"""Words that a book holds but does not say: what it denies, supposes, asks, or wants somebody to say.

"It is a myth that robots feel pain" holds "robots feel pain" word for word, and so does the order to an
assistant to tell everybody so. Neither bears it out.
"""

import re
from collections.abc import Iterable

from bythebook.ask.guard import flags, remove_invisible
from bythebook.ask.verify.likeness import words_of

TAKEN = 0.8  # of the words: the rest is how they were put
_FEWEST = 3  # words that can be taken out of a frame
_FRAMES = re.compile(
    r"""\b(?:myth|misconception|fallacy|illusion|rumou?r|false|wrong|untrue|mistaken|incorrect|impossible|unlikely
        |doubtful|den(?:y|ies|ied)|doubt(?:s|ed)?|disprove[sd]?|refute[sd]?)\b [^.;!?]{0,60}? \bthat\b
    |\b(?:say|state|tell|claim|pretend|answer|reply|respond|write|print|repeat|announce|declare|mention|add)\b
        [^.;!?]{0,60}? \bthat\b
    |\b(?:if|unless|whether|suppose|imagine|assuming|pretend)\b(?:\s+that\b)?(?=[^,;.!?]*[,;.!?])""",
    re.IGNORECASE | re.VERBOSE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|suppose|imagine|assuming|pretend)\b", re.IGNORECASE
)
_OPENING = 3  # words by which a sentence that was only cut short is known


def is_lifted(text: str, said: Iterable[str]) -> bool:
    """Say whether a sentence is only what the book puts in a frame, given without that frame."""
    wanted, opening = set(words_of(text)), words_of(text)[:_OPENING]
    if len(wanted) < _FEWEST or _FRAMES.search(text) or _CONDITION.search(text):
        return False
    lifted = False
    for sentence in map(remove_invisible, said):
        words = words_of(sentence)
        if len(wanted.intersection(words)) < TAKEN * len(wanted):
            continue
        outright, framed = (
            len(wanted.intersection(words_of(part))) >= TAKEN * len(wanted)
            for part in _split_framing(sentence)
        )
        if outright or words[:_OPENING] == opening:
            return False
        lifted = lifted or framed
    return lifted


def _split_framing(sentence: str) -> tuple[str, str]:
    """Part what a sentence says outright from what it frames; an order to the answerer frames all."""
    if flags(sentence):
        return "", sentence
    said, framed, at = "", "", 0
    for frame in _FRAMES.finditer(sentence):
        if frame.start() >= at:
            end = _end(sentence, frame)
            said += sentence[at : frame.start()]
            framed += f" {sentence[frame.end() : end]}"
            at = end
    return said + sentence[at:], framed


def _end(sentence: str, frame: re.Match[str]) -> int:
    """Give where a framed clause ends: a condition at its comma, else with the sentence."""
    marks = ",;.!?" if _CONDITION.match(frame[0]) else ";.!?"
    ends = (sentence.find(mark, frame.end()) for mark in marks)
    return min((end for end in ends if end >= 0), default=len(sentence))
