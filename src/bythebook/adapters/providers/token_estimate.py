"""Estimates tokens well enough to cut books and to predict costs.

The vocabularies of providers are on the network, and nothing is loaded from there. So this follows
how vocabularies are built: a short word is one token, a longer one has one per four letters, digits
and punctuation have few characters per token, scripts with more bytes have more tokens. It slightly
overestimates English prose, and slightly underestimates code and rare scripts.
"""

import re
from collections.abc import Sequence

# Words of ASCII letters, numbers, letters of two bytes, letters of three, all else but spaces.
_PARTS = re.compile(
    r"(?P<ascii>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<two>[\u0080-\u07ff]+)"
    r"|(?P<three>[\u0800-\uffff]+)|(?P<four>[\U00010000-\U0010ffff]+)|(?P<signs>[^\sA-Za-z0-9])"
)
# Characters per token: the smallest common value.
_CHARACTERS = {"ascii": 4.5, "digits": 2.0, "two": 2.0, "three": 0.7, "four": 0.33, "signs": 1.0}
_FRAME = 2  # tokens that models add around a text


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate the tokens of each text."""
    return [_FRAME + sum(map(_count_tokens, _PARTS.finditer(text))) for text in texts]


def _count_tokens(part: re.Match[str]) -> int:
    kind = part.lastgroup or "signs"
    return -int(-len(part.group()) // _CHARACTERS[kind])
